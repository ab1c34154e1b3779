// The hand on a lattice: cones under the pointer, the keyboard, a field that grows. Only a chosen output reruns.

Object.assign(Lattice.prototype, {
  build() {
    const { canvas, scroller } = this.screen;
    scroller.tabIndex = 0;
    scroller.setAttribute("role", "application");
    scroller.setAttribute("aria-roledescription", "lattice of layers and positions");
    this.note = make("div", "picture-note", this.frame.view);
    this.buildControls(make("div", "controls", this.frame.view));
    this.buildLegend();
    canvas.addEventListener("pointermove", (e) => this.hover(e));
    canvas.addEventListener("pointerleave", () => this.leave());
    canvas.addEventListener("click", (e) => this.click(e));
    scroller.addEventListener("keydown", (e) => this.key(e));
    scroller.addEventListener("focus", () => scroller.matches(":focus-visible") && this.go(...this.place()));
    scroller.addEventListener("blur", () => this.leave());
  },

  buildControls(bar) {
    const button = (text, label, action) => {
      const element = make("button", "control", bar, text);
      element.type = "button";
      element.setAttribute("aria-label", label);
      element.title = label;
      element.addEventListener("click", action);
      return element;
    };
    button("◀", "One layer less", () => this.hold(this.depth - 1));
    this.playButton = button("▶ Play", "Grow the field layer by layer", () => this.toggle());
    this.playButton.classList.add("main");
    button("▶", "One layer more", () => this.hold(this.depth + 1));
    this.slider = make("input", "scrub", bar);
    Object.assign(this.slider, { type: "range", min: 0, step: 1 });
    this.slider.setAttribute("aria-label", "Layers");
    this.slider.addEventListener("input", () => this.hold(Number(this.slider.value)));
    button("−", "Zoom out", () => this.magnify(0.5));
    button("+", "Zoom in", () => this.magnify(2));
  },

  buildLegend() {
    const legend = make("div", "legend", this.frame.extra);
    for (const [kind, text] of [
      ["edge chosen", "field of the output"], ["hole", "in the span, not reached"], ["edge reads", "reads"], ["edge read-by", "is read by"],
    ])
      make("span", `key ${kind}`, legend, text);
  },

  write() {
    const { level, count, span, holes, first, last } = this.field;
    const layers = level === 1 ? "1 layer" : `${level} layers`;
    const missing = holes.length ? `, ${holes.length} not reached` : "";
    const text = `${count} input position${count === 1 ? "" : "s"} in a span of ${span} (${first} to ${last})${missing}`;
    this.slider.max = this.graph.depth;
    this.slider.value = level;
    this.slider.setAttribute("aria-valuetext", `${layers}: ${text}`);
    this.note.replaceChildren();
    make("b", "", this.note, `After ${layers}: `);
    this.note.append(text + (this.cut() ? "; the field reaches over the edge" : "") + ".");
    const shared = this.group > 1 ? ` One place stands for ${this.group} positions.` : "";
    this.note.append(shared);
    this.screen.scroller.setAttribute(
      "aria-label",
      `${this.data.title}: ${this.graph.depth} layers, ${this.positions} positions.${shared} Arrow keys move, Enter chooses an output, space grows the field. ${text}`
    );
    Object.assign(this.frame.root.dataset, { depth: level, reached: count, span, holes: holes.length, output: this.output });
  },

  // Whether the field would reach over an edge of the given rows.
  cut() {
    const { sets, level } = this.field;
    for (let l = level; l > 0; l--) {
      const { offsets, stride } = this.data.layers[l - 1];
      const [low, high] = [sets[l].indexOf(1), sets[l].lastIndexOf(1)];
      if (low >= 0 && (low * stride + offsets[0] < 0 || high * stride + offsets.at(-1) >= this.graph.counts[l - 1])) return true;
    }
    return false;
  },

  hold(level) {
    this.stop();
    this.grow(level);
    this.frame.announce(this.note.textContent);
  },

  grow(level) {
    this.depth = Math.max(0, Math.min(this.graph.depth, level));
    this.field = this.fieldAt(this.depth);
    this.write();
    this.screen.schedule();
  },

  toggle() {
    if (this.timer) return this.stop();
    if (this.depth >= this.graph.depth) this.grow(0);
    this.named("❚❚ Pause", "Pause");
    this.timer = setTimeout(() => this.tick(), this.data.pace);
  },

  tick() {
    this.grow(this.depth + 1);
    if (this.depth >= this.graph.depth) return this.stop();
    this.timer = setTimeout(() => this.tick(), this.data.pace);
  },

  stop() {
    clearTimeout(this.timer);
    this.timer = 0;
    if (this.playButton) this.named("▶ Play", "Grow the field layer by layer");
  },

  named(text, label) {
    this.playButton.textContent = text;
    this.playButton.setAttribute("aria-label", label);
    this.playButton.title = label;
  },

  magnify(by) {
    const middle = (this.screen.offset + this.screen.shown / 2 - this.box.left) / (this.box.step * this.bins);
    this.zoom = Math.max(1, Math.min(64, this.zoom * by));
    this.resize();
    const at = this.box.left + middle * this.box.step * this.bins;
    this.screen.scroller.scrollLeft = (at - this.screen.shown / 2) * this.screen.scale;
  },

  hit(event) {
    const [x, y] = this.screen.point(event);
    const { left, step, high, bottom } = this.box;
    const level = Math.round((bottom - y) / high);
    const bin = Math.floor((x + this.screen.offset - left) / step);
    const near = Math.abs(this.y(level) - y) <= Math.min(high / 2, 16);
    const known = near && x >= left - 2 && level >= 0 && level <= this.graph.depth && bin >= 0 && bin < this.bins;
    return known && this.inside(level, bin).length ? [level, bin] : null;
  },

  hover(event) {
    const point = this.hit(event);
    this.screen.canvas.style.cursor = point && this.data.chooses ? "pointer" : "default";
    this.show(point);
    if (point) this.frame.showTip(this.lines(), event.clientX, event.clientY);
    else this.frame.hideTip();
  },

  show(point) {
    if (String(point) === String(this.point)) return;
    this.point = point;
    this.frame.root.dataset.point = point ? point.join(",") : "";
    this.screen.schedule();
  },

  leave() {
    this.frame.hideTip();
    this.show(null);
  },

  click(event) {
    const point = this.hit(event);
    if (!point) return;
    this.cursor = point;
    this.choose(point);
  },

  // Any row stands under an output: that one is chosen.
  choose([level, bin]) {
    if (!this.data.chooses) return;
    const place = this.graph.place(level, this.inside(level, bin)[0]);
    const top = this.graph.depth;
    this.output = Math.min(this.graph.counts[top] - 1, Math.floor(place / this.graph.scale[top]));
    this.commit += 1;
    this.grow(this.depth);
    this.frame.announce(`Output ${this.output} chosen. ${this.note.textContent}`);
    this.send({ commit: this.commit, output: this.output });
  },

  place() {
    return this.cursor || [this.graph.depth, this.bin(this.graph.depth, this.output)];
  },

  key(event) {
    const [level, bin] = this.place();
    const to = {
      ArrowUp: [level + 1, bin], ArrowDown: [level - 1, bin], ArrowLeft: [level, bin - 1], ArrowRight: [level, bin + 1],
      Home: [level, 0], End: [level, this.bins - 1],
    }[event.key];
    if (to) this.go(...to);
    else if (event.key === "Enter") this.choose(this.place());
    else if (event.key === " ") this.toggle();
    else if (event.key === "PageUp") this.hold(this.depth + 1);
    else if (event.key === "PageDown") this.hold(this.depth - 1);
    else if (event.key === "Escape") this.leave();
    else return;
    event.preventDefault();
  },

  // The nearest place that has a row (strides leave some empty).
  go(level, bin) {
    const [l, last] = [Math.max(0, Math.min(this.graph.depth, level)), this.bins - 1];
    let b = Math.max(0, Math.min(last, bin));
    const by = this.cursor && bin > this.cursor[1] ? 1 : -1;
    while (b > 0 && b < last && !this.inside(l, b).length) b += by;
    while (b > 0 && !this.inside(l, b).length) b -= 1;
    this.cursor = [l, b];
    this.screen.reveal(this.x(b) - this.box.step, this.x(b) + this.box.step, this.box.left);
    this.show(this.cursor);
    this.frame.announce(this.lines().map(([text]) => text).join(", "));
  },

  lines() {
    const theme = readTheme(this.frame.root);
    const { level, rows, down, up } = this.cones();
    const name = rows.length > 1 ? `rows ${rows[0]} to ${rows.at(-1)}` : `row ${rows[0]}`;
    const lines = [[`${level ? `layer ${level}` : "input"}, ${name}`, theme.ink, true]];
    const seen = extent(down[0]);
    if (level) lines.push([`reads ${seen.count} input positions, ${ranges([...down[0].keys()].filter((k) => down[0][k]), 4)}`, theme.source]);
    const readers = up[this.graph.depth].reduce((sum, on) => sum + on, 0);
    if (level < this.graph.depth) lines.push([`is read by ${readers} of ${this.graph.counts.at(-1)} outputs`, theme.target]);
    const holes = level ? 0 : rows.filter((row) => this.field.holes.includes(row)).length;
    const some = rows.length > 1 ? `${holes} of them ` : "";
    if (holes) lines.push([`${some}in the span of the output, not reached`, theme.change]);
    return lines;
  },

  table() {
    const rows = Array.from({ length: this.graph.depth + 1 }, (_, level) => {
      const { row, sets, count, span, holes } = this.fieldAt(level);
      const reached = ranges([...sets[0].keys()].filter((k) => sets[0][k]), 24);
      return [level ? `${level} ${this.data.layers[level - 1].told}` : "input", `${row}`, `${count}`, `${span}`, `${holes.length}`, reached];
    });
    return { caption: `${this.data.title}, output ${this.output}`, head: ["layer", "row", "reached", "span", "holes", "input positions"], rows };
  },
});

export default mount("lattice", Lattice);
