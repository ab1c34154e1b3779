// Heatmap: target rows, source columns, a weight in each cell.

const LABEL = 13;
const [LEAST, WIDEST, TALLEST] = [13, 66, 36];
const GAP = 10;

class Heatmap {
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

  update(data) {
    this.data = data;
    [this.T, this.S] = [data.rows.length, data.columns.length];
    this.rows = data.rows.map(visible);
    this.columns = data.columns.map(visible);
    this.weights = numbers(data.weights);
    this.scores = numbers(data.scores);
    for (const name of ["mask", "sure", "possible", "changed", "changed_rows"]) this[name] = bits(data[name]);
    // An echo older than what the hand did last must not undo it.
    if (data.commit >= this.commit) {
      this.commit = data.commit;
      this.chosen = data.selected;
    }
    this.frame.root.dataset.selected = this.chosen || "";
    this.cursor = [Math.min(this.cursor[0], this.T - 1), Math.min(this.cursor[1], this.S - 1)];
    if (this.point && (this.point[0] >= this.T || this.point[1] >= this.S)) this.point = null;
    this.frame.title(data.title);
    this.describe();
    this.resize();
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

  shade(value) {
    const [low, high] = this.data.limits;
    return Math.max(0, Math.min(255, Math.round(((value - low) / (high - low)) * 255)));
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

  paintCells(surface) {
    const { cw, ch } = this.box;
    const scale = surface.theme[this.data.scale];
    const gap = cw < 20 ? 1 : 2;
    const digits = this.digits();
    const size = Math.min(12, cw / 3, ch * 0.55);
    for (let i = 0; i < this.T; i++)
      for (let j = 0; j < this.S; j++) {
        const k = i * this.S + j;
        const [x, y] = this.place(i, j);
        const masked = this.mask && this.mask[k];
        const shade = this.shade(this.weights[k]);
        const radius = surface instanceof SvgSurface || this.T * this.S <= 400 ? Math.min(2.5, cw / 10) : 0;
        surface.rect(x, y, cw - gap, ch - gap, { fill: masked ? surface.theme.mask : scale.colours[shade], radius });
        if (!masked && digits && this.printed(i, j)) {
          const text = this.number(this.weights[k], digits);
          surface.text(x + (cw - gap) / 2, y + (ch - gap) / 2 + size * 0.36, text, {
            fill: scale.ink[shade], size, font: surface.theme.sans, align: "center",
          });
        }
      }
    if (this.hatch) surface.path(this.hatch, { stroke: surface.theme.maskLine, line: 1 });
  }

  // One path for all masked cells; its text is long, so it is built once a layout.
  hatchPath() {
    const { cw, ch } = this.box;
    const gap = cw < 20 ? 1 : 2;
    const masked = [...(this.mask || [])].flatMap((on, k) => (on ? [k] : []));
    const place = (k) => this.place(Math.floor(k / this.S), k % this.S);
    return masked.map((k) => hatching(...place(k), cw - gap, ch - gap)).join("");
  }

  digits() {
    const { cw, ch } = this.box;
    return ch < 15 || cw < 25 ? 0 : cw < 31 ? 1 : 2;
  }

  number(value, digits) {
    const text = decimal(value, 2);
    return digits === 1 ? text.replace(/^(−?)0\./, "$1.") : text;
  }

  printed(i, j) {
    const open = i === this.point?.[0] || i === this.chosen?.[0];
    return open || Math.abs(this.weights[i * this.S + j]) >= this.data.print_from;
  }

  paintMarks(surface) {
    if (!this.sure && !this.possible && !this.changed) return;
    const { theme } = surface;
    const { cw, ch } = this.box;
    const gap = cw < 20 ? 1 : 2;
    for (let i = 0; i < this.T; i++)
      for (let j = 0; j < this.S; j++) {
        const k = i * this.S + j;
        const [x, y] = this.place(i, j);
        const inset = cw < 20 ? 1.5 : 3;
        const [w, h] = [cw - gap - 2 * inset, ch - gap - 2 * inset];
        const dash = this.sure?.[k] ? null : this.possible?.[k] ? [4, 3] : undefined;
        if (dash !== undefined) {
          surface.rect(x + inset, y + inset, w, h, { stroke: theme.bg, line: 4, radius: 2, alpha: 0.75 });
          surface.rect(x + inset, y + inset, w, h, { stroke: theme.gold, line: 2, radius: 2, dash });
        }
        if (this.changed?.[k]) {
          const side = Math.max(5, Math.min(9, cw * 0.3));
          const edge = x + cw - gap;
          surface.path(`M${edge - side} ${y}H${edge}V${y + side}Z`, { fill: theme.change });
        }
      }
  }

  paintColumns(surface, live) {
    const { theme } = surface;
    const { top, cw, colSize, colText, angle } = this.box;
    const colour = theme[this.data.column_role];
    for (let j = 0; j < this.S; j++) {
      const strong = live && this.point && this.point[1] === j;
      const faint = live && this.point && this.point[1] >= 0 && !strong;
      const [x] = this.place(0, j);
      const at = angle ? [x + cw / 2 + (angle > 1.5 ? colSize * 0.36 : 0), top - 8] : [x + cw / 2 - 1, top - 8];
      surface.text(...at, colText[j], {
        fill: colour, size: colSize, font: theme.mono, weight: strong ? 600 : 400, angle: -angle,
        align: angle ? "left" : "center", alpha: faint ? 0.75 : 1,
      });
    }
  }

  paintRows(surface, live) {
    const { theme } = surface;
    const { left, cw, ch, rowSize, rowText } = this.box;
    const colour = theme[this.data.row_role];
    for (let i = 0; i < this.T; i++) {
      const strong = (live && this.point && this.point[0] === i) || (this.chosen && this.chosen[0] === i);
      const faint = live && this.point && this.point[0] >= 0 && !strong;
      const y = this.place(i, 0)[1] + ch / 2 - 1;
      surface.text(left - GAP, y + rowSize * 0.34, rowText[i], {
        fill: colour, size: rowSize, font: theme.mono, weight: strong ? 600 : 400, align: "right", alpha: faint ? 0.75 : 1,
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
      surface.rect(left - 1, top + i * ch - 1, wide + 2, ch - gap + 2, { stroke: theme[this.data.row_role], line, radius: 3, alpha });
    const column = (j, line, alpha) =>
      surface.rect(left + j * cw - 1, top - 1, cw - gap + 2, high + 2, { stroke: theme[this.data.column_role], line, radius: 3, alpha });
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
      if (j >= 0) cell(i, j, theme[this.data.row_role], 2.5);
    }
    if (live && this.focused) cell(...this.cursor, theme.primary, 2.5);
  }

  paintLegend() {
    const theme = readTheme(this.frame.root);
    const { limits, scale, value } = this.data;
    const colours = theme[scale].colours;
    const stops = [0, 32, 64, 96, 128, 160, 192, 224, 255].map((k) => colours[k]).join(",");
    this.legend.replaceChildren();
    make("span", "", this.legend, `${value} ${trim(limits[0])}`);
    make("span", "scale", this.legend).style.background = `linear-gradient(90deg,${stops})`;
    make("span", "", this.legend, trim(limits[1]));
    const key = (name, kind, text) => name && make("span", `key ${kind}`, this.legend, text);
    key(this.mask?.some((v) => v), "masked", "masked");
    key(this.sure?.some((v) => v), "sure", "gold, sure");
    key(this.possible?.some((v) => v), "possible", "gold, possible");
    key(this.changed?.some((v) => v) || this.changed_rows?.some((v) => v), "changed", "changed");
  }
}

const trim = (v) => decimal(v, 2).replace(/\.?0+$/, "");
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
