// The values of widgets as texts: with the prefix, suffix and decimals that a widget has.

import { amount, bytes } from "../kit/format.js";

const formats = new Map();
const grouped = new Intl.NumberFormat(undefined, { maximumFractionDigits: 2 });
const GROUPED_MAX = 1e9;
const FIXED_MAX = 1e15;

function fixed(decimals) {
  const key = `fixed ${decimals}`;
  if (!formats.has(key)) formats.set(key, new Intl.NumberFormat(undefined, { minimumFractionDigits: decimals, maximumFractionDigits: decimals }));
  return formats.get(key);
}

function isNumber(value) {
  return typeof value === "number" && Number.isFinite(value);
}

function made({ prefix, suffix, decimals }, isWhole) {
  const unit = suffix?.trim();
  if (!prefix && (unit === "B" || unit === "bytes")) return (value) => (isNumber(value) ? bytes(value) : "–");
  const digits = (value) => {
    const size = Math.abs(value);
    if (Number.isInteger(decimals) && size < FIXED_MAX) return fixed(Math.min(decimals, 15)).format(value);
    return isWhole && size >= 1 && size < GROUPED_MAX ? grouped.format(value) : amount(value);
  };
  return (value) => (isNumber(value) ? `${prefix ?? ""}${digits(value)}${suffix ?? ""}` : "–");
}

/**
 * Returns the function that writes the values of a widget; the same one for the same format. With
 * `isWhole`, large numbers are written in full as long as they can be read.
 */
export function formatterOf(options, { isWhole = false } = {}) {
  const format = options?.format ?? {};
  const key = `${isWhole} ${JSON.stringify([format.prefix ?? null, format.suffix ?? null, format.decimals ?? null])}`;
  if (!formats.has(key)) formats.set(key, made(format, isWhole));
  return formats.get(key);
}

/** Returns a value as the API has it, for whoever wants every digit. */
export function exact(value) {
  return isNumber(value) ? String(value) : "no value";
}
