// A table of rows with columns, which becomes a list of pairs on narrow screens.

import { html } from "../kit/html.js";

function Cell({ column, row }) {
  const kind = [column.isNumber && "number", column.isEnd && "end", column.isMono && "mono"].filter(Boolean).join(" ");
  return html`<td data-label=${column.label && !column.isUnseen ? column.label : null} class=${kind || null}>${column.cell(row)}</td>`;
}

/**
 * `columns`: `{label, cell(row), isNumber, isEnd, isMono, isUnseen}`, where an unseen label is only
 * read out. `keyOf(row)` identifies a row; `kindOf(row)` gives it a class.
 */
export function Table({ label, columns, rows, keyOf, kindOf }) {
  return html`<div class="wide" tabindex="0" role="region" aria-label=${label}><table class="stacked">
    <thead><tr>${columns.map((column) => html`<th key=${column.label} scope="col" class=${column.isNumber ? "number" : column.isEnd ? "end" : null}>${column.isUnseen
      ? html`<span class="unseen">${column.label}</span>` : column.label}</th>`)}</tr></thead>
    <tbody>${rows.map((row) => html`<tr key=${keyOf(row)} class=${kindOf?.(row)}>${columns.map((column) => html`<${Cell} key=${column.label} column=${column} row=${row} />`)}</tr>`)}</tbody>
  </table></div>`;
}
