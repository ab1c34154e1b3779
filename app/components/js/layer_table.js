// A table of layers that the hand edits. Each change sends all rows; what they mean is checked in Python.

const HEADS = [
  ["", "Layer"], ["width", "Width k: rows that a row reads"], ["dilation", "Dilation d: how far they stand apart"],
  ["reads", "The past alone, or both sides"], ["stride", "Stride: only every so many rows are kept"], ["span", ""], ["", "Move or remove"],
];

class LayerTable {
  constructor(frame) {
    this.frame = frame;
    this.commit = 0;
    frame.bar.remove(); // no picture: nothing to copy or to save
    this.box = make("div", "table-scroll", frame.view);
    this.addButton = make("button", "add", frame.view, "Add a layer");
    this.addButton.type = "button";
    this.addButton.addEventListener("click", () => this.add());
    this.box.addEventListener("change", () => this.hand_over());
    this.box.addEventListener("keydown", (e) => this.key(e));
  }

  update(data) {
    // An echo older than what the hand did last must not undo it.
    const old = this.data && data.commit < this.commit;
    this.data = data;
    if (old) return;
    this.rows = data.rows.map((row) => ({ ...row }));
    this.draw();
    dress(this.frame.root, readTheme(this.frame.root));
    Object.assign(this.frame.root.dataset, { version: data.version, ready: "true" });
  }

  // The table is built again only where its shape changed, so that an open field keeps its caret.
  draw() {
    const shape = `${this.rows.length}`;
    if (shape !== this.shape) this.build();
    this.shape = shape;
    this.rows.forEach((row, k) => this.fill(row, k));
    this.addButton.disabled = this.rows.length >= this.data.most;
    this.addButton.textContent = this.addButton.disabled ? `At most ${this.data.most} layers` : "Add a layer";
  }

  build() {
    const table = document.createElement("table");
    table.className = "layers";
    make("caption", "hidden", table, "Layers, the first one reads the input");
    const head = make("tr", "", make("thead", "", table));
    for (const [text, told] of HEADS) {
      const cell = make("th", "", head, text);
      Object.assign(cell, { scope: "col", title: told });
      if (told) cell.setAttribute("aria-label", told);
    }
    const body = make("tbody", "", table);
    this.lines = this.rows.map((_, k) => this.line(body, k));
    this.box.replaceChildren(table);
  }

  line(body, k) {
    const row = make("tr", "", body);
    make("th", "", row, `${k + 1}`).scope = "row";
    const cells = {};
    const number = (name, label) => {
      const field = make("input", name, make("td", "", row));
      Object.assign(field, { type: "number", min: 1, max: this.data.limits[name], step: 1, required: true });
      field.setAttribute("aria-label", `${label} of layer ${k + 1}`);
      field.dataset.cell = `${name}-${k}`;
      cells[name] = field;
    };
    number("width", "Width");
    number("dilation", "Dilation");
    cells.causal = make("select", "", make("td", "", row));
    cells.causal.setAttribute("aria-label", `What layer ${k + 1} reads`);
    for (const [text, value] of [["past", "1"], ["both", "0"]]) make("option", "", cells.causal, text).value = value;
    number("stride", "Stride");
    cells.note = make("td", "note-cell", row);
    cells.row = row;
    this.moves(make("td", "moves", row), k);
    return cells;
  }

  moves(cell, k) {
    const button = (text, label, disabled, action) => {
      const made = make("button", "", cell, text);
      Object.assign(made, { type: "button", disabled, title: label });
      made.setAttribute("aria-label", label);
      made.addEventListener("click", action);
    };
    button("↑", `Move layer ${k + 1} up`, k === 0, () => this.move(k, k - 1));
    button("↓", `Move layer ${k + 1} down`, k === this.rows.length - 1, () => this.move(k, k + 1));
    button("✕", `Remove layer ${k + 1}`, this.rows.length === 1, () => this.remove(k));
  }

  fill(row, k) {
    const cells = this.lines[k];
    for (const name of ["width", "dilation", "stride"]) if (cells[name].value !== row[name]) cells[name].value = row[name];
    cells.causal.value = row.causal ? "1" : "0";
    cells.note.textContent = row.note;
    cells.row.classList.toggle("bad", row.problem);
    cells.width.setAttribute("aria-invalid", String(row.problem));
  }

  read() {
    return this.lines.map((cells) => ({
      width: cells.width.value.slice(0, 8), dilation: cells.dilation.value.slice(0, 8), stride: cells.stride.value.slice(0, 8),
      causal: cells.causal.value === "1", note: cells.note.textContent, problem: false,
    }));
  }

  key(event) {
    if (event.key === "Enter" && event.composedPath()[0].tagName === "INPUT") event.composedPath()[0].blur();
  }

  add() {
    const last = this.read().at(-1);
    this.change([...this.read(), { ...last, note: "" }]);
    this.focus(`dilation-${this.rows.length - 1}`);
    this.frame.announce(`Layer ${this.rows.length} added.`);
  }

  remove(k) {
    this.change(this.read().filter((_, i) => i !== k));
    this.focus(`width-${Math.min(k, this.rows.length - 1)}`);
    this.frame.announce(`Layer ${k + 1} removed.`);
  }

  move(from, to) {
    const rows = this.read();
    rows.splice(to, 0, rows.splice(from, 1)[0]);
    this.change(rows);
    this.focus(`width-${to}`);
    this.frame.announce(`Layer ${from + 1} is now layer ${to + 1}.`);
  }

  focus(cell) {
    this.box.querySelector(`[data-cell="${cell}"]`)?.focus();
  }

  change(rows) {
    this.rows = rows;
    this.draw();
    this.hand_over();
  }

  hand_over() {
    this.commit += 1;
    this.rows = this.read();
    const rows = this.rows.map(({ width, dilation, causal, stride }) => ({ width, dilation, causal, stride }));
    this.send({ commit: this.commit, rows });
  }
}

export default mount("layer_table", LayerTable);
