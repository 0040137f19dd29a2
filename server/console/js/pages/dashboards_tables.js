// Widgets of rows, and the values of other widgets as rows.

import { amount } from "../kit/format.js";
import { html } from "../kit/html.js";
import { exact, formatterOf } from "./dashboards_format.js";
import { axesOf } from "./dashboards_heatmap.js";
import { levelAt } from "./dashboards_levels.js";

/** Columns whose numbers are not in the unit of the widget. */
const UNITLESS = new Set(["count", "unique", "unique_users"]);

function Rows({ label, columns, rows }) {
  if (rows.length === 0) return html`<p class="none-here quiet">No data in this range.</p>`;
  const isNumber = (at) => rows.some((row) => typeof row[at] === "number");
  const kinds = columns.map((_, at) => (isNumber(at) ? "number" : "text"));
  return html`<div class="wide rows-here" tabindex="0" role="group" aria-label=${label}><table>
    <thead><tr>${columns.map(({ name }, at) => html`<th key=${name} scope="col" class=${kinds[at]}>${name}</th>`)}</tr></thead>
    <tbody>${rows.map((row, i) => html`<tr key=${i}>${row.map((cell, at) => html`<td key=${columns[at].name} class=${`${kinds[at]} ${levelAt(cell, columns[at].levels)}`}
      title=${typeof cell === "number" ? exact(cell) : null}>${typeof cell === "string" ? cell || "(none)" : columns[at].format(cell)}</td>`)}</tr>`)}</tbody>
  </table></div>`;
}

export function TableWidget({ widget, state, levels }) {
  const { rows } = state.values;
  const format = formatterOf(widget.options);
  const names = widget.options?.columns ?? Object.keys(rows[0] ?? {});
  const columns = names.map((name) => ({ name, format: UNITLESS.has(name) ? amount : format, levels: UNITLESS.has(name) ? undefined : levels }));
  return html`<${Rows} label=${widget.title} columns=${columns} rows=${rows.map((row) => names.map((name) => row[name] ?? null))} />`;
}

export function ItemsTable({ widget, state }) {
  const format = formatterOf(widget.options);
  const rows = state.values.items.map(({ label, value }) => [label, value]);
  return html`<${Rows} label=${widget.title} columns=${[{ name: "Label" }, { name: "Value", format }]} rows=${rows} />`;
}

export function CellsTable({ widget, state }) {
  const format = formatterOf(widget.options);
  const { x, y } = axesOf(widget);
  const rows = state.values.cells.map((cell) => [x.long(cell.x), y.long(cell.y), cell.value]);
  return html`<${Rows} label=${widget.title} columns=${[{ name: x.label }, { name: y.label }, { name: "Value", format }]} rows=${rows} />`;
}

export function NumberTable({ widget, state }) {
  const { value, previous_value: previous } = state.values;
  const format = formatterOf(widget.options, { isWhole: true });
  const rows = [["Value", value], ...(previous === undefined ? [] : [["The period before", previous]])];
  return html`<${Rows} label=${widget.title} columns=${[{ name: "What" }, { name: "Value", format }]} rows=${rows} />`;
}
