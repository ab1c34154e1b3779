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

// name: [light, dark], used where the app's style sheet (--se-*) is not on the page
const ROLES = {
  source: ["#2360c5", "#82b4ff"], target: ["#b45207", "#f5a55f"], state: ["#6941d9", "#b8a4ff"],
  decision: ["#17744a", "#63cf97"], masked: ["#eceff3", "#20262e"], "masked-line": ["#b7bfca", "#4c5663"],
  mute: ["#586270", "#9ba7b6"], line: ["#e2e6ec", "#2b333e"],
};
const SCALES = {
  seq: [
    ["#f4f7fb", "#dfe8f5", "#c5d6ee", "#a4bfe5", "#7fa4d9", "#5b88cb", "#3d6eb9", "#2757a4", "#17418a"],
    ["#171d26", "#1b2a42", "#20395f", "#284b80", "#3560a3", "#4a7cc6", "#6c9be0", "#98bdf3", "#cfe1ff"],
  ],
  div: [
    ["#8c2d14", "#bb5533", "#dd8d6c", "#f2c9b5", "#f5f6f7", "#c0d8e6", "#7fb2cf", "#3a84ad", "#0f5680"],
    ["#ffb79c", "#e28a66", "#a85b3d", "#623a2c", "#1d232b", "#24455a", "#31708f", "#58a5cb", "#a5daf5"],
  ],
};
const themes = new Map();

function readTheme(element) {
  const style = getComputedStyle(element);
  const get = (name, fallback) => {
    const value = style.getPropertyValue(name).trim();
    return value && value !== "unset" ? value : fallback;
  };
  const bg = get("--st-background-color", "#ffffff");
  const ink = get("--st-text-color", "#1a1f26");
  const fonts = [get("--st-font", "system-ui, sans-serif"), get("--st-code-font", "ui-monospace, monospace")];
  const id = [bg, ink, get("--st-primary-color", ""), get("--se-source", ""), ...fonts].join("|");
  if (!themes.has(id)) themes.set(id, makeTheme(get, bg, ink, fonts));
  return themes.get(id);
}

function makeTheme(get, bg, ink, [sans, mono]) {
  const dark = luminance(bg) < 0.2;
  const side = dark ? 1 : 0;
  const role = (name) => get(`--se-${name}`, ROLES[name][side]);
  const scale = (name) => SCALES[name][side].map((colour, i) => get(`--se-${name}-${i}`, colour));
  const inks = ["#ffffff", "#10141a"];
  return {
    bg, ink, sans, mono, dark,
    primary: get("--st-primary-color", "#2360c5"),
    muted: role("mute"),
    line: role("line"),
    source: role("source"),
    target: role("target"),
    state: role("state"),
    decision: role("decision"),
    change: dark ? "#ff86b5" : "#c01f63",
    gold: dark ? "#ffd25e" : "#a87400",
    mask: role("masked"),
    maskLine: role("masked-line"),
    sequential: ramp(scale("seq"), inks),
    diverging: ramp(scale("div"), inks),
  };
}

// The same colours for the parts that are plain HTML.
function dress(root, theme) {
  for (const name of ["source", "target", "state", "decision", "change", "gold", "maskLine", "muted"])
    root.style.setProperty(`--${name.toLowerCase()}`, theme[name]);
}
