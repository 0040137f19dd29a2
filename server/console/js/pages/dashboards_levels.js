// Thresholds: from which value on a number is good, needs a look, or is critical.

const known = new Map();

/** Returns the thresholds of a widget as levels of charts, from the lowest; the same ones for the same options. */
export function levelsOf({ thresholds }) {
  if (!thresholds?.length) return undefined;
  const key = JSON.stringify(thresholds);
  if (!known.has(key)) {
    const levels = thresholds.map(({ value, level, label }) => ({ value, kind: level, label }));
    known.set(key, levels.sort((a, b) => a.value - b.value));
  }
  return known.get(key);
}

/** Returns what a value has reached: `good`, `warning`, `critical`, or nothing. */
export function levelAt(value, levels) {
  if (!levels || typeof value !== "number") return "";
  return levels.reduce((reached, { value: from, kind }) => (value >= from ? kind : reached), "");
}
