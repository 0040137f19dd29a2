// Days and weeks of a calendar in the chosen zone, and where times are in them. A day may have 23 or
// 25 hours.

import { fromLocal, toLocal } from "../kit/zone.js";

const DAY_MS = 86_400_000;
const MONDAY = 1;

/** Returns the day of a time, as `2026-11-27`. */
export const dayOf = (time) => toLocal(time).slice(0, 10);

/** Returns the day that is `by` days later. */
export const dayAfter = (day, by = 1) => new Date(Date.parse(`${day}T00:00:00Z`) + by * DAY_MS).toISOString().slice(0, 10);

/** Returns when a day begins. */
export const beginOf = (day) => fromLocal(`${day}T00:00:00`);

/** Returns whether a text is a day, of a year that is far from where dates are written in other ways. */
export const isDay = (text) =>
  /^(?:19|2\d)\d{2}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(`${text}T00:00:00Z`));

function firstWeekday() {
  try {
    const locale = new Intl.Locale(navigator.language);
    return (locale.getWeekInfo?.() ?? locale.weekInfo)?.firstDay ?? MONDAY;
  } catch {
    return MONDAY;
  }
}

/** Returns the first day of the week of a day. */
export function weekOf(day) {
  const weekday = new Date(`${day}T00:00:00Z`).getUTCDay() || 7;
  return dayAfter(day, -((weekday - firstWeekday() + 7) % 7));
}

/** Returns a week: its days, and when each of them begins, with the end of the last. */
export function week(first) {
  const days = Array.from({ length: 7 }, (_, i) => dayAfter(first, i));
  return { days, begins: [...days, dayAfter(first, 7)].map(beginOf) };
}

/** Returns the weeks that a month touches. */
export function weeksOfMonth(day) {
  const month = day.slice(0, 7);
  const weeks = [];
  for (let first = weekOf(`${month}-01`); first.slice(0, 7) <= month; first = dayAfter(first, 7)) weeks.push(week(first));
  return weeks;
}

/** Returns the same month, `by` months later: its first day. */
export function monthAfter(day, by) {
  const [year, month] = day.split("-").map(Number);
  return new Date(Date.UTC(year, month - 1 + by, 1)).toISOString().slice(0, 10);
}

/** Returns where a time is in a week, from 0 to 7 days. */
function positionIn({ begins }, time) {
  if (time <= begins[0]) return 0;
  for (let i = 0; i < 7; i++) {
    if (time < begins[i + 1]) return i + (time - begins[i]) / (begins[i + 1] - begins[i]);
  }
  return 7;
}

/** Returns the time at a position of a week, from 0 to 7 days, down to the whole hour. */
export function timeAt({ begins }, position) {
  const i = Math.max(0, Math.min(6, Math.floor(position)));
  const length = begins[i + 1] - begins[i];
  const hours = Math.round((Math.max(0, Math.min(1, position - i)) * length) / 3_600_000);
  return begins[i] + hours * 3_600_000;
}

/** Returns the part of a stretch of time that is in a week, in percent, or null. */
export function partIn(one, from, to) {
  const [first, last] = [positionIn(one, from), positionIn(one, to)];
  if (to <= one.begins[0] || from >= one.begins[7] || last <= first) return null;
  return { from: (first * 100) / 7, size: ((last - first) * 100) / 7, isBegun: from < one.begins[0], isOpen: to > one.begins[7] };
}
