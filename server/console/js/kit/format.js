// Numbers, counts and times as people read them, in the language of the browser.

const number = new Intl.NumberFormat();
const short = new Intl.NumberFormat(undefined, { notation: "compact", maximumFractionDigits: 1 });
const full = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
const relative = new Intl.RelativeTimeFormat(undefined, { numeric: "auto" });

const UNITS = [
  ["year", 31_536_000],
  ["month", 2_592_000],
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
];

/** Returns a number with separators; a large one shortened. */
export function amount(value) {
  if (!Number.isFinite(value)) return "–";
  return Math.abs(value) >= 100_000 ? short.format(value) : number.format(value);
}

/** Returns a count with its noun. */
export function count(value, noun) {
  return `${amount(value)} ${value === 1 ? noun : `${noun}s`}`;
}

/** Returns a length of time, given in seconds. */
export function duration(seconds) {
  if (!Number.isFinite(seconds)) return "–";
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 60) return `${Math.round(seconds)} s`;
  if (seconds < 3_600) return `${Math.round(seconds / 60)} min`;
  if (seconds < 86_400) return `${Math.round(seconds / 3_600)} h`;
  return `${Math.round(seconds / 86_400)} d`;
}

/** Returns how far a time is from now: “5 minutes ago”. */
export function ago(iso, now = Date.now()) {
  const seconds = (Date.parse(iso) - now) / 1000;
  if (Number.isNaN(seconds)) return "–";
  for (const [unit, length] of UNITS) {
    if (Math.abs(seconds) >= length) return relative.format(Math.trunc(seconds / length), unit);
  }
  return Math.abs(seconds) < 10 ? "just now" : relative.format(Math.trunc(seconds), "second");
}

/** Returns a time in full. */
export function instant(iso) {
  const time = Date.parse(iso);
  return Number.isNaN(time) ? "–" : full.format(time);
}
