// The days of a monitor as bars: small ones for lists, and those of one monitor, which the keyboard
// goes through.

import { useEffect, useState } from "preact/hooks";
import { get } from "../api/client.js";
import { useElement } from "../kit/element.js";
import { duration } from "../kit/format.js";
import { html } from "../kit/html.js";
import { uptimeText } from "./status_words.js";

/** @import { MonitorDay, MonitorUptime } from "telltale" */

const KEPT_MS = 5 * 60_000;
const HEIGHT = 24;
const kept = new Map();

/** Loads the days of a monitor; they are kept for some minutes. */
export async function loadUptime(id, abort) {
  const found = kept.get(id);
  if (found && Date.now() - found.at < KEPT_MS) return found.uptime;
  const uptime = await get(`/monitors/${encodeURIComponent(id)}/uptime`, abort);
  kept.set(id, { uptime, at: Date.now() });
  return uptime;
}

/** Forgets the days of a monitor that has changed. */
export const forgetUptime = (id) => kept.delete(id);

/**
 * Returns the class of a day.
 * @param {MonitorDay} day
 */
function kindOf(day) {
  if (day.down_seconds > 0) return "down";
  if (day.degraded_seconds > 0) return "degraded";
  if (day.up_seconds > 0) return "up";
  return day.maintenance_seconds > 0 ? "maintained" : "none";
}

const dateOf = ({ date }) => new Date(`${date}T12:00:00Z`).toLocaleDateString(undefined, { dateStyle: "medium", timeZone: "UTC" });

/**
 * Returns a day in words.
 * @param {MonitorDay} day
 */
function textOf(day) {
  /** @type {[string, number][]} */
  const all = [["down", day.down_seconds], ["degraded", day.degraded_seconds], ["under maintenance", day.maintenance_seconds]];
  const parts = all.filter(([, seconds]) => seconds > 0);
  const said = parts.map(([name, seconds]) => `${name} for ${duration(seconds)}`).join(", ");
  if (kindOf(day) === "none") return `${dateOf(day)}: not observed`;
  return `${dateOf(day)}: ${uptimeText(day.uptime)}${said && `, ${said}`}`;
}

/**
 * Returns all days in a sentence.
 * @param {MonitorUptime} uptime
 */
function summaryOf({ uptime, days }) {
  const bad = days.filter((day) => kindOf(day) === "down");
  const last = bad[bad.length - 1];
  return `Last ${days.length} days: ${uptimeText(uptime)}, down on ${bad.length} days${last ? `, last ${textOf(last)}` : ""}`;
}

/**
 * Returns the height of a bar: a day that was down for longer is lower, as far as it can be seen.
 * @param {MonitorDay} day
 */
function heightOf(day) {
  return kindOf(day) === "none" ? HEIGHT / 3 : HEIGHT;
}

/**
 * Returns whether an element has been in view.
 * @returns {[ElementRef<HTMLSpanElement>, boolean]}
 */
function useSeen() {
  const element = /** @type {ElementRef<HTMLSpanElement>} */ (useElement());
  const [isSeen, setSeen] = useState(false);
  useEffect(() => {
    const observer = new IntersectionObserver((entries) => entries.some((entry) => entry.isIntersecting) && setSeen(true), { rootMargin: "200px" });
    observer.observe(element.current);
    return () => observer.disconnect();
  }, []);
  return [element, isSeen];
}

/** The bars of a list, loaded once they come into view. */
export function Bars({ id }) {
  const [element, isSeen] = useSeen();
  const [uptime, setUptime] = useState(/** @type {import("telltale").MonitorUptime | null} */ (null));
  useEffect(() => {
    if (!isSeen) return undefined;
    const own = new AbortController();
    loadUptime(id, own.signal).then(setUptime, () => undefined);
    return () => own.abort();
  }, [id, isSeen]);
  return html`<span class="bars" ref=${element}>${uptime && html`<svg viewBox=${`0 0 ${uptime.days.length * 4} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label=${summaryOf(uptime)}>
    ${uptime.days.map((day, i) => html`<rect key=${day.date} class=${`d-${kindOf(day)}`} x=${i * 4} y=${HEIGHT - heightOf(day)} width="3" height=${heightOf(day)}><title>${textOf(day)}</title></rect>`)}</svg>`}</span>`;
}

/**
 * The bars of one monitor: arrow keys go through the days, of which the chosen one is described.
 * @param {Props<{uptime: MonitorUptime}>} props
 */
export function Days({ uptime }) {
  const { days } = uptime;
  const list = /** @type {ElementRef<HTMLDivElement>} */ (useElement());
  const [at, setAt] = useState(days.length - 1);
  const move = (event) => {
    const target = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: days.length - 1 }[event.key];
    if (target === undefined) return;
    event.preventDefault();
    const next = Math.max(0, Math.min(days.length - 1, target));
    setAt(next);
    /** @type {HTMLElement} */ (list.current.children[next]).focus();
  };
  return html`<div><div class="day-bars" role="group" aria-label=${`${summaryOf(uptime)}. Arrow keys go through the days.`} ref=${list} onKeyDown=${move}>
      ${days.map((day, i) => html`<button key=${day.date} type="button" tabindex=${i === at ? 0 : -1} class=${`d-${kindOf(day)}`} aria-label=${textOf(day)} title=${textOf(day)}
        aria-pressed=${i === at ? "true" : "false"} onClick=${() => setAt(i)}></button>`)}</div>
    <p class="day-text"><span class="quiet small">${dateOf(days[0])}</span><span>${textOf(days[at])}</span><span class="quiet small">today (UTC)</span></p></div>`;
}
