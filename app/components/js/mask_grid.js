// Mask grid: query rows down, key columns across, a filled cell may be read. Painted by hand; Python hears of a stroke
// when it has ended.

const KEPT = 100; // strokes that can be undone
const PAUSE = 250; // ms after the last key until Python hears

class MaskGrid extends Grid {
  constructor(frame) {
    super(frame);
    [this.past, this.future] = [[], []];
    this.undoButton = this.tool("Undo", "Undo (Ctrl Z)", () => this.travel(this.past, this.future));
    this.redoButton = this.tool("Redo", "Redo (Ctrl Shift Z)", () => this.travel(this.future, this.past));
    if (!matchMedia("(pointer: coarse)").matches) return;
    const brush = this.tool("Drag paints", "Let a finger paint instead of scrolling", () => {
      const on = brush.getAttribute("aria-pressed") !== "true";
      brush.setAttribute("aria-pressed", String(on));
      this.screen.canvas.style.touchAction = on ? "none" : "";
    });
    brush.setAttribute("aria-pressed", "false");
  }

  tool(text, label, act) {
    const button = make("button", "tool", this.frame.extra, text);
    button.type = "button";
    button.title = label;
    button.addEventListener("click", act);
    return button;
  }

  update(data) {
    const name = JSON.stringify([data.rows, data.columns]);
    const same = name === this.name;
    // An echo older than what the hand did last, or that comes during a stroke, must not undo it.
    const held = same && (this.stroke || this.waiting || data.commit < this.commit);
    this.data = data;
    this.name = name;
    [this.T, this.S] = [data.rows.length, data.columns.length];
    this.rows = data.rows.map(visible);
    this.columns = data.columns.map(visible);
    this.own = bits(data.own);
    if (!held) this.take(bits(data.mask), same);
    this.commit = Math.max(this.commit, data.commit);
    this.cursor = [Math.min(this.cursor[0], this.T - 1), Math.min(this.cursor[1], this.S - 1)];
    if (this.point && (this.point[0] >= this.T || this.point[1] >= this.S)) this.point = null;
    this.frame.title(data.title);
    this.describe();
    this.resize();
    this.tell();
  }

  // What comes from the page itself (a preset) can be undone like a stroke; other tokens start afresh.
  take(mask, same) {
    if (!same) [this.past, this.future] = [[], []];
    else if (String(mask) !== String(this.open)) this.remember(this.open);
    if (!same) this.stroke = null;
    this.open = mask;
  }

  remember(mask) {
    this.past = [...this.past, mask].slice(-KEPT);
    this.future = [];
  }

  describe() {
    super.describe();
    this.grid.box.setAttribute("aria-readonly", "false");
    const keys = "Arrows move, space toggles, shift space a row, control space a column.";
    this.grid.box.setAttribute("aria-label", `${this.data.title}: ${this.T} query rows, ${this.S} key columns. ${keys}`);
  }

  // ---- drawing

  hatchPath() {
    const { cw, ch } = this.box;
    const gap = cw < 20 ? 1 : 2;
    let path = "";
    for (let k = 0; k < this.open.length; k++)
      if (!this.open[k]) path += hatching(...this.place(Math.floor(k / this.S), k % this.S), cw - gap, ch - gap);
    return path;
  }

  paintCells(surface) {
    const { theme } = surface;
    const { cw, ch } = this.box;
    const gap = cw < 20 ? 1 : 2;
    const radius = surface instanceof SvgSurface || this.T * this.S <= 400 ? Math.min(2.5, cw / 10) : 0;
    for (let k = 0; k < this.open.length; k++) {
      const [i, j] = [Math.floor(k / this.S), k % this.S];
      const [x, y] = this.place(i, j);
      const fill = this.open[k] ? theme[this.role("column", j)] : theme.mask;
      surface.rect(x, y, cw - gap, ch - gap, { fill, radius, alpha: this.open[k] ? 0.82 : 1 });
    }
    surface.path(this.hatch, { stroke: theme.maskLine, line: 1 });
  }

  paintMarks(surface) {
    const { theme } = surface;
    const { cw, ch } = this.box;
    const gap = cw < 20 ? 1 : 2;
    for (let k = 0; k < this.open.length; k++) {
      if (this.open[k] === this.own[k]) continue;
      const [x, y] = this.place(Math.floor(k / this.S), k % this.S);
      const edge = x + cw - gap;
      const side = Math.max(6, Math.min(10, cw * 0.4));
      surface.path(`M${edge - side} ${y}H${edge}V${y + side}Z`, { fill: theme.change });
      surface.rect(x + 1, y + 1, cw - gap - 2, ch - gap - 2, { stroke: theme.change, line: 1.5, radius: 2 });
    }
  }

  paintLegend() {
    this.legend.replaceChildren();
    make("span", "key open", this.legend, "may read");
    make("span", "key masked", this.legend, "may not");
    if (this.open.some((v, k) => v !== this.own[k])) make("span", "key changed", this.legend, "not the model's own");
  }

  // ---- painting

  bind() {
    const { canvas, scroller } = this.screen;
    canvas.addEventListener("pointerdown", (e) => this.press(e));
    canvas.addEventListener("pointermove", (e) => this.move(e));
    canvas.addEventListener("pointerup", () => this.release());
    canvas.addEventListener("pointercancel", () => this.cancel());
    canvas.addEventListener("pointerleave", () => this.stroke || this.leave());
    scroller.addEventListener("keydown", (e) => this.key(e));
    scroller.addEventListener("focus", () => {
      this.focused = scroller.matches(":focus-visible");
      if (this.focused) this.go(...this.cursor);
    });
    scroller.addEventListener("blur", () => {
      this.focused = false;
      this.leave();
    });
  }

  press(event) {
    const point = this.hit(event);
    if (!point || event.button) return;
    this.flush();
    this.screen.canvas.setPointerCapture(event.pointerId);
    this.frame.hideTip();
    this.stroke = { before: this.open.slice(), last: point, line: point[0] < 0 || point[1] < 0 };
    if (this.stroke.line) this.flip(this.line(point));
    else if (event.shiftKey && this.anchor) this.fill(this.block(this.anchor, point), this.anchor[2]);
    else {
      const value = 1 - this.open[point[0] * this.S + point[1]];
      this.anchor = [...point, value];
      this.cursor = point;
      this.fill([point], value);
    }
  }

  move(event) {
    const point = this.hit(event);
    if (!this.stroke) return this.hover(event, point);
    if (this.stroke.line || !point || point[0] < 0 || point[1] < 0) return;
    this.fill(between(this.stroke.last, point), this.anchor[2]);
    this.stroke.last = point;
    this.show(point);
  }

  hover(event, point) {
    this.screen.canvas.style.cursor = point ? "pointer" : "default";
    if (point) this.frame.showTip(this.lines(point), event.clientX, event.clientY);
    else this.frame.hideTip();
    this.show(point);
  }

  release() {
    const stroke = this.stroke;
    this.stroke = null;
    if (!stroke || String(stroke.before) === String(this.open)) return;
    this.remember(stroke.before);
    this.hand_over();
  }

  // The browser took the pointer to scroll: nothing was meant.
  cancel() {
    if (this.stroke) this.repaint(this.stroke.before);
    this.stroke = null;
  }

  line([i, j]) {
    const length = j < 0 ? this.S : this.T;
    return Array.from({ length }, (_, n) => (j < 0 ? [i, n] : [n, j]));
  }

  block([a, b], [c, d]) {
    const cells = [];
    for (let i = Math.min(a, c); i <= Math.max(a, c); i++)
      for (let j = Math.min(b, d); j <= Math.max(b, d); j++) cells.push([i, j]);
    return cells;
  }

  // A line that is open throughout is closed, any other is opened.
  flip(cells) {
    this.fill(cells, cells.every(([i, j]) => this.open[i * this.S + j]) ? 0 : 1);
  }

  fill(cells, value) {
    for (const [i, j] of cells) this.open[i * this.S + j] = value;
    this.repaint(this.open);
  }

  repaint(mask) {
    this.open = mask;
    this.hatch = this.hatchPath();
    this.paintLegend();
    this.screen.schedule();
    this.tell();
  }

  travel(from, to) {
    if (!from.length) return;
    this.flush();
    to.push(this.open);
    this.repaint(from.pop());
    this.frame.announce(`${this.count()} of ${this.open.length} cells may be read.`);
    this.hand_over();
  }

  flush() {
    if (!this.waiting) return;
    clearTimeout(this.waiting);
    this.hand_over();
  }

  hand_over() {
    this.waiting = 0;
    this.commit += 1;
    this.tell();
    const bytes = new Uint8Array(Math.ceil(this.open.length / 8));
    this.open.forEach((v, k) => (bytes[k >> 3] |= v << (7 - (k & 7))));
    this.send({ commit: this.commit, rows: this.T, columns: this.S, bits: btoa(String.fromCharCode(...bytes)) });
  }

  tell() {
    this.undoButton.disabled = !this.past.length;
    this.redoButton.disabled = !this.future.length;
    Object.assign(this.frame.root.dataset, { open: this.count(), commit: this.commit });
  }

  count() {
    return this.open.reduce((sum, v) => sum + v, 0);
  }

  // ---- keyboard

  key(event) {
    const [i, j] = this.cursor;
    const far = event.ctrlKey || event.metaKey;
    const to = {
      ArrowUp: [i - 1, j], ArrowDown: [i + 1, j], ArrowLeft: [i, j - 1], ArrowRight: [i, j + 1],
      Home: [far ? 0 : i, 0], End: [far ? this.T - 1 : i, this.S - 1], PageUp: [0, j], PageDown: [this.T - 1, j],
    }[event.key];
    if (to) this.go(...to);
    else if (event.key === " " || event.key === "Enter") this.stamp(event.shiftKey ? [i, -1] : far ? [-1, j] : [i, j]);
    else if (far && event.key.toLowerCase() === "z") (event.shiftKey ? this.redoButton : this.undoButton).click();
    else if (far && event.key.toLowerCase() === "y") this.redoButton.click();
    else if (event.key === "Escape") this.leave();
    else return;
    event.preventDefault();
  }

  stamp([i, j]) {
    if (!this.waiting) this.remember(this.open.slice());
    if (i >= 0 && j >= 0) this.anchor = [i, j, 1 - this.open[i * this.S + j]];
    this.flip(i >= 0 && j >= 0 ? [[i, j]] : this.line([i, j]));
    this.frame.announce(this.sentence(this.cursor));
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => this.hand_over(), PAUSE);
  }

  // ---- words

  sentence([i, j]) {
    const own = this.open[i * this.S + j] === this.own[i * this.S + j] ? "" : ", not the model's own";
    return `${this.rows[i]} ${this.says(i, j)} ${this.columns[j]}${own}`;
  }

  says(i, j) {
    return this.open[i * this.S + j] ? "may read" : "may not read";
  }

  lines([i, j]) {
    const theme = readTheme(this.frame.root);
    if (i < 0) return [[this.columns[j], theme[this.role("column", j)], true], ["Click: open or close the column"]];
    const row = [this.rows[i], theme[this.role("row", i)], true];
    if (j < 0) return [row, ["Click: open or close the row"]];
    const column = [this.columns[j], theme[this.role("column", j)], true];
    const own = this.open[i * this.S + j] === this.own[i * this.S + j] ? [] : [["not the model's own", theme.change]];
    return [row, [this.says(i, j)], column, ...own];
  }

  table() {
    return {
      caption: `${this.data.title} (1: may read, 0: may not)`,
      head: ["", ...this.columns],
      rows: this.rows.map((word, i) => [word, ...this.columns.map((_, j) => String(this.open[i * this.S + j]))]),
    };
  }
}

// Cells on the straight line that a fast hand jumped over.
function between([a, b], [c, d]) {
  const steps = Math.max(Math.abs(c - a), Math.abs(d - b), 1);
  return Array.from({ length: steps + 1 }, (_, n) => [Math.round(a + ((c - a) * n) / steps), Math.round(b + ((d - b) * n) / steps)]);
}

export default mount("mask_grid", MaskGrid);
