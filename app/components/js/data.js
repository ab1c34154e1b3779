// Numbers and words as they arrive from Python, and the small bus that links components on a page.

function bytes(text) {
  const raw = atob(text);
  const out = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) out[i] = raw.charCodeAt(i);
  return out;
}

function numbers(packed) {
  if (!packed) return null;
  const raw = bytes(packed.b);
  if (packed.type === "f4") return new Float32Array(raw.buffer);
  const [low, high] = packed.range;
  return Float32Array.from(raw, (v) => low + (v / 255) * (high - low));
}

function bits(packed) {
  if (!packed) return null;
  const raw = bytes(packed.b);
  return Uint8Array.from({ length: packed.n }, (_, i) => (raw[i >> 3] >> (7 - (i & 7))) & 1);
}

// Spaces, control and direction-override characters as something a reader can see (and XML may hold).
function visible(word) {
  const text = String(word)
    .replace(/[\u0000-\u001f]/g, (c) => String.fromCharCode(0x2400 + c.charCodeAt(0)))
    .replace(/[\u007f-\u009f\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff\ufffe\uffff]/g, "\ufffd")
    .replace(/\p{Surrogate}/gu, "\ufffd");
  return text.trim() === "" ? "␣" : text;
}

// |weight| below the last digit would print as "-0.00".
function decimal(value, digits) {
  const text = value.toFixed(digits);
  return Number(text) === 0 ? (0).toFixed(digits) : text.replace("-", "−");
}

const BUS = "sequence-explorer:point";
function say(origin, group, point) {
  if (group) document.dispatchEvent(new CustomEvent(BUS, { detail: { origin, group, point } }));
}
function listen(origin, groups, hear) {
  const handler = ({ detail }) => {
    if (detail.origin !== origin && groups().includes(detail.group)) hear(detail.point, detail.group);
  };
  document.addEventListener(BUS, handler);
  return () => document.removeEventListener(BUS, handler);
}
