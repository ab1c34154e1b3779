// Token strip: the output as words; under each a bar for its probability, on demand the subword pieces.

class Strip {
  constructor(frame) {
    this.frame = frame;
    this.list = make("div", "strip", frame.view);
    this.list.setAttribute("role", "listbox");
    this.toggle = make("button", "toggle", frame.extra, "Pieces");
    this.toggle.type = "button";
    this.toggle.title = "Show the subword pieces";
    this.toggle.setAttribute("aria-pressed", "false");
    this.toggle.addEventListener("click", () => this.flip());
    this.cursor = 0;
    frame.attach(this);
    frame.closers.push(listen(this, () => [this.data?.group], (p) => this.mark(p ? p[0] : -1)));
    this.list.addEventListener("keydown", (e) => this.key(e));
    this.list.addEventListener("pointerleave", () => this.leave());
  }

  update(data) {
    const began = performance.now();
    this.data = data;
    this.frame.title(data.title);
    const many = data.words.some((w) => w.pieces.length > 1);
    this.toggle.hidden = !many;
    if (!many && this.open) this.flip();
    this.cursor = Math.min(this.cursor, data.words.length - 1);
    this.list.setAttribute("aria-label", `${data.title || "Tokens"}: ${data.words.length} tokens with probabilities`);
    this.list.replaceChildren(...data.words.map((word, i) => this.chip(word, i)));
    this.frame.done(data.version, began);
  }

  resize() {}

  flip() {
    this.open = !this.open;
    this.toggle.setAttribute("aria-pressed", String(Boolean(this.open)));
    this.update(this.data);
  }

  chip(word, i) {
    const chip = make("div", "chip");
    chip.setAttribute("role", "option");
    chip.setAttribute("aria-selected", "false");
    chip.setAttribute("aria-label", this.sentence(word));
    chip.tabIndex = i === this.cursor ? 0 : -1;
    chip.classList.toggle("special", word.special);
    chip.classList.toggle("changed", word.changed);
    const units = this.open ? word.pieces : [word];
    for (const [n, unit] of units.entries()) {
      if (n) make("span", "joint", chip, "·");
      const part = make("span", "part", chip);
      make("span", "word", part, visible(unit.text)).dir = "auto";
      make("span", "fill", make("span", "gauge", part)).style.width = `${(Math.exp(unit.log_prob) * 100).toFixed(2)}%`;
    }
    chip.addEventListener("pointerenter", (e) => this.enter(i, chip, e.pointerType));
    chip.addEventListener("focus", () => this.enter(i, chip));
    chip.addEventListener("blur", () => this.leave());
    return chip;
  }

  enter(i, chip) {
    const word = this.data.words[i];
    const box = chip.getBoundingClientRect();
    this.frame.showTip(this.lines(word), box.left - 14, box.bottom - 8);
    this.mark(i);
    say(this, this.data.group, [i, -1]);
  }

  leave() {
    this.frame.hideTip();
    this.mark(-1);
    say(this, this.data?.group, null);
  }

  mark(i) {
    [...this.list.children].forEach((chip, n) => chip.classList.toggle("on", n === i));
    this.frame.root.dataset.point = i >= 0 ? String(i) : "";
  }

  key(event) {
    const last = this.data.words.length - 1;
    const to = { ArrowLeft: this.cursor - 1, ArrowRight: this.cursor + 1, Home: 0, End: last }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    const chips = this.list.children;
    chips[this.cursor].tabIndex = -1;
    this.cursor = Math.max(0, Math.min(last, to));
    chips[this.cursor].tabIndex = 0;
    chips[this.cursor].focus();
  }

  sentence(word) {
    return `${visible(word.text)}, probability ${percent(word.log_prob)}${word.changed ? ", changed" : ""}`;
  }

  lines(word) {
    const theme = readTheme(this.frame.root);
    const lines = [
      [visible(word.text), theme.target, true],
      [`p = ${percent(word.log_prob)},  log p = ${decimal(word.log_prob, 3)}`, theme.decision],
    ];
    if (word.pieces.length > 1)
      lines.push([word.pieces.map((p) => `${visible(p.text)} ${percent(p.log_prob)}`).join(" × ")]);
    if (word.changed) lines.push(["changed against the pinned run", theme.change]);
    return lines;
  }

  // The exported picture is read from where the browser has put the words.
  size() {
    const box = this.list.getBoundingClientRect();
    return { width: box.width, height: box.height + 4 };
  }

  paint(surface) {
    const { theme } = surface;
    const origin = this.list.getBoundingClientRect();
    const place = (element) => {
      const box = element.getBoundingClientRect();
      return [box.left - origin.left, box.top - origin.top, box.width, box.height];
    };
    [...this.list.children].forEach((chip) => {
      const colour = chip.classList.contains("special") ? theme.muted : theme.target;
      for (const part of chip.querySelectorAll(".part")) {
        const [x, y, w, h] = place(part.querySelector(".word"));
        surface.text(x + w / 2, y + h * 0.72, part.querySelector(".word").textContent, {
          fill: colour, size: 16, font: theme.mono, align: "center",
        });
        const [gx, gy, gw, gh] = place(part.querySelector(".gauge"));
        surface.rect(gx, gy, gw, gh, { fill: theme.line, radius: gh / 2 });
        const full = place(part.querySelector(".fill"))[2];
        if (full > 0) surface.rect(gx, gy, full, gh, { fill: theme.decision, radius: Math.min(full, gh) / 2 });
      }
      if (chip.classList.contains("changed")) {
        const [x, y, w] = place(chip);
        surface.path(`M${x + w - 8} ${y}H${x + w}V${y + 8}Z`, { fill: theme.change });
      }
    });
  }

  table() {
    const head = ["token", "pieces", "log probability", "probability"];
    const rows = this.data.words.map((w) => [
      visible(w.text), w.pieces.map((p) => visible(p.text)).join(" · "),
      decimal(w.log_prob, 4), Math.exp(w.log_prob).toFixed(4),
    ]);
    return { caption: this.data.title || "Tokens", head, rows };
  }
}

function percent(logProb) {
  const p = Math.exp(logProb);
  return p >= 0.001 ? p.toFixed(3) : p.toExponential(1);
}

export default mount("token_strip", Strip);
