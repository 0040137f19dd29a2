// JSON with numbers exactly as they were sent: those that a number of JavaScript cannot hold, such
// as ids of 64 bits, keep their digits.

/** What is nested deeper than this may be too deep for what the browser does with it. */
const DEPTH_MAX = 200;

function cut(value, depth) {
  if (value === null || typeof value !== "object") return value;
  if (depth === DEPTH_MAX) return "… (nested too deeply to be shown)";
  if (Array.isArray(value)) return value.map((one) => cut(one, depth + 1));
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, cut(one, depth + 1)]));
}

/** Parses a text. A number that would change is an object that `text` writes as it was. */
export function parse(source) {
  const { rawJSON } = JSON;
  if (!rawJSON) return JSON.parse(source);
  const exact = (_, value, { source: digits }) =>
    typeof value === "number" && digits !== String(value) ? rawJSON(digits) : value;
  try {
    return JSON.parse(source, exact);
  } catch (failure) {
    if (!(failure instanceof RangeError)) throw failure;
    return cut(JSON.parse(source), 0);
  }
}

/** Returns whether a value is a number that keeps its digits. */
export function isExact(value) {
  return JSON.isRawJSON?.(value) ?? false;
}

/** Returns a value as JSON for people; strings alone are without quotes. */
export function text(value) {
  return typeof value === "string" ? value : json(value);
}

/** Returns a value as JSON. */
export function json(value) {
  return JSON.stringify(value, null, 2) ?? "";
}
