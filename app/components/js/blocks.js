// Blocks: each tensor drawn to scale, as many rows high and channels wide as it has; one lane a system.

const TEXT = 12.5;
const [SLOT_GAP, LANE_GAP, LAYER_GAP] = [14, 22, 4];

class Blocks {
  constructor(frame) {
    this.frame = frame;
    this.screen = new Screen(frame, this);
    this.legend = make("div", "legend", frame.extra);
    this.point = null;
    this.cursor = [0, 0];
    frame.attach(this);
    this.bind();
  }

  update(data) {
    this.data = data;
    this.lanes = data.lanes;
    this.point = null;
    this.cursor = [0, 0];
    this.frame.title(data.title);
    this.screen.scroller.setAttribute("aria-label", `${data.title}: ${this.lanes.length} systems. Arrow keys move.`);
    this.resize();
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

  size() {
    return this.box;
  }

  lay(width) {
    const theme = readTheme(this.frame.root);
    const small = width < 620;
    const left = small ? 2 : Math.min(230, width * 0.24);
    const rows = Math.max(...this.lanes.flatMap((lane) => lane.groups.map((g) => g.rows)));
    const unit = { row: Math.max(2.2, Math.min(9, 150 / rows)), channel: this.channel(width - left - 4, theme) };
    let y = 6;
    this.placed = this.lanes.map((lane) => {
      const head = small ? 24 + 17 * lane.notes.length : 0;
      const groups = this.row(lane, left, y + head + 20, unit, theme);
      const low = Math.max(...groups.map((g) => g.y + g.h + 18), y + 36 + 17 * lane.notes.length);
      const found = { title: lane.title, notes: lane.notes, x: small ? 2 : 0, y: y + (small ? 12 : 31), small, groups };
      y = low + LANE_GAP;
      return found;
    });
    this.box = { width, height: y - LANE_GAP + 6, unit };
  }

  // The widest channel for which every lane fits, each slot at least as wide as its label.
  channel(room, theme) {
    let [low, high] = [0.005, 0.75];
    const fits = (k) => this.lanes.every((lane) => this.slots(lane, k, theme).reduce((a, b) => a + b + SLOT_GAP, -SLOT_GAP) <= room);
    for (let n = 0; n < 24; n++) {
      const middle = (low + high) / 2;
      if (fits(middle)) low = middle;
      else high = middle;
    }
    return low;
  }

  slots(lane, k, theme) {
    return lane.groups.map((g) => Math.max(g.channels * k, ...this.labels(g).map((t) => measure(t, TEXT - 1, theme.mono, 600) + 2)));
  }

  labels(g) {
    return [g.symbol, g.layers > 1 ? `${g.layers} × ${g.rows}×${g.channels}` : `${g.rows}×${g.channels}`];
  }

  row(lane, left, top, unit, theme) {
    let x = left;
    const slots = this.slots(lane, unit.channel, theme);
    return lane.groups.map((g, n) => {
      const w = Math.max(2, g.channels * unit.channel);
      const one = g.rows * unit.row;
      const h = g.layers * one + (g.layers - 1) * LAYER_GAP;
      const found = { ...g, x, y: top, w, one, h, slot: slots[n] };
      x += slots[n] + SLOT_GAP;
      return found;
    });
  }

  paint(surface, live = false) {
    const { theme } = surface;
    const offset = live ? this.screen.offset : 0;
    surface.within(0, 0, this.box.width, this.box.height, -offset, 0, () => {
      this.placed.forEach((lane, i) => {
        if (i) this.rule(surface, lane.y - (lane.small ? 24 : 39));
        surface.text(lane.x, lane.y, lane.title, { fill: theme.ink, size: 14.5, font: theme.sans, weight: 600 });
        lane.notes.forEach((note, n) => surface.text(lane.x, lane.y + 17 * (n + 1), note, { fill: theme.muted, size: TEXT, font: theme.sans }));
        lane.groups.forEach((g, j) => this.group(surface, g, live && this.point && this.point[0] === i && this.point[1] === j, live));
      });
    });
  }

  rule(surface, y) {
    surface.rect(0, y, this.box.width, 1, { fill: surface.theme.line });
  }

  group(surface, g, lit, live) {
    const { theme } = surface;
    const colour = g.role === "masked" ? theme.muted : theme[g.role];
    const faint = live && this.point && !lit;
    const style = { size: TEXT, font: theme.mono, alpha: faint ? 0.6 : 1 };
    surface.text(g.x, g.y - 6, g.symbol, { ...style, fill: colour, weight: 600 });
    for (let layer = 0; layer < g.layers; layer++) this.block(surface, g, g.y + layer * (g.one + LAYER_GAP), colour, faint);
    surface.text(g.x, g.y + g.h + 14, this.labels(g)[1], { ...style, size: TEXT - 1, fill: theme.muted });
    if (lit) surface.rect(g.x - 3, g.y - 3, g.w + 6, g.h + 6, { stroke: theme.ink, line: 1.5, radius: 3 });
  }

  // Rows that can be picked one by one are drawn apart; what is one vector is one bar.
  block(surface, g, y, colour, faint) {
    const gap = g.one / g.rows >= 4 ? 1.5 : 0.6;
    const alpha = faint ? 0.45 : 0.9;
    const dash = g.trained ? undefined : [4, 3];
    for (let r = 0; r < g.rows; r++) {
      const h = g.one / g.rows - (g.rows > 1 ? gap : 0);
      if (g.trained) surface.rect(g.x, y + (r * g.one) / g.rows, g.w, h, { fill: colour, radius: Math.min(1.5, h / 3), alpha });
      else surface.rect(g.x + 0.5, y + (r * g.one) / g.rows + 0.5, g.w - 1, Math.max(2, h - 1), { stroke: colour, line: 1.2, dash, radius: 1.5, alpha });
    }
  }

  paintLegend() {
    this.legend.replaceChildren();
    const theme = readTheme(this.frame.root);
    const kinds = new Set(this.lanes.flatMap((lane) => lane.groups.map((g) => g.role)));
    const names = { source: "a row for each source piece", state: "one vector", masked: "mask" };
    for (const role of ["state", "source", "masked"]) {
      if (!kinds.has(role)) continue;
      const box = make("span", "", this.legend);
      box.style.cssText = `width:11px;height:11px;border-radius:2px;margin-left:8px;background:${role === "masked" ? theme.muted : theme[role]}`;
      make("span", "", this.legend, names[role]);
    }
  }

  bind() {
    const { canvas, scroller } = this.screen;
    scroller.tabIndex = 0;
    scroller.setAttribute("role", "application");
    scroller.setAttribute("aria-roledescription", "tensors drawn to scale");
    const hover = (e) => this.hover(e);
    canvas.addEventListener("pointermove", hover);
    canvas.addEventListener("pointerdown", hover);
    canvas.addEventListener("pointerleave", () => this.leave());
    scroller.addEventListener("keydown", (e) => this.key(e));
    scroller.addEventListener("focus", () => scroller.matches(":focus-visible") && this.go(...this.cursor));
    scroller.addEventListener("blur", () => this.leave());
  }

  hover(event) {
    const [x, y] = this.screen.point(event);
    let found = null;
    this.placed.forEach((lane, i) => lane.groups.forEach((g, j) => {
      if (x >= g.x - 2 && x < g.x + g.slot + 2 && y >= g.y - 18 && y < g.y + g.h + 18) found = [i, j];
    }));
    this.show(found);
    if (found) this.frame.showTip(this.lines(found), event.clientX, event.clientY);
    else this.frame.hideTip();
  }

  leave() {
    this.frame.hideTip();
    this.show(null);
  }

  show(point) {
    if (String(point) === String(this.point)) return;
    this.point = point;
    this.frame.root.dataset.point = point ? point.join(",") : "";
    this.screen.schedule();
  }

  key(event) {
    const [i, j] = this.cursor;
    const to = { ArrowLeft: [i, j - 1], ArrowRight: [i, j + 1], ArrowUp: [i - 1, j], ArrowDown: [i + 1, j], Home: [i, 0], End: [i, 99] }[event.key];
    if (event.key === "Escape") this.leave();
    else if (!to) return;
    else this.go(...to);
    event.preventDefault();
  }

  go(i, j) {
    const lane = Math.max(0, Math.min(this.lanes.length - 1, i));
    this.cursor = [lane, Math.max(0, Math.min(this.lanes[lane].groups.length - 1, j))];
    this.show([...this.cursor]);
    this.frame.announce([this.lanes[lane].title, ...this.lines(this.cursor).map(([text]) => text)].join(", "));
  }

  lines([i, j]) {
    const g = this.lanes[i].groups[j];
    const theme = readTheme(this.frame.root);
    return [
      [`${g.symbol}  (${g.name})`, g.role === "masked" ? theme.muted : theme[g.role], true],
      [`shape ${g.shape}${g.layers > 1 ? `, ${g.layers} layers` : ""}`],
      [g.rows > 1 || g.role !== "state" ? `${g.rows} source rows` : "no source row to pick"],
      [g.trained ? `${g.nbytes.toLocaleString("en")} bytes` : `${g.nbytes.toLocaleString("en")} bytes, not a trained width`],
    ];
  }

  table() {
    const head = ["system", "tensor", "name", "shape", "layers", "source rows", "bytes"];
    const rows = this.lanes.flatMap((lane) =>
      lane.groups.map((g) => [lane.title, g.symbol, g.name, g.shape, String(g.layers), g.role === "state" ? "0" : String(g.rows), String(g.nbytes)])
    );
    return { caption: this.data.title, head, rows };
  }
}

export default mount("blocks", Blocks);
