// Heads: one small map a head over the same rows and columns, all on one canvas; one of them is chosen.

const [HEAD_GAP, HEAD_TITLE, HEAD_LEAST, HEAD_MOST] = [14, 20, 3, 14];

class Heads {
  constructor(frame) {
    this.frame = frame;
    this.screen = new Screen(frame, this);
    [this.point, this.chosen, this.commit, this.cursor] = [null, null, 0, 0];
    const list = this.screen.scroller;
    list.tabIndex = 0;
    list.setAttribute("role", "listbox");
    this.option = make("div", "hidden", list);
    this.option.setAttribute("role", "option");
    this.option.id = "option";
    list.setAttribute("aria-activedescendant", "option");
    frame.attach(this);
    frame.closers.push(listen(this, () => [this.data?.group], (p) => this.show(p && p[0] >= 0 && p[1] >= 0 ? p : null)));
    this.bind();
  }

  update(data) {
    this.data = data;
    [this.T, this.S, this.H] = [data.rows.length, data.columns.length, data.heads];
    [this.rows, this.columns] = [data.rows.map(visible), data.columns.map(visible)];
    this.weights = numbers(data.weights);
    this.mask = bits(data.mask);
    if (data.commit >= this.commit) [this.commit, this.chosen] = [data.commit, data.chosen];
    this.cursor = this.chosen ?? Math.min(this.cursor, this.H - 1);
    this.point = null;
    this.frame.title(data.title);
    this.frame.root.dataset.chosen = this.chosen ?? "";
    const told = `${data.title}: ${this.H} heads, ${this.T} rows, ${this.S} columns. Left and right move, Enter chooses.`;
    this.screen.scroller.setAttribute("aria-label", told);
    this.say(this.cursor);
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

  // As many side by side as gives the largest cells that the width and a fair height allow.
  lay(width) {
    let best = null;
    for (let across = 1; across <= this.H; across++) {
      const down = Math.ceil(this.H / across);
      const wide = (width - 10 - (across - 1) * HEAD_GAP) / across / this.S;
      const cell = Math.max(HEAD_LEAST, Math.min(HEAD_MOST, wide, 420 / down / this.T));
      if (!best || cell > best.cell + 0.01) best = { across, down, cell };
    }
    const [w, h] = [best.cell * this.S, best.cell * this.T];
    const total = [best.across * (w + HEAD_GAP) - HEAD_GAP + 10, best.down * (h + HEAD_TITLE + 8) + 4];
    this.box = { ...best, w, h, width: total[0], height: total[1] };
  }

  size() {
    return this.box;
  }

  place(n) {
    const { across, w, h } = this.box;
    return [5 + (n % across) * (w + HEAD_GAP), Math.floor(n / across) * (h + HEAD_TITLE + 8) + HEAD_TITLE];
  }

  paint(surface, live = false) {
    const { width, height } = this.box;
    surface.within(0, 0, live ? this.screen.shown : width, height, live ? -this.screen.offset : 0, 0, () => {
      for (let n = 0; n < this.H; n++) this.paintHead(surface, n, live);
    });
  }

  paintHead(surface, n, live) {
    const { theme } = surface;
    const { cell, w, h } = this.box;
    const [x, y] = this.place(n);
    const on = n === this.chosen;
    const ink = { size: 12, font: theme.sans, fill: on ? theme.ink : theme.muted, weight: on ? 650 : 400 };
    surface.text(x, y - 6, this.data.names[n], ink);
    surface.rect(x, y, w, h, { fill: theme.mask });
    for (let k = 0; k < this.T * this.S; k++) {
      if (this.mask?.[k]) continue;
      const shade = Math.round(Math.max(0, Math.min(1, this.weights[n * this.T * this.S + k])) * 255);
      const [i, j] = [Math.floor(k / this.S), k % this.S];
      surface.rect(x + j * cell, y + i * cell, cell + 0.3, cell + 0.3, { fill: theme.sequential.colours[shade] });
    }
    if (on) surface.rect(x - 1.5, y - 1.5, w + 3, h + 3, { stroke: theme.primary, line: 2, radius: 3 });
    else surface.rect(x, y, w, h, { stroke: theme.line, line: 1, radius: 2 });
    if (live && this.focused && n === this.cursor)
      surface.rect(x - 2.5, y - 2.5, w + 5, h + 5, { stroke: theme.ink, line: 1.5, dash: [3, 2], radius: 3 });
    if (!live || !this.point) return;
    const [i, j] = this.point;
    surface.rect(x + j * cell - 1, y + i * cell - 1, cell + 2, cell + 2, { stroke: theme.ink, line: 1.5 });
  }

  bind() {
    const { canvas, scroller } = this.screen;
    canvas.addEventListener("pointermove", (e) => this.hover(e));
    canvas.addEventListener("pointerleave", () => this.leave());
    canvas.addEventListener("click", (e) => this.hit(e) && this.choose(this.hit(e)[0]));
    scroller.addEventListener("keydown", (e) => this.key(e));
    scroller.addEventListener("focus", () => this.go(this.cursor, scroller.matches(":focus-visible")));
    scroller.addEventListener("blur", () => this.go(this.cursor, false));
  }

  // [head, row, column] under the pointer; row -1 on a head's title
  hit(event) {
    const { cell, w, h } = this.box;
    const [px, y] = this.screen.point(event);
    const x = px + this.screen.offset;
    for (let n = 0; n < this.H; n++) {
      const [left, top] = this.place(n);
      if (x < left || x >= left + w || y < top - HEAD_TITLE || y >= top + h) continue;
      return y < top ? [n, -1, -1] : [n, Math.floor((y - top) / cell), Math.floor((x - left) / cell)];
    }
    return null;
  }

  hover(event) {
    const found = this.hit(event);
    this.screen.canvas.style.cursor = found ? "pointer" : "default";
    if (!found) return this.leave();
    const [n, i, j] = found;
    this.frame.showTip(this.lines(n, i, j), event.clientX, event.clientY);
    this.show(i < 0 ? null : [i, j], true);
  }

  leave() {
    this.frame.hideTip();
    this.show(null, true);
  }

  show(point, mine = false) {
    const inside = point && point[0] < this.T && point[1] < this.S ? point : null;
    if (String(inside) === String(this.point)) return;
    this.point = inside;
    this.frame.root.dataset.point = inside ? inside.join(",") : "";
    this.screen.schedule();
    if (mine) say(this, this.data.group, inside);
  }

  key(event) {
    const { across } = this.box;
    const by = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -across, ArrowDown: across, Home: -this.H, End: this.H }[event.key];
    if (by) this.go(Math.max(0, Math.min(this.H - 1, this.cursor + by)), true);
    else if (event.key === "Enter" || event.key === " ") this.choose(this.cursor);
    else return;
    event.preventDefault();
  }

  go(n, focused) {
    [this.cursor, this.focused] = [n, focused];
    this.say(n);
    if (focused) this.frame.announce(this.option.textContent);
    this.screen.schedule();
  }

  say(n) {
    this.option.textContent = `${this.data.names[n]}${n === this.chosen ? ", chosen" : ""}`;
    this.option.setAttribute("aria-selected", String(n === this.chosen));
  }

  choose(n) {
    [this.cursor, this.chosen] = [n, n];
    this.commit += 1;
    this.frame.root.dataset.chosen = n;
    this.say(n);
    this.frame.announce(this.option.textContent);
    this.screen.schedule();
    this.send({ commit: this.commit, cell: [n, -1] });
  }

  lines(n, i, j) {
    const theme = readTheme(this.frame.root);
    const name = [this.data.names[n], theme.ink, true];
    if (i < 0) return [name, ["Click to enlarge"]];
    const k = i * this.S + j;
    const text = this.mask?.[k] ? "may not be read" : `weight ${decimal(this.weights[n * this.T * this.S + k], 3)}`;
    return [name, [`${this.rows[i]} → ${this.columns[j]}`], [text]];
  }

  table() {
    const rows = [];
    for (let n = 0; n < this.H; n++)
      this.rows.forEach((word, i) => {
        const at = (n * this.T + i) * this.S;
        rows.push([`${this.data.names[n]}, ${word}`, ...this.columns.map((_, j) => decimal(this.weights[at + j], 3))]);
      });
    return { caption: this.data.title, head: ["", ...this.columns], rows };
  }
}

export default mount("heads", Heads);
