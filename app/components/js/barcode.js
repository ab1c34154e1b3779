// Barcode: the channels of two vectors and of their difference, one thin stripe each.

const [STRIPE, STRIPE_GAP, PART_GAP] = [26, 3, 16];

class Barcode {
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
    const [a, b] = [numbers(data.a), numbers(data.b)];
    this.rows = [a, b, b.map((v, k) => v - a[k])];
    this.names = [...data.names, `${data.names[1]} − ${data.names[0]}`];
    this.point = null;
    this.cursor = [0, 0];
    this.frame.title(data.title);
    this.screen.scroller.setAttribute("aria-label", `${data.title}: ${a.length} channels of two vectors. Arrow keys move.`);
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
    const names = Math.max(...this.names.map((t) => measure(t, 13, theme.mono, 600)));
    const left = Math.ceil(names) + 12;
    const longest = Math.max(...this.data.parts.map(([, start, stop]) => stop - start));
    const cw = Math.max(1, (width - left - 2) / longest);
    const many = this.data.parts.length > 1;
    const high = many ? 14 : STRIPE;
    const each = 3 * high + 4 * STRIPE_GAP + PART_GAP + (many ? 16 : 0);
    this.parts = this.data.parts.map(([symbol, start, stop], n) => ({ symbol, start, stop, y: n * each + (many ? 18 : 4) }));
    this.box = { width: left + cw * longest + 2, height: each * this.parts.length, left, cw, high, many };
  }

  // Where stripe k of a part lies: whole pixels, so that neighbours neither overlap nor leave a seam.
  span(k) {
    const { left, cw } = this.box;
    const [x0, x1] = [Math.round(left + k * cw), Math.round(left + (k + 1) * cw)];
    return [x0, Math.max(1, x1 - x0)];
  }

  shade(value) {
    const most = this.data.most;
    return Math.max(0, Math.min(255, Math.round(((value + most) / (2 * most)) * 255)));
  }

  top(part, row) {
    const { high } = this.box;
    return part.y + row * (high + STRIPE_GAP) + (row === 2 ? STRIPE_GAP : 0);
  }

  paint(surface, live = false) {
    const { theme } = surface;
    const { left, width, height, high, many } = this.box;
    surface.within(0, 0, width, height, live ? -this.screen.offset : 0, 0, () => {
      this.parts.forEach((part, p) => {
        if (many) surface.text(left, part.y - 6, part.symbol, { fill: theme.state, size: 12.5, font: theme.mono, weight: 600 });
        this.names.forEach((name, row) => {
          const y = this.top(part, row);
          surface.text(left - 8, y + high / 2 + 4.5, name, { fill: theme.state, size: 13, font: theme.mono, weight: row === 2 ? 600 : 400, align: "right" });
          for (let n = part.start; n < part.stop; n++) {
            const [x, w] = this.span(n - part.start);
            surface.rect(x, y, w, high, { fill: theme.diverging.colours[this.shade(this.rows[row][this.data.order[n]])] });
          }
        });
        if (live && this.point && this.point[0] === p) this.mark(surface, part);
      });
    });
  }

  mark(surface, part) {
    const [x, w] = this.span(this.point[1]);
    const low = this.top(part, 2) + this.box.high;
    surface.rect(x - 1.5, part.y - 1.5, w + 3, low - part.y + 3, { stroke: surface.theme.ink, line: 1.5, radius: 2 });
  }

  paintLegend() {
    const { colours } = readTheme(this.frame.root).diverging;
    const stops = [0, 64, 128, 192, 255].map((k) => colours[k]).join(",");
    const most = decimal(this.data.most, 2);
    this.legend.replaceChildren();
    make("span", "", this.legend, `−${most}`);
    make("span", "scale", this.legend).style.background = `linear-gradient(90deg,${stops})`;
    make("span", "", this.legend, most);
  }

  bind() {
    const { canvas, scroller } = this.screen;
    scroller.tabIndex = 0;
    scroller.setAttribute("role", "application");
    scroller.setAttribute("aria-roledescription", "channels of two vectors");
    canvas.addEventListener("pointermove", (e) => this.hover(e));
    canvas.addEventListener("pointerdown", (e) => this.hover(e));
    canvas.addEventListener("pointerleave", () => this.leave());
    scroller.addEventListener("keydown", (e) => this.key(e));
    scroller.addEventListener("focus", () => scroller.matches(":focus-visible") && this.go(...this.cursor));
    scroller.addEventListener("blur", () => this.leave());
  }

  hover(event) {
    const [px, y] = this.screen.point(event);
    const k = Math.floor((px + this.screen.offset - this.box.left) / this.box.cw);
    const p = this.parts.findIndex((part) => y >= part.y && y < this.top(part, 2) + this.box.high);
    const inside = p >= 0 && k >= 0 && k < this.parts[p].stop - this.parts[p].start;
    this.show(inside ? [p, k] : null);
    if (inside) this.frame.showTip(this.lines([p, k]), event.clientX, event.clientY);
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
    const [p, k] = this.cursor;
    const to = { ArrowLeft: [p, k - 1], ArrowRight: [p, k + 1], ArrowUp: [p - 1, k], ArrowDown: [p + 1, k], Home: [p, 0], End: [p, 1e6] }[event.key];
    if (event.key === "Escape") this.leave();
    else if (!to) return;
    else this.go(...to);
    event.preventDefault();
  }

  go(p, k) {
    const part = Math.max(0, Math.min(this.parts.length - 1, p));
    this.cursor = [part, Math.max(0, Math.min(this.parts[part].stop - this.parts[part].start - 1, k))];
    const { left, cw } = this.box;
    const x = left + this.cursor[1] * cw;
    this.screen.reveal(x, x + cw, left);
    this.show([...this.cursor]);
    this.frame.announce(this.lines(this.cursor).map(([text]) => text).join(", "));
  }

  lines([p, k]) {
    const part = this.parts[p];
    const n = this.data.order[part.start + k];
    const state = readTheme(this.frame.root).state;
    return [[`${part.symbol}, channel ${n - part.start + 1}`, state, true], ...this.names.map((name, row) => [`${name}: ${decimal(this.rows[row][n], 4)}`])];
  }

  table() {
    const rows = this.data.parts.flatMap(([symbol, start, stop]) =>
      Array.from({ length: stop - start }, (_, k) => {
        const n = this.data.order[start + k];
        return [`${symbol}, ${n - start + 1}`, ...this.rows.map((row) => decimal(row[n], 4))];
      })
    );
    return { caption: this.data.title, head: ["channel", ...this.names], rows };
  }
}

export default mount("barcode", Barcode);
