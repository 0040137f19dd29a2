// Places elements by numbers: custom properties that a style sheet computes with. They are set by
// script, which the policy of the page admits, and are numbers, never text.

/** Returns the properties of an element with these numbers: `{from: 25}` is `--from: 25`. */
export function placed(numbers) {
  const properties = {};
  for (const [name, value] of Object.entries(numbers)) properties[`--${name}`] = Number.isFinite(value) ? String(value) : "0";
  return { style: properties };
}
