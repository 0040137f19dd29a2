// The range of time that pages show, and how often they load again. The range is in the address;
// a page that is opened without one takes over that of the page before.

import { computed, signal } from "@preact/signals";
import { place, setQuery } from "./router.js";

const STORED = "telltale.refresh";
const UNIT_SECONDS = { s: 1, m: 60, h: 3_600, d: 86_400, w: 604_800 };
const DEFAULT = "1h";

/** Lengths that are offered. */
export const LENGTHS = ["5m", "15m", "30m", "1h", "3h", "6h", "12h", "24h", "2d", "7d", "30d", "90d"];

/** Seconds between two loads that are offered; 0 is never. */
export const REFRESHES = [0, 5, 10, 30, 60, 300];

/** Returns the seconds of a length such as `15m`, or null. */
export function secondsOf(length) {
  const [, count, unit] = /^(\d{1,6})([smhdw])$/.exec(length) ?? [];
  return count && Number(count) > 0 ? Number(count) * UNIT_SECONDS[unit] : null;
}

/**
 * @param {URLSearchParams} query
 * @returns {Range | null}
 */
function ofQuery(query) {
  const [from, to] = [Date.parse(query.get("from") ?? ""), Date.parse(query.get("to") ?? "")];
  if (from < to) return { from, to };
  const last = query.get("last");
  return last && secondsOf(last) ? { last } : null;
}

/**
 * A range: its length up to now, or its limits in milliseconds.
 * @typedef {{last: string, from?: undefined, to?: undefined} | {last?: undefined, from: number, to: number}} Range
 */

/** @type {Range | null} */
let latest = null;

/** The chosen range. */
export const chosen = computed(() => {
  latest = ofQuery(place.value.query) ?? latest;
  return latest ?? { last: DEFAULT };
});

/** Shows a range that suits a page, unless somebody has chosen one before. */
export function showAtFirst(last) {
  if (!ofQuery(place.value.query) && !latest) setQuery({ last, from: null, to: null }, { replace: true });
}

/** Counts the loads that somebody or the timer asked for. */
export const loads = signal(0);

/** Returns the limits of the chosen range now, in milliseconds: `{from, to}`. */
export function limits(now = Date.now()) {
  const range = chosen.value;
  if (range.last === undefined) return { from: range.from, to: range.to };
  return { from: now - (secondsOf(range.last) ?? 0) * 1000, to: now };
}

/** Returns the limits as the API takes them. */
export function limitsOfQuery() {
  const { from, to } = limits();
  return { from: new Date(from).toISOString(), to: new Date(to).toISOString() };
}

/** A text that changes whenever what a page shows of the range has to be loaded again. */
export const rangeKey = computed(() => `${JSON.stringify(chosen.value)} ${loads.value}`);

/** Shows the last while, such as `15m`. */
export function showLast(last) {
  setQuery({ last, from: null, to: null });
}

/** Shows a range in milliseconds. */
export function showBetween(from, to) {
  const [first, last] = [Math.floor(Math.min(from, to)), Math.ceil(Math.max(from, to))];
  setQuery({ last: null, from: new Date(first).toISOString(), to: new Date(Math.max(last, first + 1000)).toISOString() });
}

/** Moves the range by a part of its length; the end is not moved beyond now. */
export function shift(part, now = Date.now()) {
  const { from, to } = limits(now);
  // Nor is the begin moved before the first time that the server knows.
  const by = Math.max(Math.min((to - from) * part, Math.max(0, now - to)), -Math.max(0, from));
  if (by !== 0) showBetween(from + by, to + by);
}

/** Doubles the range around its middle; the end is not moved beyond now. */
export function zoomOut(now = Date.now()) {
  const { from, to } = limits(now);
  const end = Math.min(to + (to - from) / 2, Math.max(now, to));
  showBetween(Math.max(end - 2 * (to - from), Math.min(0, from)), end);
}

/** Seconds until what is shown is loaded again; 0 is never. */
export const refresh = signal(REFRESHES.includes(Number(localStorage.getItem(STORED))) ? Number(localStorage.getItem(STORED)) : 0);

/** Sets and remembers how often to load. */
export function refreshEvery(seconds) {
  refresh.value = seconds;
  localStorage.setItem(STORED, String(seconds));
}

/** Loads again now. */
export function loadAgain() {
  loads.value += 1;
}
