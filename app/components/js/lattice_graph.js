// The graph of a lattice: which rows a row reads, which rows read it, and everything it reaches either way.

class LatticeGraph {
  constructor(layers, counts) {
    this.layers = layers;
    this.counts = counts;
    // where row i of a layer stands on the input's axis
    this.scale = layers.reduce((all, { stride }) => [...all, all.at(-1) * stride], [1]);
  }

  get depth() {
    return this.layers.length;
  }

  place(level, row) {
    return row * this.scale[level];
  }

  // The row of a lower level that stands under a row of the last one.
  under(row, level) {
    return Math.min(this.counts[level] - 1, Math.floor((row * this.scale[this.depth]) / this.scale[level]));
  }

  // fn(row below) for each row that `row` of `level` reads, once.
  below(level, row, fn) {
    const { offsets, stride, whole } = this.layers[level - 1];
    const count = this.counts[level - 1];
    if (whole.includes(row)) {
      for (let j = 0; j < count; j++) fn(j);
      return;
    }
    for (const offset of offsets) {
      const j = row * stride + offset;
      if (j >= 0 && j < count) fn(j);
    }
    for (const j of whole) if (j < count && !offsets.includes(j - row * stride)) fn(j);
  }

  // Reached rows of each level, from a set of rows (indices) of one: [Uint8Array or null] by level.
  down(level, rows) {
    const sets = new Array(this.depth + 1).fill(null);
    sets[level] = this.mark(level, rows);
    for (let l = level; l > 0; l--) {
      sets[l - 1] = new Uint8Array(this.counts[l - 1]);
      sets[l].forEach((on, row) => on && this.below(l, row, (j) => (sets[l - 1][j] = 1)));
    }
    return sets;
  }

  up(level, rows) {
    const sets = new Array(this.depth + 1).fill(null);
    sets[level] = this.mark(level, rows);
    for (let l = level + 1; l <= this.depth; l++) {
      sets[l] = new Uint8Array(this.counts[l]);
      for (let row = 0; row < this.counts[l]; row++) this.below(l, row, (j) => (sets[l][row] |= sets[l - 1][j]));
    }
    return sets;
  }

  mark(level, rows) {
    const set = new Uint8Array(this.counts[level]);
    rows.forEach((row) => (set[row] = 1));
    return set;
  }

  // fn(level, row, row below) for each edge between two marked rows.
  edges(sets, fn) {
    for (let l = 1; l <= this.depth; l++) {
      const [above, under] = [sets[l], sets[l - 1]];
      if (above && under) above.forEach((on, row) => on && this.below(l, row, (j) => under[j] && fn(l, row, j)));
    }
  }
}

// What a set of input rows amounts to: how many, between which, and which in between are missing.
function extent(set) {
  const rows = [...set.keys()].filter((k) => set[k]);
  if (!rows.length) return { count: 0, span: 0, holes: [] };
  const [first, last] = [rows[0], rows.at(-1)];
  const holes = [];
  for (let k = first; k <= last; k++) if (!set[k]) holes.push(k);
  return { count: rows.length, first, last, span: last - first + 1, holes };
}

// 0 1 2 5 as "0–2, 5", at most so many parts.
function ranges(rows, most = 8) {
  const parts = [];
  rows.forEach((row) => {
    const open = parts.at(-1);
    if (open && open[1] === row - 1) open[1] = row;
    else parts.push([row, row]);
  });
  const shown = parts.slice(0, most).map(([a, b]) => (a === b ? `${a}` : `${a}–${b}`));
  return shown.join(", ") + (parts.length > most ? `, … (${parts.length - most} more)` : "");
}
