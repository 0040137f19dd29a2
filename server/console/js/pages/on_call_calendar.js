// The shifts of a schedule in weeks: bars over the days. Dragging over them chooses a stretch of time
// for an override; the button of a day does the same for that day. The agenda is the same as a list.

import { useRef, useState } from "preact/hooks";
import { useElement } from "../kit/element.js";
import { day, hour, instant } from "../kit/format.js";
import { html } from "../kit/html.js";
import { Icon } from "../parts/icon.js";
import { placed } from "../parts/placed.js";
import { beginOf, dayAfter, dayOf, partIn, timeAt } from "./on_call_days.js";
import { colourOf } from "./on_call_people.js";

/** @import { OnCallSchedule, OnCallShift } from "telltale" */

const begin = (shift) => (shift.starts_at ? Date.parse(shift.starts_at) : -Infinity);
const end = (shift) => (shift.ends_at ? Date.parse(shift.ends_at) : Infinity);

/**
 * Returns the override that a shift is of: the last one that covers it.
 * @param {OnCallSchedule} schedule
 * @param {OnCallShift} shift
 */
export function overrideOf(schedule, shift) {
  if (shift.source !== "override") return null;
  return [...schedule.overrides].reverse().find((one) => one.user === shift.user && Date.parse(one.starts_at) <= begin(shift) && Date.parse(one.ends_at) >= end(shift)) ?? null;
}

export function rangeText(from, to) {
  const text = (time) => `${day(time)}, ${hour(time)}`;
  return `${from ? text(from) : "ever since"} – ${to ? text(to) : "no end"}`;
}

/** @param {Props<{shift: OnCallShift, schedule: OnCallSchedule}>} props */
function Bar({ shift, part, schedule }) {
  const override = overrideOf(schedule, shift);
  const kind = `${shift.user ? colourOf(schedule.members, shift.user) : "gap"} ${shift.source} ${part.isBegun ? "begun" : ""} ${part.isOpen ? "open" : ""}`;
  return html`<div class=${`shift ${kind}`} data-override=${override?.id} title=${`${shift.user ?? "Nobody"}\n${rangeText(shift.starts_at, shift.ends_at)}\n${shift.source}`} ...${placed({ from: part.from, size: part.size })}>
    <span>${shift.source === "override" && html`<${Icon} name="repeat" /> `}${shift.user ?? "Nobody"}</span></div>`;
}

function Week({ one, index, month, shifts, schedule, selection, onDay, isLarge }) {
  const today = dayOf(Date.now());
  const now = partIn(one, Date.now(), Date.now() + 1);
  const chosen = selection && partIn(one, Math.min(...selection), Math.max(...selection));
  const parts = shifts.map((shift) => ({ shift, part: partIn(one, begin(shift), end(shift)) })).filter(({ part }) => part);
  return html`<div class=${`week ${isLarge ? "large" : ""}`} data-week=${index}>
    <div class="week-days">${one.days.map((name) => html`<div key=${name} class=${`day ${month && name.slice(0, 7) !== month ? "other" : ""} ${name === today ? "today" : ""}`}>
      <button type="button" aria-label=${`Override on ${day(beginOf(name))}`} onClick=${() => onDay(name)}>${Number(name.slice(8))}</button></div>`)}</div>
    <div class="week-bars">${parts.map(({ shift, part }) => html`<${Bar} key=${`${shift.starts_at}`} shift=${shift} part=${part} schedule=${schedule} />`)}
      ${chosen && html`<div class="selection" ...${placed({ from: chosen.from, size: chosen.size })}></div>`}
      ${now && html`<div class="now-line" ...${placed({ from: now.from })}></div>`}</div>
  </div>`;
}

/**
 * Returns the time under the pointer.
 * @returns {number | null}
 */
function timeUnder(box, weeks, event, isHours, isEnd) {
  /** @type {HTMLElement | null | undefined} */
  const element = document.elementFromPoint(event.clientX, event.clientY)?.closest("[data-week]");
  if (!element || !box.contains(element)) return null;
  const one = weeks[Number(element.dataset.week)];
  const { left, width } = element.getBoundingClientRect();
  const position = Math.max(0, Math.min(6.999, (7 * (event.clientX - left)) / width));
  if (isHours) return timeAt(one, position);
  return one.begins[Math.floor(position) + (isEnd ? 1 : 0)];
}

/** @typedef {{first: number, end: number, x: number, y: number, override?: string}} Start */

/** Chooses a stretch of time by dragging with a mouse or a pen; touch scrolls. */
function useDragging(weeks, isHours, { onRange, onOverride }) {
  const box = /** @type {ElementRef<HTMLDivElement>} */ (useElement());
  const start = useRef(/** @type {Start | null} */ (null));
  const [selection, setSelection] = useState(/** @type {[number, number] | null} */ (null));
  const onPointerDown = (event) => {
    if (event.button !== 0 || event.pointerType === "touch" || event.target.closest("button")) return;
    const [first, end] = [false, true].map((isEnd) => timeUnder(box.current, weeks, event, isHours, isEnd));
    start.current = null;
    if (first === null || end === null) return;
    const { override } = event.target.closest("[data-override]")?.dataset ?? {};
    start.current = { first, end, x: event.clientX, y: event.clientY, override };
    event.preventDefault();
  };
  /** @returns {[number, number] | null} */
  const between = ({ first, end: last }, event) => {
    const [at, end] = [false, true].map((isEnd) => timeUnder(box.current, weeks, event, isHours, isEnd));
    if (at === null || end === null) return selection;
    return at < first ? [at, last] : [first, end];
  };
  const onPointerMove = (event) => {
    if (!start.current) return;
    if (Math.hypot(event.clientX - start.current.x, event.clientY - start.current.y) > 5 || selection) setSelection(between(start.current, event));
  };
  const onPointerUp = () => {
    const { override } = start.current ?? {};
    start.current = null;
    setSelection(null);
    if (selection && selection[1] > selection[0]) onRange(selection[0], selection[1]);
    else if (override) onOverride(override);
  };
  const onPointerLeave = () => {
    start.current = null;
    setSelection(null);
  };
  return { selection, handlers: { ref: box, onPointerDown, onPointerMove, onPointerUp, onPointerLeave } };
}

/**
 * `weeks` are shown; in a single one hours can be chosen.
 * @param {Props<{shifts: OnCallShift[], schedule: OnCallSchedule}>} props
 */
export function Calendar({ weeks, month, shifts, schedule, onRange, onOverride }) {
  const isHours = weeks.length === 1;
  const { selection, handlers } = useDragging(weeks, isHours, { onRange, onOverride });
  const onDay = (name) => onRange(beginOf(name), beginOf(dayAfter(name)));
  return html`<div class="calendar" role="group" aria-label="Calendar" ...${handlers}>
    <div class="week-names" aria-hidden="true">${weeks[0].days.map((name) => html`<span key=${name}>${new Date(`${name}T12:00:00Z`).toLocaleDateString(undefined, { weekday: "short", timeZone: "UTC" })}</span>`)}</div>
    ${weeks.map((one, index) => html`<${Week} key=${one.days[0]} one=${one} index=${index} month=${month} shifts=${shifts} schedule=${schedule} selection=${selection} onDay=${onDay} isLarge=${isHours} />`)}
    <p class="unseen" role="status">${selection ? `${instant(selection[0])} to ${instant(selection[1])}` : ""}</p>
  </div>`;
}
