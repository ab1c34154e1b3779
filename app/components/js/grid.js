// Rows and columns with labels, laid out and pointed at: what the heatmap and the mask grid share.

const LABEL = 13;
const [LEAST, WIDEST, TALLEST] = [13, 66, 36];
const GAP = 10;

class Grid {
  constructor(frame) {
    this.frame = frame;
    this.screen = new Screen(frame, this);
    this.cursor = [0, 0];
    this.point = null;
    this.chosen = null;
    this.commit = 0;
    this.legend = make("div", "legend", frame.extra);
    this.grid = this.makeGrid();
    frame.attach(this);
    frame.closers.push(listen(this, () => [this.data?.group, this.data?.source_group], (p, g) => this.hear(p, g)));
    this.bind();
  }

  makeGrid() {
    const grid = this.screen.scroller;
    grid.tabIndex = 0;
    grid.setAttribute("role", "grid");
    const row = make("div", "hidden", grid);
    row.setAttribute("role", "row");
    const header = make("div", "", row);
    header.setAttribute("role", "rowheader");
    const cell = make("div", "", row);
    cell.setAttribute("role", "gridcell");
    cell.id = "cell";
    grid.setAttribute("aria-activedescendant", "cell");
    return { box: grid, row, header, cell };
  }

  describe() {
    const { box } = this.grid;
    box.setAttribute("aria-label", `${this.data.title || "Heatmap"}: ${this.T} rows, ${this.S} columns`);
    box.setAttribute("aria-rowcount", this.T);
    box.setAttribute("aria-colcount", this.S);
    box.setAttribute("aria-readonly", String(this.data.select === "none"));
  }

  resize() {
    const { width } = this.screen;
    if (this.frame.view.hidden) this.frame.done(this.data.version, performance.now());
    if (!width) return;
    this.lay(width);
    this.screen.fit(this.box.width, this.box.height);
    this.paintLegend();
    this.screen.draw();
  }

  // Geometry: labels left and above, cells as large as the width allows, scrolling below the least size.
  lay(width) {
    const theme = readTheme(this.frame.root);
    const font = theme.mono;
    const small = width < 520;
    const leftLimit = Math.max(56, Math.min(small ? 92 : 150, width * 0.3));
    const marks = this.changed_rows ? 14 : 0;
    const rowWidth = Math.max(...this.rows.map((w) => measure(w, LABEL, font, 600)));
    const left = Math.ceil(Math.min(rowWidth, leftLimit)) + GAP + marks + 2;
    let right = 2;
    let box;
    for (let round = 0; round < 3; round++) {
      const cw = Math.floor(Math.max(LEAST, Math.min(WIDEST, (width - left - right) / this.S)));
      const room = 760 / this.T;
      const ch = Math.floor(Math.max(LEAST, Math.min(TALLEST, cw * 0.62, room), Math.min(22, room)));
      box = this.columnLabels({ left, leftLimit, cw, ch }, font, small);
      if (Math.abs(box.right - right) < 1) break;
      right = box.right;
    }
    box.rowSize = Math.max(10, Math.min(LABEL, box.ch * 0.78));
    box.width = left + box.cw * this.S + box.right;
    box.height = box.top + box.ch * this.T + 3;
    box.rowText = this.rows.map((w) => shorten(w, leftLimit, box.rowSize, font, 600));
    this.box = box;
    this.hatch = this.hatchPath();
  }

  // Level where every label fits its cell; otherwise at the flattest angle that keeps neighbours apart.
  columnLabels(box, font, small) {
    const size = Math.max(10, Math.min(LABEL, box.cw * 0.8));
    const limit = small ? 92 : 130;
    const texts = this.columns.map((w) => shorten(w, limit, size, font, 600));
    const lengths = texts.map((w) => measure(w, size, font, 600));
    const longest = Math.max(...lengths);
    box.colSize = size;
    box.colText = texts;
    if (longest + 6 <= box.cw) return Object.assign(box, { angle: 0, top: size + 14, right: 2 });
    const angles = [32, 45, 60, 90].map((d) => (d * Math.PI) / 180);
    const angle = angles.find((a) => box.cw * Math.sin(a) >= size * 1.3) || Math.PI / 2;
    const over = lengths.map((w, j) => (j + 0.5) * box.cw + w * Math.cos(angle) + size * 0.6 - this.S * box.cw);
    const top = Math.ceil(longest * Math.sin(angle) + size * Math.cos(angle) + 12);
    return Object.assign(box, { angle, top, right: Math.ceil(Math.max(2, ...over)) });
  }

  size() {
    return this.box;
  }

  // Where source and target share one axis, the first rows (or columns) are the source's.
  role(side, k) {
    const first = this.data[`source_${side}s`];
    return first == null ? this.data[`${side}_role`] : k < first ? "source" : "target";
  }

  paint(surface, live = false) {
    const { left, width, height } = this.box;
    const offset = live ? this.screen.offset : 0;
    const shown = live ? this.screen.shown : width;
    // the column labels lean right from their cell: they may not run over the row labels when scrolled
    surface.within(offset ? left - 2 : 0, 0, shown, height + 2, -offset, 0, () => {
      this.paintCells(surface);
      this.paintMarks(surface);
      this.paintColumns(surface, live);
      this.paintBands(surface, live);
    });
    this.paintRows(surface, live);
  }

  place(i, j) {
    const { left, top, cw, ch } = this.box;
    return [left + j * cw, top + i * ch];
  }

  paintColumns(surface, live) {
    const { theme } = surface;
    const { top, cw, colSize, colText, angle } = this.box;
    for (let j = 0; j < this.S; j++) {
      const strong = live && this.point && this.point[1] === j;
      const faint = live && this.point && this.point[1] >= 0 && !strong;
      const [x] = this.place(0, j);
      const at = angle ? [x + cw / 2 + (angle > 1.5 ? colSize * 0.36 : 0), top - 8] : [x + cw / 2 - 1, top - 8];
      surface.text(...at, colText[j], {
        fill: theme[this.role("column", j)], size: colSize, font: theme.mono, weight: strong ? 600 : 400, angle: -angle,
        align: angle ? "left" : "center", alpha: faint ? 0.75 : 1,
      });
    }
  }

  paintRows(surface, live) {
    const { theme } = surface;
    const { left, cw, ch, rowSize, rowText } = this.box;
    for (let i = 0; i < this.T; i++) {
      const strong = (live && this.point && this.point[0] === i) || (this.chosen && this.chosen[0] === i);
      const faint = live && this.point && this.point[0] >= 0 && !strong;
      const y = this.place(i, 0)[1] + ch / 2 - 1;
      surface.text(left - GAP, y + rowSize * 0.34, rowText[i], {
        fill: theme[this.role("row", i)], size: rowSize, font: theme.mono, weight: strong ? 600 : 400, align: "right", alpha: faint ? 0.75 : 1,
      });
      const beside = left - GAP - 9 - measure(rowText[i], rowSize, theme.mono, strong ? 600 : 400);
      if (this.changed_rows?.[i]) surface.path(diamond(beside, y, 4), { fill: theme.change });
    }
  }

  paintBands(surface, live) {
    const { theme } = surface;
    const { left, top, cw, ch } = this.box;
    const gap = cw < 20 ? 1 : 2;
    const [wide, high] = [this.S * cw - gap, this.T * ch - gap];
    const row = (i, line, alpha) =>
      surface.rect(left - 1, top + i * ch - 1, wide + 2, ch - gap + 2, { stroke: theme[this.role("row", i)], line, radius: 3, alpha });
    const column = (j, line, alpha) =>
      surface.rect(left + j * cw - 1, top - 1, cw - gap + 2, high + 2, { stroke: theme[this.role("column", j)], line, radius: 3, alpha });
    const cell = (i, j, stroke, line) =>
      surface.rect(left + j * cw - 1, top + i * ch - 1, cw - gap + 2, ch - gap + 2, { stroke, line, radius: 3 });
    if (live && this.point) {
      const [i, j] = this.point;
      if (i >= 0) row(i, 1.25, 0.7);
      if (j >= 0) column(j, 1.25, 0.7);
      if (i >= 0 && j >= 0) cell(i, j, theme.ink, 1.75);
    }
    if (this.chosen) {
      const [i, j] = this.chosen;
      row(i, 2, 1);
      if (j >= 0) cell(i, j, theme[this.role("row", i)], 2.5);
    }
    if (live && this.focused) cell(...this.cursor, theme.primary, 2.5);
  }

  // ---- pointing, by pointer, keyboard or from a linked picture

  // [row, column] under the pointer; -1 on a label; null outside
  hit(event) {
    const { left, top, cw, ch } = this.box;
    const [x, y] = this.screen.point(event);
    const i = Math.floor((y - top) / ch);
    const j = Math.floor((x + this.screen.offset - left) / cw);
    const row = i >= 0 && i < this.T;
    const column = j >= 0 && j < this.S && x >= left - 2;
    if (row && column) return [i, j];
    if (row && x < left) return [i, -1];
    if (column && y < top) return [-1, j];
    return null;
  }

  leave() {
    this.frame.hideTip();
    this.show(null);
  }

  show(point, quiet = false) {
    if (String(point) === String(this.point)) return;
    this.point = point;
    this.frame.root.dataset.point = point ? point.join(",") : "";
    this.screen.schedule();
    if (quiet) return;
    // Who listens to both hears the whole point last.
    say(this, this.data.source_group, point && point[1] >= 0 ? [-1, point[1]] : null);
    say(this, this.data.group, point);
  }

  hear(point, group) {
    if (!point) return this.show(null, true);
    const [i, j] = group === this.data.group ? point : [-1, point[1]];
    const mine = [i < this.T ? i : -1, j < this.S ? j : -1];
    this.show(mine[0] < 0 && mine[1] < 0 ? null : mine, true);
  }

  // The keyboard's place: seen, said, and shown to linked pictures.
  go(i, j) {
    this.focused = true;
    this.cursor = [Math.max(0, Math.min(this.T - 1, i)), Math.max(0, Math.min(this.S - 1, j))];
    const x = this.place(0, this.cursor[1])[0];
    this.screen.reveal(x, x + this.box.cw, this.box.left);
    const { row, header, cell } = this.grid;
    row.setAttribute("aria-rowindex", this.cursor[0] + 1);
    header.textContent = this.rows[this.cursor[0]];
    cell.setAttribute("aria-colindex", this.cursor[1] + 1);
    cell.textContent = this.sentence(this.cursor);
    this.frame.announce(this.sentence(this.cursor));
    this.show([...this.cursor]);
    this.screen.schedule();
  }
}

const diamond = (x, y, r) => `M${x - r} ${y}L${x} ${y - r}L${x + r} ${y}L${x} ${y + r}Z`;

// Diagonal strokes inside one cell, as path text.
function hatching(x, y, w, h) {
  let path = "";
  for (let s = 5; s < w + h; s += 6) {
    const [x0, y0] = s <= h ? [x, y + s] : [x + s - h, y + h];
    const [x1, y1] = s <= w ? [x + s, y] : [x + w, y + s - w];
    path += `M${round(x0)} ${round(y0)}L${round(x1)} ${round(y1)}`;
  }
  return path;
}
