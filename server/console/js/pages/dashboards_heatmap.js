// A widget of hours and weekdays: a table whose cells are the darker, the larger their number is.

import { html } from "../kit/html.js";
import { exact, formatterOf } from "./dashboards_format.js";

const LEVELS = 7;
const HOURS_NAMED = 3;
const MONDAY = Date.UTC(2024, 0, 1);
const DAY_MS = 86_400_000;

function dayNames(weekday) {
  const format = new Intl.DateTimeFormat(undefined, { weekday, timeZone: "UTC" });
  return Array.from({ length: 7 }, (_, i) => format.format(MONDAY + i * DAY_MS));
}

const shortDays = dayNames("short");
const longDays = dayNames("long");
const clock = (hour) => `${String(hour).padStart(2, "0")}:00`;

const AXES = {
  hour_of_day: {
    label: "Hour (UTC)",
    values: Array.from({ length: 24 }, (_, i) => i),
    short: (hour) => (hour % HOURS_NAMED === 0 ? String(hour).padStart(2, "0") : null),
    long: clock,
  },
  day_of_week: { label: "Day (UTC)", values: [1, 2, 3, 4, 5, 6, 7], short: (day) => shortDays[day - 1], long: (day) => longDays[day - 1] },
};

/**
 * Returns the axes of a heatmap.
 * @param {{options?: import("telltale").WidgetOptions}} widget
 */
export function axesOf({ options = {} }) {
  return { x: AXES[options.x_axis ?? "hour_of_day"], y: AXES[options.y_axis ?? "day_of_week"] };
}

/** Returns which of the levels a value is at; without a spread all are at the highest. */
function levelOf(value, low, high) {
  if (high === low) return LEVELS - 1;
  return Math.min(LEVELS - 1, Math.floor(((value / 2 - low / 2) / (high / 2 - low / 2)) * LEVELS));
}

function Head({ axis, value }) {
  const short = axis.short(value);
  return short === null ? html`<span class="unseen">${axis.long(value)}</span>` : html`<span aria-hidden="true">${short}</span><span class="unseen">${axis.long(value)}</span>`;
}

export function Heatmap({ widget, state }) {
  const { cells } = state.values;
  const { x, y } = axesOf(widget);
  const format = formatterOf(widget.options);
  if (cells.length === 0) return html`<p class="none-here quiet">No data in this range.</p>`;
  const found = new Map(cells.map((cell) => [`${cell.x} ${cell.y}`, cell.value]));
  const values = cells.map(({ value }) => value);
  const high = Math.max(...values);
  const low = Math.min(0, ...values);
  const cell = (column, row) => {
    const value = found.get(`${column} ${row}`);
    const title = `${y.long(row)}, ${x.long(column)}: ${value === undefined ? "no data" : format(value)}`;
    return html`<td key=${column} class=${value === undefined ? "empty" : `l${levelOf(value, low, high)}`} title=${title} data-value=${value === undefined ? null : exact(value)}>
      <span class="unseen">${value === undefined ? "no data" : format(value)}</span></td>`;
  };
  return html`<div class="heat" tabindex="0" role="group" aria-label=${widget.title}>
    <table><caption class="unseen">${widget.title}: ${x.label} by ${y.label}</caption>
      <thead><tr><td></td>${x.values.map((column) => html`<th key=${column} scope="col"><${Head} axis=${x} value=${column} /></th>`)}</tr></thead>
      <tbody>${y.values.map((row) => html`<tr key=${row}><th scope="row"><${Head} axis=${y} value=${row} /></th>${x.values.map((column) => cell(column, row))}</tr>`)}</tbody>
    </table>
    <p class="scale small quiet" aria-hidden="true"><span>${format(low)}</span>${Array.from({ length: LEVELS }, (_, i) => html`<i key=${i} class=${`l${i}`}></i>`)}<span>${format(high)}</span><span class="utc">UTC</span></p>
  </div>`;
}
