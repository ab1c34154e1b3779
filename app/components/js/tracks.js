// Tracks: curves over shared positions, one track under the other; the drawn one follows the hand.

const [TRACK, DRAWN, HEAD, FOOT, BETWEEN] = [84, 112, 18, 22, 12];

class Tracks {
  constructor(frame) {
    this.frame = frame;
    this.screen = new Screen(frame, this);
    this.point = null;
    this.cursor = 0;
    this.commit = 0;
    frame.attach(this);
    this.bind();
  }

  update(data) {
    // An echo older than what the hand did last must not undo it.
    const held = this.data && (this.drawing || data.commit < this.commit) ? this.own() : null;
    this.data = data;
    this.n = data.labels.length;
    this.labels = data.labels.map(visible);
    this.tracks = data.tracks.map((t) => ({ ...t, curves: t.curves.map((c) => ({ ...c, values: numbers(c.values) })) }));
    this.hand = this.tracks.find((t) => t.drawn);
    if (held && this.hand && held.length === this.n) this.hand.curves[0].values = held;
    this.point = null;
    this.cursor = Math.min(this.cursor, this.n - 1);
    this.frame.title(data.title);
    const how = this.hand ? " Left and right move, up and down change the value." : " Left and right move.";
    this.screen.scroller.setAttribute("aria-label", `${data.title}: ${this.n} positions, ${this.tracks.length} tracks.${how}`);
    this.screen.canvas.style.touchAction = this.hand ? "pan-y" : "";
    this.resize();
  }

  own() {
    return this.hand?.curves[0].values;
  }

  resize() {
    const { width } = this.screen;
    if (this.frame.view.hidden) this.frame.done(this.data.version, performance.now());
    if (!width) return;
    this.lay(width);
    this.screen.fit(this.box.width, this.box.height);
    this.screen.draw();
  }

  lay(width) {
    const left = 52;
    const step = Math.max(5, (width - left - 10) / this.n);
    let y = 2;
    this.tracks.forEach((t) => {
      t.high = t.drawn ? DRAWN : TRACK;
      t.y = y + HEAD;
      y = t.y + t.high + BETWEEN;
    });
    this.box = { width: left + step * this.n + 8, height: y + FOOT, left, step };
  }

  size() {
    return this.box;
  }

  x(k) {
    return this.box.left + (k + 0.5) * this.box.step;
  }

  y(track, value) {
    const [low, high] = track.limits;
    const share = (Math.max(low, Math.min(high, value)) - low) / (high - low);
    return track.y + track.high * (1 - share);
  }

  paint(surface, live = false) {
    const { width, height, left } = this.box;
    surface.within(0, 0, width, height, live ? -this.screen.offset : 0, 0, () => {
      if (live && this.point !== null) this.paintPoint(surface);
      this.tracks.forEach((track) => this.paintTrack(surface, track));
      this.paintPositions(surface);
    });
    this.tracks.forEach((track) => this.paintScale(surface, track, left, live));
  }

  paintPoint(surface) {
    const last = this.tracks.at(-1);
    const { step } = this.box;
    const top = this.tracks[0].y;
    surface.rect(this.x(this.point) - step / 2, top, step, last.y + last.high - top, { fill: surface.theme.line, alpha: 0.6 });
  }

  colour(theme, role) {
    return theme[role];
  }

  paintTrack(surface, track) {
    const { theme } = surface;
    const { left, step } = this.box;
    const right = left + step * this.n;
    const zero = this.y(track, 0);
    surface.rect(left, track.y, right - left, track.high, { stroke: theme.line, radius: 3 });
    surface.path(`M${left} ${zero}H${right}`, { stroke: theme.maskLine, line: 1 });
    this.paintHead(surface, track);
    track.curves.forEach((curve) => this.paintCurve(surface, track, curve, zero));
  }

  paintHead(surface, track) {
    const { theme } = surface;
    let x = this.box.left;
    const y = track.y - 5;
    surface.text(x, y, track.title, { fill: theme.ink, size: 12.5, font: theme.sans, weight: 600 });
    x += measure(track.title, 12.5, theme.sans, 600) + 14;
    if (track.curves.length < 2) return;
    track.curves.forEach((curve) => {
      const fill = this.colour(theme, curve.role);
      if (curve.style === "dot") surface.rect(x, y - 9, 8, 8, { stroke: fill, line: 1.5, radius: 4 });
      else surface.path(`M${x} ${y - 4}h10`, { stroke: fill, line: 2.4 });
      surface.text(x + 14, y, curve.name, { fill, size: 12, font: theme.sans });
      x += 14 + measure(curve.name, 12, theme.sans) + 14;
    });
  }

  paintCurve(surface, track, { values, role, style }, zero) {
    const stroke = this.colour(surface.theme, role);
    const at = Array.from(values, (v, k) => [this.x(k), this.y(track, v)]);
    if (style === "line") surface.path("M" + at.map(([x, y]) => `${round(x)} ${round(y)}`).join("L"), { stroke, line: 2 });
    const size = Math.max(2, Math.min(4, this.box.step * 0.3));
    if (style === "stem") at.forEach(([x, y]) => surface.path(`M${round(x)} ${round(zero)}V${round(y)}`, { stroke, line: Math.max(1.5, size * 0.8) }));
    if (style === "stem" && this.box.step > 7) at.forEach(([x, y]) => surface.rect(x - size, y - size, 2 * size, 2 * size, { fill: stroke, radius: size }));
    if (style === "dot") at.forEach(([x, y]) => surface.rect(x - size - 1, y - size - 1, 2 * size + 2, 2 * size + 2, { stroke, line: 1.6, radius: size + 1 }));
  }

  paintScale(surface, track, left, live) {
    const { theme } = surface;
    if (live && this.screen.offset > 0) surface.rect(0, track.y - 2, left - 2, track.high + 4, { fill: theme.bg });
    const style = { fill: theme.muted, size: 11, font: theme.sans, align: "right" };
    const digits = Math.max(...track.limits.map(Math.abs)) < 0.1 ? 3 : 2;
    surface.text(left - 6, track.y + 9, decimal(track.limits[1], digits), style);
    surface.text(left - 6, track.y + track.high - 1, decimal(track.limits[0], digits), style);
  }

  paintPositions(surface) {
    const { theme } = surface;
    const y = this.tracks.at(-1).y + this.tracks.at(-1).high + 15;
    const wide = Math.max(...this.labels.map((t) => measure(t, 11, theme.mono))) + 8;
    const every = Math.ceil(wide / this.box.step);
    for (let k = 0; k < this.n; k += every)
      surface.text(this.x(k), y, this.labels[k], { fill: theme.muted, size: 11, font: theme.mono, align: "center" });
  }

  bind() {
    const { canvas, scroller } = this.screen;
    scroller.tabIndex = 0;
    scroller.setAttribute("role", "application");
    scroller.setAttribute("aria-roledescription", "curves over positions");
    canvas.addEventListener("pointerdown", (e) => this.press(e));
    canvas.addEventListener("pointermove", (e) => this.move(e));
    canvas.addEventListener("pointerup", () => this.release());
    canvas.addEventListener("pointercancel", () => this.release());
    canvas.addEventListener("pointerleave", () => this.drawing || this.leave());
    scroller.addEventListener("keydown", (e) => this.key(e));
    scroller.addEventListener("focus", () => scroller.matches(":focus-visible") && this.go(this.cursor));
    scroller.addEventListener("blur", () => this.leave());
  }

  hit(event) {
    const [px, y] = this.screen.point(event);
    const k = Math.floor((px + this.screen.offset - this.box.left) / this.box.step);
    return [k >= 0 && k < this.n ? k : null, y];
  }

  press(event) {
    const [k, y] = this.hit(event);
    const track = this.hand;
    if (!track || k === null || y < track.y - 6 || y > track.y + track.high + 6) return this.move(event);
    this.screen.canvas.setPointerCapture(event.pointerId);
    this.drawing = [k, y];
    this.frame.hideTip();
    this.stroke(k, y);
  }

  move(event) {
    const [k, y] = this.hit(event);
    if (this.drawing) return k === null ? undefined : this.stroke(k, y);
    this.show(k);
    if (k === null) this.frame.hideTip();
    else this.frame.showTip(this.lines(k), event.clientX, event.clientY);
  }

  // Positions that a fast hand jumped over get values on the straight line.
  stroke(k, y) {
    const [from, before] = this.drawing;
    const [low, high] = this.hand.limits;
    const value = (at) => low + (high - low) * Math.max(0, Math.min(1, 1 - (at - this.hand.y) / this.hand.high));
    const steps = Math.abs(k - from);
    for (let s = 0; s <= steps; s++) {
      const share = steps ? s / steps : 1;
      this.own()[from + Math.sign(k - from) * s] = Math.round(value(before + (y - before) * share) * 100) / 100;
    }
    this.drawing = [k, y];
    this.screen.schedule();
  }

  release() {
    if (!this.drawing) return;
    this.drawing = null;
    this.hand_over();
  }

  hand_over() {
    this.commit += 1;
    this.send({ commit: this.commit, values: Array.from(this.own(), (v) => Math.round(v * 100)) });
  }

  key(event) {
    const to = { ArrowLeft: this.cursor - 1, ArrowRight: this.cursor + 1, Home: 0, End: this.n - 1 }[event.key];
    const by = { ArrowUp: 0.1, ArrowDown: -0.1 }[event.key];
    if (event.key === "Escape") this.leave();
    else if (to !== undefined) this.go(Math.max(0, Math.min(this.n - 1, to)));
    else if (by && this.hand) this.nudge(by);
    else return;
    event.preventDefault();
  }

  nudge(by) {
    const [low, high] = this.hand.limits;
    const values = this.own();
    values[this.cursor] = Math.max(low, Math.min(high, Math.round((values[this.cursor] + by) * 100) / 100));
    this.go(this.cursor);
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => this.hand_over(), 350);
  }

  go(k) {
    this.cursor = k;
    this.screen.reveal(this.x(k) - this.box.step, this.x(k) + this.box.step, this.box.left);
    this.show(k);
    this.screen.schedule();
    this.frame.announce(this.lines(k).map(([text]) => text).join(", "));
  }

  leave() {
    this.frame.hideTip();
    this.show(null);
  }

  show(k) {
    if (k === this.point) return;
    this.point = k;
    this.screen.schedule();
  }

  lines(k) {
    const theme = readTheme(this.frame.root);
    const every = this.tracks.flatMap((t) => t.curves.map((c) => [`${c.name}: ${decimal(c.values[k], 4)}`, this.colour(theme, c.role)]));
    return [[`${this.data.position} ${this.labels[k]}`, theme.ink, true], ...every];
  }

  table() {
    const curves = this.tracks.flatMap((t) => t.curves);
    return {
      caption: this.data.title,
      head: [this.data.position, ...curves.map((c) => c.name)],
      rows: this.labels.map((label, k) => [label, ...curves.map((c) => decimal(c.values[k], 4))]),
    };
  }
}

export default mount("tracks", Tracks);
