// Heatmap: target rows, source columns, a weight in each cell.

class Heatmap extends Grid {
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

  shade(value) {
    const [low, high] = this.data.limits;
    return Math.max(0, Math.min(255, Math.round(((value - low) / (high - low)) * 255)));
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
