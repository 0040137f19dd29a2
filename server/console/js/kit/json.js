// JSON with numbers exactly as they were sent: those that a number of JavaScript cannot hold, such
// as ids of 64 bits, keep their digits.

/** Parses a text. A number that would change is an object that `text` writes as it was. */
export function parse(source) {
  const { rawJSON } = JSON;
  if (!rawJSON) return JSON.parse(source);
  return JSON.parse(source, (_, value, { source: digits }) =>
    typeof value === "number" && digits !== String(value) ? rawJSON(digits) : value);
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
