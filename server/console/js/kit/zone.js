// The time zone in which times are shown: that of the browser, unless somebody chose one in it.

import { signal } from "@preact/signals";

const STORED = "telltale.zone";

/** Returns whether the browser knows a zone. */
export function isKnown(zone) {
  try {
    new Intl.DateTimeFormat(undefined, { timeZone: zone });
    return true;
  } catch {
    return false;
  }
}

const stored = localStorage.getItem(STORED) ?? "";

// Asking the browser takes long, and a chart needs it for every time on its axis.
const ofBrowser = Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";

/** The name of a zone, or nothing for that of the browser. */
export const zone = signal(stored && isKnown(stored) ? stored : "");

/** Sets and remembers the zone. */
export function chooseZone(name) {
  zone.value = name && isKnown(name) ? name : "";
  localStorage.setItem(STORED, zone.value);
}

/** Returns the name of the zone that applies. */
export function currentZone() {
  return zone.value || ofBrowser;
}

const DAY_MS = 86_400_000;
const clocks = new Map();

/** Returns what tells the wall clock of a zone; making one takes long. */
function clockOf(name) {
  if (!clocks.has(name)) {
    clocks.set(name, new Intl.DateTimeFormat("en-US", {
      timeZone: name, hourCycle: "h23", year: "numeric", month: "numeric", day: "numeric",
      hour: "numeric", minute: "numeric", second: "numeric",
    }));
  }
  return clocks.get(name);
}

function offsetOf(time, name) {
  const parts = clockOf(name).formatToParts(time);
  const part = (type) => Number(parts.find((one) => one.type === type)?.value);
  const local = Date.UTC(part("year"), part("month") - 1, part("day"), part("hour"), part("minute"), part("second"));
  return local - Math.floor(time / 1000) * 1000;
}

/** Returns a time in the zone as fields for date and time have it: `2026-11-27T09:30:00`. */
export function toLocal(time) {
  return new Date(time + offsetOf(time, currentZone())).toISOString().slice(0, 19);
}

/**
 * Returns the time of a text as fields for date and time have it, in the zone; NaN if it is none.
 * Of a time that comes twice it is the first, of a time that is skipped the one as much later.
 */
export function fromLocal(text) {
  const naive = Date.parse(`${text}Z`);
  if (Number.isNaN(naive)) return NaN;
  const name = currentZone();
  const before = naive - offsetOf(naive - DAY_MS, name);
  const after = naive - offsetOf(naive + DAY_MS, name);
  // Each is a time if the clock shows the text then.
  const isShown = (time) => time + offsetOf(time, name) === naive;
  return isShown(before) || !isShown(after) ? before : after;
}

/** Returns a time, in milliseconds, down to the minute, as fields have it. */
export const localOf = (time) => toLocal(time).slice(0, 16);

/**
 * Returns the time of such a text as the API takes it, or undefined if it is none. One that was not changed stays as
 * it was `before`: it keeps its seconds.
 */
export function timeOf(text, before = null) {
  if (before && localOf(Date.parse(before)) === text) return before;
  const at = fromLocal(text);
  return Number.isNaN(at) ? undefined : new Date(at).toISOString();
}
