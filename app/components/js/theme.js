// Colours: one language for every component, read from Streamlit's CSS variables so that dark mode follows.

const probe = document.createElement("canvas").getContext("2d");

function rgb(colour) {
  probe.fillStyle = "#000";
  probe.fillStyle = colour;
  const text = probe.fillStyle;
  if (text[0] === "#") return [1, 3, 5].map((i) => parseInt(text.slice(i, i + 2), 16));
  return text.match(/[\d.]+/g).slice(0, 3).map(Number);
}

const hex = (c) => "#" + c.map((v) => Math.round(v).toString(16).padStart(2, "0")).join("");
const mix = (a, b, t) => hex(rgb(a).map((v, i) => v + (rgb(b)[i] - v) * t));

function luminance(colour) {
  const [r, g, b] = rgb(colour).map((v) => {
    v /= 255;
    return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(a, b) {
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
}

// 256 colours through evenly spaced stops, and for each the ink that reads best on it.
function ramp(stops, inks) {
  const colours = [];
  const points = stops.map(rgb);
  for (let k = 0; k < 256; k++) {
    const at = (k / 255) * (points.length - 1);
    const i = Math.min(points.length - 2, Math.floor(at));
    colours.push(hex(points[i].map((v, c) => v + (points[i + 1][c] - v) * (at - i))));
  }
  const ink = colours.map((c) => (contrast(c, inks[0]) >= contrast(c, inks[1]) ? inks[0] : inks[1]));
  return { colours, ink };
}

const themes = new Map();

function readTheme(element) {
  const style = getComputedStyle(element);
  const get = (name, fallback) => {
    const value = style.getPropertyValue(name).trim();
    return value && value !== "unset" ? value : fallback;
  };
  const bg = get("--st-background-color", "#ffffff");
  const ink = get("--st-text-color", "#1b1f24");
  const sans = get("--st-font", "system-ui, sans-serif");
  const mono = get("--st-code-font", "ui-monospace, monospace");
  const primary = get("--st-primary-color", "#1d4fa8");
  const id = [bg, ink, sans, mono, primary].join("|");
  if (!themes.has(id)) themes.set(id, makeTheme(bg, ink, sans, mono, primary));
  return themes.get(id);
}

function makeTheme(bg, ink, sans, mono, primary) {
  const dark = luminance(bg) < 0.2;
  const pick = (light, night) => (dark ? night : light);
  const zero = mix(bg, dark ? "#ffffff" : "#2f5fae", dark ? 0.055 : 0.045);
  const inks = ["#ffffff", "#101c33"];
  const blue = pick(["#cbd9ef", "#8fb0e0", "#4a78c4", "#1b4a9c"], ["#1f3d6b", "#2a5fae", "#4a8eea", "#9cc9ff"]);
  const rose = pick(["#8f1d4f", "#c65a88", "#ecc3d5"], ["#ff9cc0", "#b8497a", "#552840"]);
  return {
    bg, ink, sans, mono, primary, dark,
    muted: mix(bg, ink, 0.62),
    faint: mix(bg, ink, 0.36),
    line: mix(bg, ink, 0.14),
    source: pick("#2463cf", "#79b0ff"),
    target: pick("#bd5606", "#ffab66"),
    state: pick("#6a48e8", "#b3a0ff"),
    decide: pick("#1a7f4b", "#5fd394"),
    change: pick("#c01f63", "#ff86b5"),
    gold: pick("#b07d00", "#ffd25e"),
    mask: mix(bg, ink, pick(0.06, 0.1)),
    maskLine: mix(bg, ink, pick(0.24, 0.3)),
    sequential: ramp([zero, ...blue], inks),
    diverging: ramp([...rose, zero, ...blue.slice(1)], inks),
  };
}
