// Symbols such as s_{t-1} or c_t: subscripts and superscripts, on a surface and as HTML.

function parts(symbol) {
  const found = symbol.replaceAll("-", "−").matchAll(/([_^])(?:\{([^}]*)\}|(.))|([^_^]+)/gu);
  return Array.from(found, ([, mark, group, single, plain]) => ({ mark: mark || "", text: plain ?? group ?? single }));
}

function formula(surface, x, y, symbol, style) {
  for (const { mark, text } of parts(symbol)) {
    const size = mark ? style.size * 0.68 : style.size;
    const shift = mark === "_" ? style.size * 0.24 : mark ? -style.size * 0.36 : 0;
    surface.text(x, y + shift, text, { ...style, size });
    x += measure(text, size, style.font, style.weight) + (mark ? 1 : 0.5);
  }
  return x;
}

function formulaHtml(parent, symbol) {
  for (const { mark, text } of parts(symbol)) make({ "": "span", _: "sub", "^": "sup" }[mark], "", parent, text);
}

const plain = (symbol) => parts(symbol).map((p) => p.text).join("");
