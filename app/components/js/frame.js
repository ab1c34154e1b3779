// What every picture has around it: title, table view, copy, SVG and PNG, tooltip, live region.

const make = (tag, name, parent, text) => {
  const element = document.createElement(tag);
  if (name) element.className = name;
  if (text !== undefined) element.textContent = text;
  if (parent) parent.append(element);
  return element;
};

const instances = new WeakMap();

// The script's default export runs at every rerun: one instance a parent, told of each new payload.
function mount(kind, Picture) {
  return ({ parentElement, data, setStateValue }) => {
    let picture = instances.get(parentElement);
    if (!picture) {
      picture = new Picture(new Frame(parentElement, kind));
      instances.set(parentElement, picture);
    }
    picture.send = (value) => setStateValue("selection", value);
    picture.update(data);
    // Streamlit also runs the clean-up of a call that a newer one overtook: only the newest may close.
    const turn = (picture.turn = (picture.turn || 0) + 1);
    return () => {
      if (picture.turn !== turn) return;
      picture.frame.close();
      instances.delete(parentElement);
    };
  };
}

class Frame {
  constructor(parent, kind) {
    this.kind = kind;
    this.root = make("div", "sx", parent);
    this.root.dataset.component = kind;
    this.bar = make("div", "bar", this.root);
    this.heading = make("div", "heading", this.bar);
    this.extra = make("div", "extra", this.bar);
    this.tools = make("div", "tools", this.bar);
    this.tools.setAttribute("role", "group");
    this.tools.setAttribute("aria-label", "Picture tools");
    this.view = make("div", "view", this.root);
    this.tableBox = make("div", "tablebox", this.root);
    this.tableBox.hidden = true;
    this.live = make("div", "hidden", this.root);
    this.live.setAttribute("aria-live", "polite");
    this.tip = make("div", "tip", this.root);
    this.tip.setAttribute("aria-hidden", "true");
    this.tip.popover = "manual";
    this.closers = [];
    this.addTools();
  }
  // host: {size(), paint(surface), table(), data, resize()}
  attach(host) {
    this.host = host;
    let width = 0;
    const observer = new ResizeObserver(() => {
      if (this.root.clientWidth === width) return;
      width = this.root.clientWidth;
      requestAnimationFrame(() => this.host.data && this.host.resize());
    });
    observer.observe(this.root);
    this.closers.push(() => observer.disconnect());
    document.fonts.ready.then(() => {
      widths.clear();
      if (this.host.data) this.host.resize();
    });
  }
  close() {
    this.closers.forEach((f) => f());
    this.root.remove();
  }
  title(text) {
    this.heading.textContent = text || "";
    this.tools.setAttribute("aria-label", `${text || this.kind}: picture tools`);
  }
  done(version, began) {
    dress(this.root, readTheme(this.root));
    this.root.dataset.version = version;
    this.root.dataset.drawMs = (performance.now() - began).toFixed(2);
    this.root.dataset.ready = "true";
    if (!this.tableBox.hidden) this.fillTable();
  }
  button(text, label, action) {
    const button = make("button", "", this.tools, text);
    button.type = "button";
    button.setAttribute("aria-label", label);
    button.title = label;
    button.addEventListener("click", () => action(button));
    return button;
  }
  addTools() {
    this.tableButton = this.button("Table", "Show the numbers as a table", () => this.toggleTable());
    this.tableButton.setAttribute("aria-pressed", "false");
    this.button("Copy", "Copy the numbers (tab-separated)", () => this.copy());
    this.button("SVG", "Download as SVG", () => this.saveSvg());
    this.button("PNG", "Download as PNG", () => this.savePng());
  }
  announce(text) {
    if (this.live.textContent !== text) this.live.textContent = text;
  }
  toggleTable() {
    this.tableBox.hidden = !this.tableBox.hidden;
    this.view.hidden = !this.tableBox.hidden;
    this.tableButton.setAttribute("aria-pressed", String(!this.tableBox.hidden));
    if (!this.tableBox.hidden) this.fillTable();
    else this.host.resize();
  }
  fillTable() {
    const { caption, head, rows } = this.host.table();
    const table = document.createElement("table");
    make("caption", "", table, caption);
    const top = make("tr", "", make("thead", "", table));
    head.forEach((text) => (make("th", "", top, text).scope = "col"));
    const body = make("tbody", "", table);
    for (const row of rows) {
      const line = make("tr", "", body);
      row.forEach((text, i) => {
        if (i) make("td", "", line, text);
        else make("th", "", line, text).scope = "row";
      });
    }
    this.tableBox.tabIndex = 0;
    this.tableBox.setAttribute("role", "region");
    this.tableBox.setAttribute("aria-label", caption);
    this.tableBox.replaceChildren(table);
  }
  async copy() {
    const { head, rows } = this.host.table();
    const clean = (cell) => String(cell).replace(/[\t\r\n]/g, " ").replace("−", "-");
    const text = [head, ...rows].map((row) => row.map(clean).join("\t")).join("\n");
    const done = (await this.toClipboard(text)) ? "Numbers copied." : "The browser did not allow copying.";
    this.announce(done);
    this.flash(done);
  }
  // navigator.clipboard exists only on https and localhost; a classroom server has neither.
  async toClipboard(text) {
    if (navigator.clipboard && window.isSecureContext)
      return navigator.clipboard.writeText(text).then(() => true, () => this.oldCopy(text));
    return this.oldCopy(text);
  }
  oldCopy(text) {
    const area = make("textarea", "hidden", this.root);
    area.value = text;
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
  flash(text) {
    const box = this.tools.getBoundingClientRect();
    this.showTip([[text]], box.right - 60, box.bottom);
    setTimeout(() => this.hideTip(), 1600);
  }
  svg() {
    const { width, height } = this.host.size();
    const surface = new SvgSurface(width, height, readTheme(this.root), this.heading.textContent || this.kind);
    this.host.paint(surface);
    return surface.toString();
  }
  saveSvg() {
    this.save(new Blob([this.svg()], { type: "image/svg+xml" }), "svg");
  }
  savePng() {
    const { width, height } = this.host.size();
    const scale = Math.min(3, 8000 / Math.max(width, height));
    const canvas = document.createElement("canvas");
    canvas.width = Math.ceil(width * scale);
    canvas.height = Math.ceil(height * scale);
    const g = canvas.getContext("2d");
    const theme = readTheme(this.root);
    g.fillStyle = theme.bg;
    g.fillRect(0, 0, canvas.width, canvas.height);
    g.scale(scale, scale);
    this.host.paint(new CanvasSurface(g, theme));
    canvas.toBlob((blob) => this.save(blob, "png"), "image/png");
  }
  save(blob, ending) {
    const name = (this.heading.textContent || this.kind).toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "");
    const link = make("a", "hidden", this.root);
    link.href = URL.createObjectURL(blob);
    link.download = `${name || this.kind}.${ending}`;
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }
  // lines: [[text, colour?, strong?], ...]; x, y in the window
  showTip(lines, x, y) {
    this.tip.replaceChildren();
    for (const [text, colour, strong] of lines) {
      const line = make("div", strong ? "strong" : "", this.tip, text);
      if (colour) line.style.color = colour;
    }
    if (!this.tip.matches(":popover-open")) this.tip.showPopover();
    const box = this.tip.getBoundingClientRect();
    const left = Math.max(6, Math.min(x + 14, window.innerWidth - box.width - 6));
    const under = y + 16 + box.height < window.innerHeight;
    this.tip.style.left = `${left}px`;
    this.tip.style.top = `${under ? y + 16 : y - box.height - 10}px`;
  }
  hideTip() {
    if (this.tip.matches(":popover-open")) this.tip.hidePopover();
  }
}

// A canvas as wide as what is visible, kept in place while its content scrolls under it.
class Screen {
  constructor(frame, host) {
    this.frame = frame;
    this.host = host;
    this.scroller = make("div", "scroller", frame.view);
    this.spacer = make("div", "spacer", this.scroller);
    this.canvas = make("canvas", "", this.spacer);
    this.canvas.setAttribute("aria-hidden", "true");
    this.pending = 0;
    this.scroller.addEventListener("scroll", () => this.schedule());
  }
  // Pictures are laid out for the usual letter size; where the page's is larger (presenting) they grow with it.
  get zoom() {
    return parseFloat(getComputedStyle(document.documentElement).fontSize) / 16 || 1;
  }
  get width() {
    return this.scroller.clientWidth / this.zoom;
  }
  get offset() {
    return this.scroller.scrollLeft / this.scale;
  }
  fit(width, height) {
    const scale = this.zoom;
    const shown = Math.min(width * scale, this.scroller.clientWidth);
    const ratio = window.devicePixelRatio || 1;
    this.spacer.style.width = `${width * scale}px`;
    this.canvas.style.width = `${shown}px`;
    this.canvas.style.height = `${height * scale}px`;
    this.canvas.width = Math.round(shown * ratio);
    this.canvas.height = Math.round(height * scale * ratio);
    this.shown = shown / scale;
    this.height = height;
    this.scale = scale;
  }
  // Scroll so that x0..x1 is seen, right of a fixed margin.
  reveal(x0, x1, margin = 0) {
    const [left, right] = [this.offset + margin, this.offset + this.shown];
    if (x0 < left) this.scroller.scrollLeft = (x0 - margin) * this.scale;
    else if (x1 > right) this.scroller.scrollLeft = (x1 - this.shown) * this.scale;
  }
  draw() {
    const began = performance.now();
    const g = this.canvas.getContext("2d");
    const ratio = this.canvas.width / Math.max(1, this.shown);
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    g.clearRect(0, 0, this.shown, this.height);
    this.host.paint(new CanvasSurface(g, readTheme(this.frame.root)), true);
    this.frame.done(this.host.data.version, began);
  }
  schedule() {
    if (this.pending) return;
    this.pending = requestAnimationFrame(() => {
      this.pending = 0;
      if (this.host.data && this.shown) this.draw();
    });
  }
  point(event) {
    const box = this.canvas.getBoundingClientRect();
    return [(event.clientX - box.left) / this.scale, (event.clientY - box.top) / this.scale];
  }
}
