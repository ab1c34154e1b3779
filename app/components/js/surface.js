// One painting code, two surfaces: the canvas shows it, the SVG writer exports it as true vectors.

class CanvasSurface {
  constructor(context, theme) {
    this.g = context;
    this.theme = theme;
  }
  rect(x, y, w, h, { fill, stroke, line = 1, dash, radius = 0, alpha = 1 }) {
    const g = this.g;
    g.globalAlpha = alpha;
    if (fill && !radius) {
      g.fillStyle = fill;
      g.fillRect(x, y, w, h);
    } else if (fill) {
      g.fillStyle = fill;
      g.beginPath();
      g.roundRect(x, y, w, h, radius);
      g.fill();
    }
    if (stroke) {
      g.strokeStyle = stroke;
      g.lineWidth = line;
      g.setLineDash(dash || []);
      g.beginPath();
      g.roundRect(x, y, w, h, radius);
      g.stroke();
    }
    g.globalAlpha = 1;
  }
  path(d, { fill, stroke, line = 1, dash, alpha = 1, fade }) {
    const g = this.g;
    const path = new Path2D(d);
    g.globalAlpha = alpha;
    if (fill) {
      g.fillStyle = fill;
      g.fill(path);
    }
    if (stroke || fade) {
      g.strokeStyle = fade ? this.gradient(fade) : stroke;
      g.lineWidth = line;
      g.lineCap = fade ? "butt" : "round";
      g.setLineDash(dash || []);
      g.stroke(path);
    }
    g.globalAlpha = 1;
  }
  gradient([y0, c0, y1, c1]) {
    const gradient = this.g.createLinearGradient(0, y0, 0, y1);
    gradient.addColorStop(0, c0);
    gradient.addColorStop(1, c1);
    return gradient;
  }
  text(x, y, text, { fill, size, font, weight = 400, align = "left", angle = 0, alpha = 1 }) {
    const g = this.g;
    g.globalAlpha = alpha;
    g.fillStyle = fill;
    g.font = `${weight} ${size}px ${font}`;
    g.textAlign = align;
    g.textBaseline = "alphabetic";
    g.direction = "ltr";
    if (angle) {
      g.save();
      g.translate(x, y);
      g.rotate(angle);
      g.fillText(text, 0, 0);
      g.restore();
    } else g.fillText(text, x, y);
    g.globalAlpha = 1;
  }
  within(x, y, w, h, dx, dy, paint) {
    const g = this.g;
    g.save();
    g.beginPath();
    g.rect(x, y, w, h);
    g.clip();
    g.translate(dx, dy);
    paint();
    g.restore();
  }
}

const xml = (text) =>
  String(text).replace(/[&<>"']/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&apos;" }[c]));
const round = (v) => String(Math.round(v * 100) / 100);

class SvgSurface {
  constructor(width, height, theme, title) {
    this.size = [Math.ceil(width), Math.ceil(height)];
    this.theme = theme;
    this.title = title;
    this.parts = [];
    this.defs = [];
  }
  paint({ fill, stroke, line = 1, dash, alpha = 1, fade }) {
    let text = ` fill="${fill ? xml(fill) : "none"}"`;
    const ink = fade ? `url(#${this.gradient(fade)})` : stroke;
    if (ink) text += ` stroke="${xml(ink)}" stroke-width="${round(line)}"`;
    if (ink && dash && dash.length) text += ` stroke-dasharray="${dash.join(" ")}"`;
    return alpha < 1 ? `${text} opacity="${round(alpha)}"` : text;
  }
  gradient([y0, c0, y1, c1]) {
    const id = `fade-${[y0, y1].map(Math.round).join("-")}-${(c0 + c1).replace(/[^0-9a-z]/gi, "")}`;
    const stops = `<stop offset="0" stop-color="${xml(c0)}"/><stop offset="1" stop-color="${xml(c1)}"/>`;
    const box = `gradientUnits="userSpaceOnUse" x1="0" x2="0" y1="${round(y0)}" y2="${round(y1)}"`;
    if (!this.defs.some((d) => d.id === id))
      this.defs.push({ id, text: `<linearGradient id="${id}" ${box}>${stops}</linearGradient>` });
    return id;
  }
  rect(x, y, w, h, style) {
    const corner = style.radius ? ` rx="${round(style.radius)}"` : "";
    const box = `x="${round(x)}" y="${round(y)}" width="${round(w)}" height="${round(h)}"`;
    this.parts.push(`<rect ${box}${corner}${this.paint(style)}/>`);
  }
  path(d, style) {
    this.parts.push(`<path d="${d}"${this.paint(style)} stroke-linecap="${style.fade ? "butt" : "round"}"/>`);
  }
  text(x, y, text, { fill, size, font, weight = 400, align = "left", angle = 0, alpha = 1 }) {
    const anchor = { left: "start", center: "middle", right: "end" }[align];
    const turn = angle ? ` transform="rotate(${round((angle * 180) / Math.PI)} ${round(x)} ${round(y)})"` : "";
    const fade = alpha < 1 ? ` opacity="${round(alpha)}"` : "";
    this.parts.push(
      `<text x="${round(x)}" y="${round(y)}" fill="${xml(fill)}" font-family="${xml(font)}" font-size="${round(size)}"` +
        ` font-weight="${weight}" text-anchor="${anchor}"${turn}${fade} xml:space="preserve">${xml(text)}</text>`
    );
  }
  within(x, y, w, h, dx, dy, paint) {
    paint();
  }
  toString() {
    const [w, h] = this.size;
    return (
      `<svg xmlns="http://www.w3.org/2000/svg" width="${w}" height="${h}" viewBox="0 0 ${w} ${h}" role="img">` +
      `<title>${xml(this.title)}</title><defs>${this.defs.map((d) => d.text).join("")}</defs>` +
      `<rect width="${w}" height="${h}" fill="${xml(this.theme.bg)}"/>${this.parts.join("\n")}</svg>`
    );
  }
}

const widths = new Map();
function measure(text, size, font, weight = 400) {
  const face = `${weight} ${size}px ${font}`;
  const key = face + text;
  if (!widths.has(key)) {
    if (widths.size > 20000) widths.clear();
    probe.font = face;
    widths.set(key, probe.measureText(text).width);
  }
  return widths.get(key);
}

// The longest beginning that fits, cut between graphemes so that no emoji or accent is split.
function shorten(text, limit, size, font, weight = 400) {
  if (measure(text, size, font, weight) <= limit) return text;
  const parts = Array.from(new Intl.Segmenter().segment(text.slice(0, 400)), (s) => s.segment);
  let [low, high] = [0, parts.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    const fits = measure(parts.slice(0, middle).join("") + "…", size, font, weight) <= limit;
    [low, high] = fits ? [middle, high] : [low, middle - 1];
  }
  return parts.slice(0, low).join("") + "…";
}
