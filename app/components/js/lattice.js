// Lattice: layers by positions. The edges of one chosen output, the field after each layer, cones under the pointer.

const NODE = { least: 5.5, most: 40, row: 56, low: 21, above: 16, axis: 40 };

class Lattice {
  constructor(frame) {
    this.frame = frame;
    this.screen = new Screen(frame, this);
    this.zoom = 1;
    this.commit = 0;
    this.point = null; // [level, bin] under the pointer or the cursor
    this.cursor = null;
    frame.attach(this);
    frame.closers.push(() => this.stop());
    this.build();
  }

  update(data) {
    // An echo older than what the hand chose last must not undo it.
    const held = this.data && data.commit < this.commit ? this.output : null;
    const same = this.data && JSON.stringify([data.layers, data.counts]) === this.identity;
    this.data = data;
    this.identity = JSON.stringify([data.layers, data.counts]);
    this.graph = new LatticeGraph(data.layers, data.counts);
    this.output = held !== null && held < data.counts.at(-1) ? held : data.output;
    this.positions = data.counts[0];
    if (!same) this.stop();
    if (!same || this.depth === undefined) this.depth = this.graph.depth;
    if (!same) this.cursor = this.point = null;
    this.field = this.fieldAt(this.depth);
    this.frame.title(data.title);
    this.write();
    this.resize();
  }

  // The field of the row that stands under the output after so many layers.
  fieldAt(level) {
    const row = this.graph.under(this.output, level);
    const sets = this.graph.down(level, [row]);
    return { level, row, sets, ...extent(sets[0]) };
  }

  resize() {
    const { width } = this.screen;
    if (this.frame.view.hidden) this.frame.done(this.data.version, performance.now());
    if (!width) return;
    this.lay(width);
    this.write();
    this.screen.fit(this.box.width, this.box.height);
    this.screen.draw();
  }

  lay(width) {
    const levels = this.graph.depth;
    const narrow = width < 560;
    const font = readTheme(this.frame.root).sans;
    this.labels = this.levelLabels(narrow);
    const left = Math.ceil(Math.max(...this.labels.map((t) => measure(t, 11.5, font)))) + 14;
    const room = (width - left - 12) * this.zoom;
    // a power of two positions share one place where they would stand too close to be told apart
    this.group = 1;
    while ((this.positions / this.group) * NODE.least > room) this.group *= 2;
    this.bins = Math.ceil(this.positions / this.group);
    const step = Math.min(NODE.most, room / this.bins);
    const high = Math.max(NODE.low, Math.min(NODE.row, 380 / levels));
    const bottom = NODE.above + levels * high;
    this.box = { width: Math.max(width, left + this.bins * step + 12), height: bottom + NODE.axis, left, step, high, bottom };
    this.radius = Math.max(1.6, Math.min(6, step * 0.34, high * 0.3));
  }

  levelLabels(narrow) {
    const told = this.data.layers.map((layer, k) => (narrow ? `${k + 1}` : `${k + 1}  ${layer.told}`));
    return [narrow ? "in" : "input", ...told];
  }

  size() {
    return this.box;
  }

  bin(level, row) {
    return Math.floor(this.graph.place(level, row) / this.group);
  }

  x(bin) {
    return this.box.left + (bin + 0.5) * this.box.step;
  }

  y(level) {
    return this.box.bottom - level * this.box.high;
  }

  // Rows of a level that stand in a bin.
  inside(level, bin) {
    const scale = this.graph.scale[level];
    const first = Math.ceil((bin * this.group) / scale);
    const rows = [];
    for (let row = first; row * scale < (bin + 1) * this.group && row < this.graph.counts[level]; row++) rows.push(row);
    return rows;
  }

  paint(surface, live = false) {
    const { left, width, height } = this.box;
    const offset = live ? this.screen.offset : 0;
    const cones = live && this.point ? this.cones() : null;
    const shown = live ? this.screen.shown : width;
    surface.within(offset ? left - this.box.step : 0, 0, shown, height, -offset, 0, () => {
      this.paintEmpty(surface);
      this.paintField(surface, cones ? 0.28 : 1);
      if (cones) this.paintCones(surface, cones);
      this.paintAxis(surface);
      if (live && this.point) this.paintPoint(surface);
    });
    this.paintLevels(surface);
  }

  paintLevels(surface) {
    const { theme } = surface;
    const { left } = this.box;
    this.labels.forEach((text, level) => {
      const now = level === this.depth;
      const fill = level === 0 ? theme.source : now ? theme.target : theme.muted;
      surface.text(left - 10, this.y(level) + 4, text, { fill, size: 11.5, font: theme.sans, weight: now ? 600 : 400, align: "right" });
    });
  }

  paintEmpty(surface) {
    const { theme } = surface;
    const size = Math.max(1, this.radius * 0.55);
    let d = "";
    for (let level = 0; level <= this.graph.depth; level++) {
      const seen = new Set();
      for (let row = 0; row < this.graph.counts[level]; row++) seen.add(this.bin(level, row));
      for (const bin of seen) d += square(this.x(bin), this.y(level), size);
    }
    surface.path(d, { fill: theme.maskLine, alpha: 0.7 });
  }

  paintField(surface, alpha) {
    const { theme } = surface;
    const { sets, level, row, holes } = this.field;
    this.paintEdges(surface, sets, theme.state, alpha * 0.6);
    for (let l = 0; l <= level; l++) this.paintNodes(surface, l, sets[l], l ? theme.state : theme.source, alpha);
    this.paintHoles(surface, holes, alpha);
    const [x, y] = [this.x(this.bin(level, row)), this.y(level)];
    const size = this.radius + 2.5;
    surface.rect(x - size, y - size, 2 * size, 2 * size, { fill: theme.target, radius: size, alpha });
  }

  paintEdges(surface, sets, stroke, alpha) {
    const seen = new Set();
    let d = "";
    this.graph.edges(sets, (level, row, under) => {
      const [a, b] = [this.bin(level, row), this.bin(level - 1, under)];
      const key = (level * this.bins + a) * this.bins + b;
      if (seen.has(key)) return;
      seen.add(key);
      d += `M${round(this.x(a))} ${round(this.y(level))}L${round(this.x(b))} ${round(this.y(level - 1))}`;
    });
    const line = seen.size > 1500 ? 0.6 : this.box.step > 12 ? 1.6 : 1;
    if (d) surface.path(d, { stroke, line, alpha });
  }

  // A place that stands for several rows is as strong as the share of them that is reached.
  paintNodes(surface, level, set, fill, alpha) {
    const [count, on] = [new Map(), new Map()];
    set.forEach((reached, row) => {
      const bin = this.bin(level, row);
      count.set(bin, (count.get(bin) || 0) + 1);
      if (reached) on.set(bin, (on.get(bin) || 0) + 1);
    });
    const shares = new Map();
    on.forEach((n, bin) => {
      const share = Math.ceil((4 * n) / count.get(bin)) / 4;
      shares.set(share, (shares.get(share) || "") + dot(this.x(bin), this.y(level), this.radius));
    });
    shares.forEach((d, share) => surface.path(d, { fill, alpha: alpha * share }));
  }

  // A ring around what is not reached; where one place stands for several rows, an open one when some of them are.
  paintHoles(surface, holes, alpha) {
    const { theme } = surface;
    const reached = new Set();
    this.field.sets[0].forEach((on, row) => on && reached.add(this.bin(0, row)));
    const size = Math.max(2, this.radius + 0.5);
    let [none, some] = ["", ""];
    for (const bin of new Set(holes.map((row) => this.bin(0, row)))) {
      const ring = dot(this.x(bin), this.y(0), size);
      if (reached.has(bin)) some += ring;
      else none += ring;
    }
    const line = this.box.step > 9 ? 2 : 1.3;
    if (none) surface.path(none, { fill: theme.bg, alpha });
    if (none) surface.path(none, { stroke: theme.change, line, alpha });
    if (some) surface.path(some, { stroke: theme.change, line, alpha: alpha * 0.45 });
  }

  cones() {
    const [level, bin] = this.point;
    const rows = this.inside(level, bin);
    return { level, rows, down: this.graph.down(level, rows), up: this.graph.up(level, rows) };
  }

  paintCones(surface, { level, down, up }) {
    const { theme } = surface;
    this.paintEdges(surface, up, theme.target, 0.75);
    this.paintEdges(surface, down, theme.source, 0.75);
    up.forEach((set, l) => set && l > level && this.paintNodes(surface, l, set, theme.target, 1));
    down.forEach((set, l) => set && l <= level && this.paintNodes(surface, l, set, theme.source, 1));
  }

  paintPoint(surface) {
    const [level, bin] = this.point;
    const size = this.radius + 3;
    surface.rect(this.x(bin) - size, this.y(level) - size, 2 * size, 2 * size, { stroke: surface.theme.ink, line: 1.8, radius: size });
  }

  // Positions, and the span of the field under them.
  paintAxis(surface) {
    const { theme } = surface;
    const { bottom, step } = this.box;
    const y = bottom + this.radius + 17;
    const style = { size: 10.5, font: theme.sans, align: "center" };
    const wide = measure(String(this.positions), 10.5, theme.sans) + 14;
    let every = 1;
    while (every * (step / this.group) < wide) every *= 2;
    every = Math.max(every, this.group);
    for (let k = 0; k < this.positions; k += every) surface.text(this.x(this.bin(0, k)), y, `${k}`, { ...style, fill: theme.muted });
    const { first, last, count } = this.field;
    if (!count) return;
    const [a, b] = [this.x(this.bin(0, first)) - step / 2 + 1, this.x(this.bin(0, last)) + step / 2 - 1];
    const line = bottom + this.radius + 4;
    surface.path(`M${round(a)} ${line + 2}V${line - 1}M${round(b)} ${line + 2}V${line - 1}M${round(a)} ${line + 2}H${round(b)}`, { stroke: theme.source, line: 1.5 });
  }
}

const dot = (x, y, r) => `M${round(x - r)} ${round(y)}a${round(r)} ${round(r)} 0 1 0 ${round(2 * r)} 0a${round(r)} ${round(r)} 0 1 0 ${round(-2 * r)} 0Z`;
const square = (x, y, r) => `M${round(x - r)} ${round(y - r)}h${round(2 * r)}v${round(2 * r)}h${round(-2 * r)}Z`;
