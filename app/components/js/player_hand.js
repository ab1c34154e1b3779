// The hand on the player: play, pause, scrub, keys, linked pictures. Nothing here reruns the script.

const still = window.matchMedia("(prefers-reduced-motion: reduce)");

Object.assign(Player.prototype, {
  build() {
    const { canvas, scroller } = this.screen;
    scroller.tabIndex = 0;
    scroller.setAttribute("role", "img");
    this.note = make("div", "note", this.frame.view);
    const bar = make("div", "controls", this.frame.view);
    const button = (text, label, action) => {
      const element = make("button", "control", bar, text);
      element.type = "button";
      element.setAttribute("aria-label", label);
      element.title = label;
      element.addEventListener("click", action);
      return element;
    };
    button("⏮", "Previous output step", () => this.hold(() => this.jump(-1)));
    button("◀", "Previous operation", () => this.hold(() => this.go(this.at - 1)));
    this.playButton = button("▶ Play", "Play", () => this.toggle());
    this.playButton.classList.add("main");
    button("▶", "Next operation", () => this.hold(() => this.go(this.at + 1)));
    button("⏭", "Next output step", () => this.hold(() => this.jump(1)));
    this.slider = make("input", "scrub", bar);
    Object.assign(this.slider, { type: "range", min: 0, step: 1 });
    this.slider.setAttribute("aria-label", "Operation");
    this.slider.addEventListener("input", () => this.hold(() => this.go(Number(this.slider.value))));
    this.pace = make("select", "pace", bar);
    this.pace.setAttribute("aria-label", "Speed");
    for (const [text, value] of [["0.5×", 2], ["1×", 1], ["2×", 0.5], ["4×", 0.25]]) make("option", "", this.pace, text).value = value;
    this.pace.value = 1;
    this.frame.view.addEventListener("keydown", (e) => this.key(e));
    canvas.addEventListener("pointermove", (e) => this.hover(e));
    canvas.addEventListener("pointerleave", () => this.leave());
    canvas.addEventListener("click", (e) => this.click(e));
  },

  dressControls() {
    this.slider.max = this.last;
    this.write();
  },

  write() {
    const stage = this.stages[this.stage];
    const where = `Step ${this.step + 1} of ${this.T}`;
    this.slider.value = this.at;
    this.slider.setAttribute("aria-valuetext", `${where}: ${plain(stage.symbol)}, ${stage.label}`);
    this.screen.scroller.setAttribute("aria-label", `${this.data.title || "Step player"}. ${this.summary()}`);
    this.note.replaceChildren();
    make("span", "where", this.note, where);
    const symbol = make("span", "symbol", this.note);
    formulaHtml(symbol, stage.symbol);
    symbol.style.color = `var(--${stage.role})`;
    make("span", "", this.note, stage.label);
    if (stage.equation) formulaHtml(make("span", "equation", this.note), stage.equation);
    Object.assign(this.frame.root.dataset, { step: this.step, stage: stage.id, at: this.at });
  },

  summary() {
    const stage = this.stages[this.stage];
    const said = stage.kind === "token" ? `${this.target[this.step]}, probability ${Math.exp(this.data.log_probs[this.step]).toFixed(3)}` : "";
    const row = Array.from(this.weights.subarray(this.step * this.S, (this.step + 1) * this.S));
    const best = row.indexOf(Math.max(...row));
    const read = stage.kind === "weights" ? `largest weight ${decimal(row[best], 3)} on ${this.source[best]}` : "";
    const norm = stage.norms ? `norm ${decimal(stage.norms[this.step], 3)}` : "";
    return [`Step ${this.step + 1}`, plain(stage.symbol), stage.label, said, read, norm].filter(Boolean).join(", ");
  },

  hold(action) {
    this.stop();
    action();
    this.frame.announce(this.summary());
  },

  go(at, animate = false) {
    this.at = Math.max(0, Math.min(this.last, at));
    this.shown = 1;
    this.write();
    say(this, this.data.group, [this.step, -1]);
    if (animate && !still.matches) this.animate();
    else this.screen.schedule();
  },

  jump(steps) {
    const inside = this.at % this.run.length;
    const to = steps < 0 && inside ? this.step : this.step + steps;
    this.go(Math.max(0, Math.min(this.T - 1, to)) * this.run.length);
  },

  animate() {
    const began = performance.now();
    const length = 380 * Number(this.pace.value);
    const turn = (this.turning = (this.turning || 0) + 1);
    const frame = (now) => {
      if (turn !== this.turning) return;
      this.shown = Math.min(1, Math.max(0, (now - began) / length));
      this.screen.schedule();
      if (this.shown < 1) requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  },

  toggle() {
    if (this.timer) return this.stop();
    if (this.at >= this.last) this.at = -1;
    this.playButton.textContent = "❚❚ Pause";
    this.playButton.setAttribute("aria-label", "Pause");
    this.playButton.title = "Pause";
    this.tick();
  },

  tick() {
    if (this.at >= this.last) return this.stop();
    this.go(this.at + 1, true);
    this.timer = setTimeout(() => this.tick(), this.data.pace * Number(this.pace.value));
  },

  stop() {
    clearTimeout(this.timer);
    this.timer = 0;
    this.turning = (this.turning || 0) + 1;
    this.shown = 1;
    if (!this.playButton) return;
    this.playButton.textContent = "▶ Play";
    this.playButton.setAttribute("aria-label", "Play");
    this.playButton.title = "Play";
  },

  key(event) {
    const inForm = event.composedPath().some((e) => e === this.pace || e === this.slider);
    const onButton = event.composedPath()[0].tagName === "BUTTON";
    const { key, shiftKey } = event;
    if (key === " " && !onButton && event.composedPath()[0] !== this.pace) this.toggle();
    else if (inForm) return;
    else if (key === "ArrowRight") this.hold(() => (shiftKey ? this.jump(1) : this.go(this.at + 1)));
    else if (key === "ArrowLeft") this.hold(() => (shiftKey ? this.jump(-1) : this.go(this.at - 1)));
    else if (key === "Home") this.hold(() => this.go(0));
    else if (key === "End") this.hold(() => this.go(this.last));
    else return;
    event.preventDefault();
  },

  hit(event) {
    const [x, y] = this.screen.point(event);
    const inside = (p, w, h) => x >= p.x && x < p.x + w && y >= p.y && y < p.y + h;
    const token = this.lines.findIndex((line) => inside(line, line.width, ROW));
    if (token >= 0) return { token };
    const stage = this.places.findIndex((place) => inside(place, this.wide, BOX.height));
    if (stage >= 0) return { stage };
    const column = Math.floor((x + this.screen.offset - this.axis.x) / this.axis.slot);
    const onAxis = y < this.axis.top + AXIS.bars + AXIS.square + 6 && column >= 0 && column < this.S;
    return onAxis ? { column } : {};
  },

  hover(event) {
    const { token, stage, column } = this.hit(event);
    const lines = column !== undefined ? this.columnLines(column) : stage !== undefined ? this.stageLines(stage) : null;
    if (lines) this.frame.showTip(lines, event.clientX, event.clientY);
    else this.frame.hideTip();
    this.screen.canvas.style.cursor = token !== undefined ? "pointer" : "default";
    this.mark(column === undefined ? null : [this.step, column]);
  },

  click(event) {
    const { token, stage } = this.hit(event);
    if (token !== undefined) this.hold(() => this.go(token * this.run.length));
    const order = this.run.indexOf(stage);
    if (order >= 0) this.hold(() => this.go(this.step * this.run.length + order));
  },

  columnLines(j) {
    const theme = readTheme(this.frame.root);
    const k = this.step * this.S + j;
    const lines = [[this.source[j], theme.source, true], [`weight ${decimal(this.weights[k], 4)}`]];
    if (this.scores) lines.push([`score ${decimal(this.scores[k], 3)}`]);
    return lines;
  },

  stageLines(k) {
    const stage = this.stages[k];
    const lines = [[plain(stage.symbol), readTheme(this.frame.root)[stage.role], true], [stage.label]];
    if (stage.shape) lines.push([`shape ${stage.shape}`]);
    if (stage.norms && this.done(k)) lines.push([`norm ${decimal(stage.norms[this.step], 3)}`]);
    if (stage.kind === "token" && this.done(k)) lines.push([`p = ${Math.exp(this.data.log_probs[this.step]).toFixed(3)}`]);
    return lines;
  },

  mark(point) {
    if (String(point) === String(this.point)) return;
    this.point = point;
    this.screen.schedule();
    say(this, this.data.group, point);
    say(this, this.data.source_group, point && [-1, point[1]]);
  },

  leave() {
    this.frame.hideTip();
    this.mark(null);
    say(this, this.data?.group, null);
  },

  hear(point) {
    this.point = point && point[1] >= 0 && point[1] < this.S ? point : null;
    this.screen.schedule();
  },

  table() {
    const norms = this.stages.filter((s) => s.norms);
    const head = ["step", "token", "probability", ...norms.map((s) => `norm ${plain(s.symbol)}`), ...this.source.map((w) => `weight ${w}`)];
    const rows = this.target.map((word, t) => [
      String(t + 1), word, Math.exp(this.data.log_probs[t]).toFixed(4), ...norms.map((s) => decimal(s.norms[t], 3)),
      ...this.source.map((_, j) => decimal(this.weights[t * this.S + j], 4)),
    ]);
    return { caption: this.data.title || "Steps", head, rows };
  },
});

export default mount("step_player", Player);
