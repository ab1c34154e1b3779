// The hand on a heatmap: pointer, keyboard, linked pictures, table.

Object.assign(Heatmap.prototype, {
  bind() {
    const { canvas, scroller } = this.screen;
    canvas.addEventListener("pointermove", (e) => this.hover(e));
    canvas.addEventListener("pointerleave", () => this.leave());
    canvas.addEventListener("click", (e) => this.click(e));
    scroller.addEventListener("keydown", (e) => this.key(e));
    scroller.addEventListener("focus", () => {
      this.focused = scroller.matches(":focus-visible");
      if (this.focused) this.go(...(this.chosen && this.chosen[1] >= 0 ? this.chosen : this.cursor));
    });
    scroller.addEventListener("blur", () => {
      this.focused = false;
      this.leave();
    });
  },

  hover(event) {
    const point = this.hit(event);
    const can = point && point[0] >= 0 && this.data.select !== "none";
    this.screen.canvas.style.cursor = can ? "pointer" : "default";
    if (point) this.frame.showTip(this.lines(point), event.clientX, event.clientY);
    else this.frame.hideTip();
    this.show(point);
  },

  click(event) {
    const point = this.hit(event);
    if (!point || point[0] < 0) return;
    if (point[1] >= 0) this.cursor = point;
    this.choose(point);
  },

  choose([i, j]) {
    const { select } = this.data;
    if (select === "none") return;
    const next = [i, select === "row" ? -1 : j];
    this.chosen = String(next) === String(this.chosen) ? null : next;
    this.frame.root.dataset.selected = this.chosen || "";
    this.commit += 1;
    this.screen.schedule();
    this.frame.announce(this.chosen ? `Selected ${this.sentence(this.chosen)}` : "Selection cleared");
    this.send({ commit: this.commit, cell: this.chosen });
  },

  key(event) {
    const [i, j] = this.cursor;
    const far = event.ctrlKey || event.metaKey;
    const to = {
      ArrowUp: [i - 1, j], ArrowDown: [i + 1, j], ArrowLeft: [i, j - 1], ArrowRight: [i, j + 1],
      Home: [far ? 0 : i, 0], End: [far ? this.T - 1 : i, this.S - 1], PageUp: [0, j], PageDown: [this.T - 1, j],
    }[event.key];
    if (to) this.go(...to);
    else if (event.key === "Enter" || event.key === " ") this.choose(this.cursor);
    else if (event.key === "Escape") this.leave();
    else return;
    event.preventDefault();
  },

  sentence([i, j]) {
    if (j < 0) return `row ${this.rows[i]}`;
    const k = i * this.S + j;
    const value = this.mask?.[k] ? "masked" : `${this.data.value} ${decimal(this.weights[k], 3)}`;
    const extra = [this.sure?.[k] && "gold link", this.possible?.[k] && !this.sure?.[k] && "possible gold link",
      this.changed?.[k] && "changed"].filter(Boolean);
    return [`${this.rows[i]}, ${this.columns[j]}: ${value}`, ...extra].join(", ");
  },

  lines([i, j]) {
    const theme = readTheme(this.frame.root);
    const { value } = this.data;
    const lines = [];
    if (i >= 0) lines.push([this.rows[i], theme[this.role("row", i)], true]);
    if (j >= 0) lines.push([this.columns[j], theme[this.role("column", j)], true]);
    if (i < 0 || j < 0) return lines;
    const k = i * this.S + j;
    if (this.mask?.[k]) lines.push(["masked"]);
    else lines.push([`${value} ${decimal(this.weights[k], 4)}`]);
    if (this.scores && !this.mask?.[k]) lines.push([`score ${decimal(this.scores[k], 3)}`]);
    if (this.sure?.[k]) lines.push(["gold link (sure)", theme.gold]);
    else if (this.possible?.[k]) lines.push(["gold link (possible)", theme.gold]);
    if (this.changed?.[k]) lines.push(["changed against the pinned run", theme.change]);
    return lines;
  },

  table() {
    const cell = (i, j) => (this.mask?.[i * this.S + j] ? "masked" : decimal(this.weights[i * this.S + j], 4));
    return {
      caption: `${this.data.title || "Heatmap"} (${this.data.value})`,
      head: ["", ...this.columns],
      rows: this.rows.map((word, i) => [word, ...this.columns.map((_, j) => cell(i, j))]),
    };
  },
});

export default mount("heatmap", Heatmap);
