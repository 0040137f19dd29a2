// Numbers, counts and times as people read them, in the language of the browser and the zone that
// was chosen.

import { currentZone } from "./zone.js";

const number = new Intl.NumberFormat(undefined, { maximumFractionDigits: 3 });
const precise = new Intl.NumberFormat(undefined, { maximumSignificantDigits: 4 });
const short = new Intl.NumberFormat(undefined, { notation: "compact", maximumFractionDigits: 1 });
const percent = new Intl.NumberFormat(undefined, { style: "percent", maximumFractionDigits: 2 });
const relative = new Intl.RelativeTimeFormat(undefined, { numeric: "auto" });
const formats = new Map();

/** @type {[Intl.RelativeTimeFormatUnit, number][]} */
const UNITS = [
  ["year", 31_536_000],
  ["month", 2_592_000],
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
];
/** @type {[number, string][]} */
const LENGTHS = [
  [86_400, "d"],
  [3_600, "h"],
  [60, "min"],
  [1, "s"],
];
const SIZES = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
/** So far from 1970 dates of JavaScript go, in milliseconds. */
const TIME_MAX = 8.64e15;

/** Returns a number with separators; a large one shortened, a very large or small one with an exponent. */
export function amount(value) {
  if (typeof value !== "number" || !Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size >= 1e15 || (size > 0 && size < 1e-4)) return value.toExponential(2);
  if (size >= 100_000) return short.format(value);
  return size > 0 && size < 1 ? precise.format(value) : number.format(value);
}

/** Returns a number as it is, with separators: where somebody decides by it, or compares it with another. */
export function whole(value) {
  return Math.abs(value) < 1e15 ? number.format(value) : amount(value);
}

/**
 * Returns a value with the unit of its metric: `ms`, `s`, `bytes`, `percent`, or any text; or as a function says.
 * @param {string | ((value: unknown) => string)} [unit]
 */
export function withUnit(value, unit = "") {
  if (typeof unit === "function") return unit(value);
  if (typeof value !== "number" || !Number.isFinite(value)) return "–";
  if (unit === "bytes") return bytes(value);
  if (unit === "percent") return `${amount(value)} %`;
  if (unit === "ms") return Math.abs(value) >= 1000 ? `${amount(value / 1000)} s` : `${amount(value)} ms`;
  return unit ? `${amount(value)} ${unit}` : amount(value);
}

/** Returns a size in bytes. */
export function bytes(value) {
  if (!Number.isFinite(value)) return "–";
  const power = Math.min(SIZES.length - 1, Math.max(0, Math.floor(Math.log2(Math.max(1, Math.abs(value))) / 10)));
  const size = value / 1024 ** power;
  return `${number.format(Number(size.toPrecision(Math.abs(size) >= 1000 ? 4 : 3)))} ${SIZES[power]}`;
}

/** Returns a part of one in percent. */
export function share(value) {
  return Number.isFinite(value) ? percent.format(value) : "–";
}

/** Returns a count with its noun. */
export function count(value, noun, nouns = `${noun}s`) {
  return `${whole(value)} ${value === 1 ? noun : nouns}`;
}

/** Returns a length of time, given in seconds: “1 h 30 min”. */
export function duration(seconds) {
  if (!Number.isFinite(seconds)) return "–";
  if (seconds < 0) return `-${duration(-seconds)}`;
  if (Math.round(seconds * 1000) < 1000) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 10) return `${number.format(Math.round(seconds * 10) / 10)} s`;
  const at = LENGTHS.findIndex(([size]) => Math.round(seconds) >= size);
  const [[size, unit], [small, smallUnit] = [1, ""]] = [LENGTHS[at], LENGTHS[at + 1]];
  const rounded = Math.round(seconds / small) * small;
  // The smaller unit may be rounded up to a whole one of the next larger: 23 h and 59.9 min.
  if (at > 0 && rounded >= LENGTHS[at - 1][0]) return duration(rounded);
  const rest = Math.round((rounded % size) / small);
  const text = `${number.format(Math.floor(rounded / size))} ${unit}${rest > 0 ? ` ${rest} ${smallUnit}` : ""}`;
  return text.replaceAll(" ", "\u00a0");
}

/** Returns how far a time is from now: “5 minutes ago”. */
export function ago(time, now = Date.now()) {
  const seconds = (milliseconds(time) - now) / 1000;
  if (Number.isNaN(seconds)) return "–";
  for (const [unit, length] of UNITS) {
    if (Math.abs(seconds) >= length) return relative.format(Math.trunc(seconds / length), unit);
  }
  return Math.abs(seconds) < 10 ? "just now" : relative.format(Math.trunc(seconds), "second");
}

/** Returns whether milliseconds are a time that a calendar has. */
export const isTime = (at) => Math.abs(at) <= TIME_MAX;

/** Times are texts of the API or milliseconds. */
function milliseconds(time) {
  return typeof time === "number" ? time : Date.parse(time);
}

function format(name, options) {
  const zone = currentZone();
  const key = `${name} ${zone}`;
  if (!formats.has(key)) formats.set(key, new Intl.DateTimeFormat(undefined, { ...options, timeZone: zone }));
  return formats.get(key);
}

function shown(time, name, options) {
  const at = milliseconds(time);
  return isTime(at) ? format(name, options).format(at) : "–";
}

/** Returns a time in full. */
export const instant = (time) => shown(time, "instant", { dateStyle: "medium", timeStyle: "medium" });

/** Returns a time to the minute. */
export const minute = (time) => shown(time, "minute", { month: "short", day: "numeric", hour: "2-digit", minute: "2-digit" });

/** Returns the time of the day, with milliseconds. */
export const clock = (time) =>
  shown(time, "clock", { hour: "2-digit", minute: "2-digit", second: "2-digit", fractionalSecondDigits: 3 });

/** Returns the time of the day to the minute. */
export const hour = (time) => shown(time, "hour", { hour: "2-digit", minute: "2-digit" });

/** Returns a day. */
export const day = (time) => shown(time, "day", { weekday: "short", month: "short", day: "numeric" });
