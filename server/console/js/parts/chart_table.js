// The data of a chart as a table: the newest times first.

import { amount, instant, withUnit } from "../kit/format.js";
import { html } from "../kit/html.js";

const ROWS_MAX = 200;
const COLUMNS_MAX = 12;

export function ChartTable({ chart }) {
  const { label, times, series, unit } = chart;
  const shown = series.slice(0, COLUMNS_MAX);
  const rows = times.map((time, position) => ({ time, position })).slice(-ROWS_MAX).reverse();
  const left = [
    times.length > rows.length && `the newest ${amount(rows.length)} of ${amount(times.length)} times`,
    series.length > shown.length && `${shown.length} of ${amount(series.length)} series`,
  ].filter(Boolean);
  return html`<div class="wide tall" tabindex="0" role="group" aria-label=${`${label}, values`}><table>
    <thead><tr><th scope="col">Time</th>${shown.map((one) => html`<th key=${one.label} scope="col" class="number">${one.label}</th>`)}</tr></thead>
    <tbody>${rows.map(({ time, position }) => html`<tr key=${time}><th scope="row">${instant(time * 1000)}</th>
      ${shown.map((one) => html`<td key=${one.label} class="number">${withUnit(one.values[position], unit)}</td>`)}</tr>`)}</tbody>
  </table>${left.length > 0 && html`<p class="quiet small">Shown: ${left.join(", ")}.</p>`}</div>`;
}
