// Step player: one decoder step after another, in the order in which its values are computed.
// A stage with inputs is executed; one without is given. "H" is the row of source annotations on top.

const BOX = { widest: 118, least: 100, height: 84, gap: 14, drop: 46 };
const AXIS = { bars: 36, square: 9 };
const ROW = 26;

class Player {
  constructor(frame) {
    this.frame = frame;
    this.screen = new Screen(frame, this);
    this.at = 0;
    this.shown = 1; // 0..1, how far the running edges have been drawn
    this.point = null;
    frame.attach(this);
    frame.closers.push(() => this.stop());
    frame.closers.push(listen(this, () => [this.data?.group, this.data?.source_group], (p) => this.hear(p)));
    this.build();
  }

  update(data) {
    const same = this.data && this.data.version === data.version;
    this.data = data;
    this.source = data.source.map(visible);
    this.target = data.target.map(visible);
    [this.T, this.S] = [this.target.length, this.source.length];
    this.weights = numbers(data.weights);
    this.scores = numbers(data.scores);
    this.stages = data.stages.map((stage) => ({ ...stage, values: numbers(stage.preview), norms: numbers(stage.norm) }));
    this.run = this.stages.map((_, k) => k).filter((k) => this.stages[k].inputs.length);
    if (!same) this.stop();
    if (!same) this.at = 0;
    this.frame.title(data.title);
    this.dressControls();
    this.resize();
  }

  get step() {
    return Math.floor(this.at / this.run.length);
  }
  get stage() {
    return this.run[this.at % this.run.length];
  }
  get last() {
    return this.T * this.run.length - 1;
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
    const font = readTheme(this.frame.root).mono;
    const slot = Math.max(14, Math.min(92, (width - 4) / this.S));
    const axis = this.layAxis(slot, font);
    const needed = Math.max(this.S * slot + axis.right, 0);
    const full = Math.max(width, needed);
    this.axis = { ...axis, slot, x: needed < width ? (width - needed) / 2 : 0 };
    const base = axis.top + AXIS.bars + AXIS.square;
    const rows = this.layBoxes(width, base + BOX.drop);
    this.layOutput(width, base + BOX.drop + rows + 14, font);
    this.box = { width: full, height: this.lines[this.lines.length - 1].y + ROW + 4 };
  }

  layAxis(slot, font) {
    const size = Math.max(10, Math.min(13, slot * 0.8));
    const text = this.source.map((w) => shorten(w, 110, size, font, 600));
    const lengths = text.map((w) => measure(w, size, font, 600));
    const longest = Math.max(...lengths);
    if (longest + 6 <= slot) return { size, text, angle: 0, top: size + 8, right: 2 };
    const angle = [35, 50, 90].map((d) => (d * Math.PI) / 180).find((a) => slot * Math.sin(a) >= size * 1.3) || Math.PI / 2;
    const over = lengths.map((w, j) => (j + 0.5) * slot + w * Math.cos(angle) + 8 - this.S * slot);
    return { size, text, angle, top: Math.ceil(longest * Math.sin(angle) + size + 6), right: Math.ceil(Math.max(2, ...over)) };
  }

  layBoxes(width, top) {
    const count = this.stages.length;
    const across = Math.max(2, Math.min(count, Math.floor((width + BOX.gap) / (BOX.least + BOX.gap))));
    const columns = Math.ceil(count / Math.ceil(count / across));
    const wide = Math.min(BOX.widest, (width - 5 - (columns - 1) * BOX.gap) / columns);
    const gap = Math.min(64, (width - 5 - columns * wide) / Math.max(1, columns - 1));
    const left = (width - columns * wide - (columns - 1) * gap) / 2;
    this.wide = wide;
    const pitch = BOX.height + 48;
    this.places = this.stages.map((_, k) => {
      const [row, column] = [Math.floor(k / columns), k % columns];
      return { x: left + column * (wide + gap), y: top + row * pitch, row, column };
    });
    return Math.ceil(count / columns) * pitch - 20;
  }

  // The output, wrapped: [{x, y, text, width}], one a token.
  layOutput(width, y, font) {
    let x = 0;
    this.lines = this.target.map((word) => {
      const text = shorten(word, width - 20, 14, font, 600);
      const wide = measure(text, 14, font, 600) + 16;
      if (x && x + wide > width) [x, y] = [0, y + ROW + 8];
      const token = { x, y, text, width: wide };
      x += wide + 4;
      return token;
    });
  }

  size() {
    return this.box;
  }

  slotX(j) {
    return this.axis.x + (j + 0.5) * this.axis.slot;
  }

  paint(surface, live = false) {
    const offset = live ? this.screen.offset : 0;
    surface.within(0, 0, this.box.width, this.box.height, -offset, 0, () => this.paintAxis(surface));
    this.paintEdges(surface, offset);
    this.stages.forEach((stage, k) => this.paintBox(surface, stage, k));
    this.paintOutput(surface);
  }

  done(k) {
    return !this.stages[k].inputs.length || k <= this.stage;
  }

  // What the axis shows: nothing yet, the scores, or the weights.
  reading() {
    const has = (kind) => this.stages.some((s, k) => s.kind === kind && s.inputs.length && this.done(k));
    return has("weights") ? "weights" : has("scores") ? "scores" : "";
  }

  paintAxis(surface) {
    const { theme } = surface;
    const { slot, top, text, size, angle } = this.axis;
    const base = top + AXIS.bars;
    this.paintWindow(surface, top, base);
    const kind = this.reading();
    const values = kind === "scores" ? this.scores : this.weights;
    const row = values ? values.subarray(this.step * this.S, (this.step + 1) * this.S) : null;
    const most = kind === "weights" ? 1 : Math.max(1e-9, ...(row || []).map(Math.abs));
    for (let j = 0; j < this.S; j++) {
      const x = this.slotX(j);
      const on = this.point && this.point[1] === j;
      surface.text(angle > 1.5 ? x + size * 0.35 : x, top - 6, text[j], {
        fill: theme.source, size, font: theme.mono, weight: on ? 600 : 400, angle: -angle, align: angle ? "left" : "center",
      });
      surface.rect(x - AXIS.square / 2, base, AXIS.square, AXIS.square, { fill: theme.source, radius: 2 });
      if (!row || !kind) continue;
      const height = (Math.abs(row[j]) / most) * (AXIS.bars - 14);
      const wide = Math.min(30, slot - 3);
      const fill = kind === "weights" ? theme.source : row[j] < 0 ? theme.diverging.colours[60] : theme.muted;
      surface.rect(x - wide / 2, base - 2 - height, wide, height, { fill, radius: 1.5, alpha: on ? 1 : 0.8 });
      if (slot >= 34 && (kind === "scores" || row[j] >= 0.005))
        surface.text(x, base - 5 - height, decimal(row[j], 2), { fill: theme.ink, size: 10.5, font: theme.sans, align: "center" });
    }
  }

  paintWindow(surface, top, base) {
    const { theme } = surface;
    const { slot, x } = this.axis;
    const window = this.data.window && this.data.window[this.step];
    if (window) {
      const [low, high] = window;
      surface.rect(x + low * slot, top, (high - low + 1) * slot, AXIS.bars + AXIS.square + 3, { fill: theme.source, alpha: 0.1, radius: 4 });
    }
    const centre = this.data.centre && this.data.centre[this.step];
    if (centre === undefined || centre === null) return;
    const at = this.slotX(centre);
    surface.path(`M${round(at)} ${top}V${base + AXIS.square + 3}`, { stroke: theme.target, line: 1.5, dash: [3, 3] });
  }

  paintEdges(surface, offset) {
    const { theme } = surface;
    this.stages.forEach((stage, k) => {
      const running = k === this.stage;
      for (const input of stage.inputs) {
        const alpha = running ? 1 : this.done(k) ? 0.35 : 0.14;
        if (input === "H") this.paintFan(surface, k, running, offset);
        else {
          const from = this.stages.findIndex((s) => s.id === input);
          const { path, tip } = this.route(from, k);
          const stroke = running ? theme[stage.role] : theme.muted;
          surface.path(path, { stroke, line: running ? 2.5 : 1.25, alpha });
          surface.path(tip, { fill: stroke, alpha });
          if (running && this.shown < 1) this.spark(surface, from, k, stroke);
        }
      }
    });
  }

  // Lines from every annotation: even while scored, as wide as the weights while mixed.
  paintFan(surface, k, running, offset) {
    if (!running) return;
    const { theme } = surface;
    const stage = this.stages[k];
    const mixed = stage.inputs.some((id) => this.stages.find((s) => s.id === id)?.kind === "weights");
    const y0 = this.axis.top + AXIS.bars + AXIS.square;
    const { x, y } = this.places[k];
    for (let j = 0; j < this.S; j++) {
      const weight = mixed ? this.weights[this.step * this.S + j] : 0.12;
      if (mixed && weight < 0.005) continue;
      const [from, to] = [this.slotX(j) - offset, x + this.wide / 2];
      const bend = (y - y0) * 0.55;
      surface.path(`M${round(from)} ${y0}C${round(from)} ${round(y0 + bend)} ${round(to)} ${round(y - bend)} ${round(to)} ${round(y)}`, {
        line: 1 + 7 * weight, alpha: (0.3 + 0.6 * weight) * this.shown, fade: [y0, theme.source, y, theme[stage.role]],
      });
    }
  }

  // Next to each other: straight; further apart in a row: below the boxes; other rows: from bottom to top.
  route(a, b) {
    const [p, q] = [this.places[a], this.places[b]];
    const [pm, qm] = [p.x + this.wide / 2, q.x + this.wide / 2];
    if (p.row === q.row && q.column === p.column + 1) {
      const y = p.y + BOX.height / 2;
      return { path: `M${round(p.x + this.wide)} ${y}H${round(q.x - 7)}`, tip: `M${round(q.x - 1)} ${y}l-8 -4.5v9Z` };
    }
    if (p.row === q.row) {
      const y = p.y + BOX.height;
      const path = `M${round(pm)} ${y}C${round(pm)} ${y + 36} ${round(qm - 12)} ${y + 36} ${round(qm - 12)} ${y + 8}`;
      return { path, tip: `M${round(qm - 12)} ${y + 1}l-4.5 8h9Z` };
    }
    const [y0, y1] = [p.y + BOX.height, q.y];
    const bend = Math.min(40, y1 - y0);
    const path = `M${round(pm)} ${y0}C${round(pm)} ${y0 + bend} ${round(qm)} ${y1 - bend} ${round(qm)} ${y1 - 7}`;
    return { path, tip: `M${round(qm)} ${y1 - 1}l-4.5 -8h9Z` };
  }

  spark(surface, a, b, fill) {
    const line = document.createElementNS("http://www.w3.org/2000/svg", "path");
    line.setAttribute("d", this.route(a, b).path);
    const { x, y } = line.getPointAtLength(line.getTotalLength() * this.shown);
    surface.rect(x - 4, y - 4, 8, 8, { fill, radius: 4 });
  }

  paintBox(surface, stage, k) {
    const { theme } = surface;
    const { x, y } = this.places[k];
    const [running, done] = [k === this.stage, this.done(k)];
    const colour = theme[stage.role];
    surface.rect(x, y, this.wide, BOX.height, { fill: theme.bg, radius: 8 });
    if (running) surface.rect(x, y, this.wide, BOX.height, { fill: colour, radius: 8, alpha: 0.1 });
    surface.rect(x, y, this.wide, BOX.height, {
      stroke: done ? colour : theme.line, line: running ? 2.5 : 1.25, radius: 8, dash: done ? undefined : [4, 4],
    });
    formula(surface, x + 9, y + 20, stage.symbol, { fill: done ? colour : theme.muted, size: 16, font: theme.sans, weight: 600 });
    if (stage.shape) {
      surface.text(x + this.wide - 8, y + 17, stage.shape, { fill: theme.muted, size: 10.5, font: theme.sans, align: "right" });
    }
    if (done) this.paintInside(surface, stage, x, y);
    const size = measure(stage.label, 11.5, theme.sans) <= this.wide - 8 ? 11.5 : 10.5;
    surface.text(x + this.wide / 2, y + BOX.height - 9, shorten(stage.label, this.wide - 8, size, theme.sans), {
      fill: running ? theme.ink : theme.muted, size, font: theme.sans, align: "center",
    });
  }

  paintInside(surface, stage, x, y) {
    const { theme } = surface;
    if (stage.kind === "token") {
      const word = shorten(this.target[this.step], this.wide - 16, 14, theme.mono, 600);
      const p = Math.exp(this.data.log_probs[this.step]);
      surface.text(x + this.wide / 2, y + 44, word, { fill: theme.target, size: 14, font: theme.mono, weight: 600, align: "center" });
      surface.rect(x + 10, y + 53, this.wide - 20, 5, { fill: theme.line, radius: 2.5 });
      surface.rect(x + 10, y + 53, (this.wide - 20) * p, 5, { fill: theme.decision, radius: Math.min(2.5, 42 * p) });
      return;
    }
    const values = this.inside(stage);
    if (!values || !values.length) return;
    const most = Math.max(1e-9, ...values.all.map(Math.abs));
    const signed = values.row.some((v) => v < 0);
    const middle = signed ? y + 45 : y + 61;
    const reach = signed ? 15 : 30;
    const pitch = (this.wide - 18) / values.row.length;
    values.row.forEach((v, n) => {
      const height = Math.max(0.75, (Math.abs(v) / most) * reach);
      surface.rect(x + 9 + n * pitch, v < 0 ? middle : middle - height, Math.max(1, pitch - 1), height, { fill: theme[stage.role], alpha: 0.75 });
    });
  }

  inside(stage) {
    const own = { weights: this.weights, scores: this.scores }[stage.kind] || stage.values;
    if (!own) return null;
    const size = own.length / this.T;
    const row = Array.from(own.subarray(this.step * size, (this.step + 1) * size));
    return { row, all: stage.kind === "vector" ? Array.from(own) : row, length: size };
  }

  paintOutput(surface) {
    const { theme } = surface;
    const { step } = this;
    const decided = this.stages[this.stage].kind === "token";
    this.lines.forEach((token, i) => {
      const { x, y, width, text } = token;
      const now = i === step;
      if (now) surface.rect(x, y, width, ROW, { fill: theme.target, alpha: 0.12, radius: 6 });
      const known = i < step || (now && decided);
      if (known) surface.text(x + width / 2, y + 18, text, { fill: theme.target, size: 14, font: theme.mono, weight: now ? 600 : 400, align: "center" });
      else surface.rect(x + width / 2 - 2, y + 12, 4, 4, { fill: theme.muted, alpha: 0.5, radius: 2 });
    });
  }
}
