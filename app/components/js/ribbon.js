// Ribbon: source tokens above, target tokens below, an arc for each weight.

// [letter size, room between tokens], tried in this order until a sentence fits
const FITS = [[14, 18], [13, 15], [12, 12], [11, 9]];

class Ribbon {
  constructor(frame) {
    this.frame = frame;
    this.screen = new Screen(frame, this);
    this.point = null;
    this.cursor = [1, 0];
    frame.attach(this);
    frame.closers.push(listen(this, () => [this.data?.group, this.data?.source_group], (p, g) => this.hear(p, g)));
    this.bind();
  }

  update(data) {
    this.data = data;
    this.words = [data.columns.map(visible), data.rows.map(visible)];
    [this.T, this.S] = [data.rows.length, data.columns.length];
    this.weights = numbers(data.weights);
    this.changed = bits(data.changed_rows);
    this.cursor[1] = Math.min(this.cursor[1], this.words[this.cursor[0]].length - 1);
    if (this.point && (this.point[0] >= this.T || this.point[1] >= this.S)) this.point = null;
    this.frame.title(data.title);
    this.screen.scroller.setAttribute("aria-label", `${data.title || "Ribbon"}: arcs from ${this.S} source to ${this.T} target tokens. Arrow keys move.`);
    this.resize();
  }

  resize() {
    const { width } = this.screen;
    if (this.frame.view.hidden) this.frame.done(this.data.version, performance.now());
    if (!width) return;
    this.lay(width);
    this.screen.fit(this.box.width, this.box.height);
    this.screen.draw();
  }

  // Both sentences spread over one width: the natural one of the longer, opened up to 1.6 times if there is room.
  lay(width) {
    const font = readTheme(this.frame.root).mono;
    const limit = 150;
    let [rows, natural, size] = [[], 0, 0];
    for (const [letter, room] of FITS) {
      size = letter;
      rows = this.words.map((list) => list.map((w) => shorten(w, limit, size, font, 600)));
      natural = Math.max(...rows.map((list) => list.reduce((sum, w) => sum + measure(w, size, font, 600) + room, 0)));
      if (natural <= width) break;
    }
    const total = natural > width ? natural : Math.min(width, natural * 1.6);
    const height = Math.max(120, Math.min(190, total * 0.24));
    this.box = { width: total, height: height + 2 * (size + 14), size, top: size + 14, low: size + 14 + height };
    this.tokens = rows.map((list) => this.spread(list, total, size, font));
  }

  spread(list, total, size, font) {
    const lengths = list.map((w) => measure(w, size, font, 600));
    const slack = (total - lengths.reduce((a, b) => a + b, 0)) / list.length;
    let x = 0;
    return list.map((text, i) => {
      const box = { text, x0: x, x1: x + slack + lengths[i], x: x + slack / 2 + lengths[i] / 2 };
      x = box.x1;
      return box;
    });
  }

  size() {
    return this.box;
  }

  paint(surface, live = false) {
    const offset = live ? this.screen.offset : 0;
    surface.within(0, 0, this.box.width, this.box.height, -offset, 0, () => {
      this.paintArcs(surface, live);
      this.paintTokens(surface, live);
    });
  }

  lit(i, j) {
    if (!this.point) return null;
    const [row, column] = this.point;
    if (row >= 0 && column >= 0) return row === i && column === j ? "cell" : row === i ? "row" : null;
    return row === i || column === j ? "cell" : null;
  }

  paintArcs(surface, live) {
    const { theme } = surface;
    const { top, low } = this.box;
    const bend = (low - top) * 0.5;
    const order = [...this.weights.keys()].filter((k) => this.weights[k] >= this.data.least);
    order.sort((a, b) => this.weights[a] - this.weights[b]);
    for (const k of order) {
      const [i, j] = [Math.floor(k / this.S), k % this.S];
      const [from, to] = [this.tokens[0][j].x, this.tokens[1][i].x];
      const weight = Math.min(1, this.weights[k]);
      const lit = live ? this.lit(i, j) : null;
      const quiet = live && this.point && !lit;
      const path = `M${round(from)} ${round(top)}C${round(from)} ${round(top + bend)} ${round(to)} ${round(low - bend)} ${round(to)} ${round(low)}`;
      surface.path(path, {
        line: 0.75 + 8 * weight,
        alpha: quiet ? 0.05 : lit === "row" ? 0.35 + 0.3 * weight : lit ? 0.4 + 0.6 * weight : 0.1 + 0.75 * weight,
        fade: [top, theme.source, low, theme.target],
      });
    }
  }

  paintTokens(surface, live) {
    const { theme } = surface;
    const { top, low, size } = this.box;
    this.tokens.forEach((list, side) => {
      const y = side ? low + size + 5 : top - 9;
      list.forEach((token, n) => {
        const related = this.share(side, n);
        const on = live && this.point && this.point[side ? 0 : 1] === n;
        const faint = live && this.point && !on && related < 0.1;
        surface.text(token.x, y, token.text, {
          fill: side ? theme.target : theme.source, size, font: theme.mono, weight: on ? 600 : 400,
          align: "center", alpha: faint ? 0.45 : 1,
        });
        if (side && this.changed?.[n]) surface.rect(token.x - 8, low + size + 10, 16, 3, { fill: theme.change, radius: 1.5 });
        if (live && this.focused && this.cursor[0] === side && this.cursor[1] === n) this.ring(surface, token, y, size);
      });
    });
  }

  ring(surface, token, y, size) {
    const w = measure(token.text, size, surface.theme.mono, 600) + 10;
    surface.rect(token.x - w / 2, y - size - 1, w, size + 7, { stroke: surface.theme.primary, line: 2, radius: 4 });
  }

  // How strongly token n of one side is tied to the token now pointed at.
  share(side, n) {
    if (!this.point) return 1;
    const [row, column] = this.point;
    if (side === 0) return row >= 0 ? this.weights[row * this.S + n] : column === n ? 1 : 0;
    return row >= 0 ? (row === n ? 1 : 0) : this.weights[n * this.S + column];
  }

  bind() {
    const { canvas, scroller } = this.screen;
    scroller.tabIndex = 0;
    scroller.setAttribute("role", "application");
    scroller.setAttribute("aria-roledescription", "alignment ribbon");
    canvas.addEventListener("pointermove", (e) => this.hover(e));
    canvas.addEventListener("pointerdown", (e) => this.hover(e));
    canvas.addEventListener("pointerleave", () => this.leave());
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

  // [row, column] pointed at: one of them -1 on a token, both given on an arc
  hit(event) {
    const [px, y] = this.screen.point(event);
    const x = px + this.screen.offset;
    const { top, low } = this.box;
    const side = y < top + 4 ? 0 : y > low - 4 ? 1 : -1;
    if (side < 0) return this.arc(x, y);
    const n = this.tokens[side].findIndex((token) => x >= token.x0 && x < token.x1);
    return n < 0 ? null : side ? [n, -1] : [-1, n];
  }

  arc(x, y) {
    const { top, low } = this.box;
    const t = this.parameter((y - top) / (low - top));
    let best = null;
    let least = 7;
    this.weights.forEach((weight, k) => {
      if (weight < this.data.least) return;
      const [i, j] = [Math.floor(k / this.S), k % this.S];
      const at = this.tokens[0][j].x + (this.tokens[1][i].x - this.tokens[0][j].x) * (3 * t * t - 2 * t * t * t);
      const distance = Math.abs(at - x) - 4 * weight;
      if (distance < least) [best, least] = [[i, j], distance];
    });
    return best;
  }

  // The curve parameter at relative height v; control points lie at half height, so v = 1.5t - 1.5t^2 + t^3.
  parameter(v) {
    let [low, high] = [0, 1];
    for (let n = 0; n < 20; n++) {
      const t = (low + high) / 2;
      if (1.5 * t - 1.5 * t * t + t * t * t < v) low = t;
      else high = t;
    }
    return low;
  }

  hover(event) {
    const point = this.hit(event);
    if (point) this.frame.showTip(this.lines(point), event.clientX, event.clientY);
    else this.frame.hideTip();
    this.show(point);
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

  key(event) {
    const [side, n] = this.cursor;
    const last = (s) => this.words[s].length - 1;
    const to = {
      ArrowLeft: [side, n - 1], ArrowRight: [side, n + 1], Home: [side, 0], End: [side, last(side)],
      ArrowUp: [0, Math.round((n / Math.max(1, last(side))) * last(0))],
      ArrowDown: [1, Math.round((n / Math.max(1, last(side))) * last(1))],
    }[event.key];
    if (event.key === "Escape") this.leave();
    else if (!to) return;
    else if (!(event.key === "ArrowUp" && side === 0) && !(event.key === "ArrowDown" && side === 1)) this.go(...to);
    event.preventDefault();
  }

  go(side, n) {
    this.focused = true;
    this.cursor = [side, Math.max(0, Math.min(this.words[side].length - 1, n))];
    const token = this.tokens[side][this.cursor[1]];
    this.screen.reveal(token.x0, token.x1);
    this.show(side ? [this.cursor[1], -1] : [-1, this.cursor[1]]);
    this.frame.announce(this.lines(this.point).map(([text]) => text).join(", "));
    this.screen.schedule();
  }

  // The token pointed at and its strongest partners.
  lines([i, j]) {
    const theme = readTheme(this.frame.root);
    const [source, target] = this.words;
    const weight = (k) => `${this.data.value} ${decimal(this.weights[k], 3)}`;
    if (i >= 0 && j >= 0)
      return [[target[i], theme.target, true], [source[j], theme.source, true], [weight(i * this.S + j)]];
    const own = i >= 0 ? [target[i], theme.target, true] : [source[j], theme.source, true];
    const others = i >= 0 ? source.map((w, n) => [w, i * this.S + n]) : target.map((w, n) => [w, n * this.S + j]);
    others.sort((a, b) => this.weights[b[1]] - this.weights[a[1]]);
    return [own, ...others.slice(0, 3).map(([word, k]) => [`${word}  ${decimal(this.weights[k], 3)}`])];
  }

  table() {
    const [source, target] = this.words;
    return {
      caption: `${this.data.title || "Ribbon"} (${this.data.value})`,
      head: ["", ...source],
      rows: target.map((word, i) => [word, ...source.map((_, j) => decimal(this.weights[i * this.S + j], 4))]),
    };
  }
}

export default mount("ribbon", Ribbon);
