// The series of a query as a table, with their values over the range.

import { amount } from "../kit/format.js";
import { html } from "../kit/html.js";
import { lookOf } from "../parts/chart_options.js";
import { PAGE_ROWS, Pager, offsetOf } from "../parts/pager.js";
import { Table } from "../parts/table.js";

/** Returns lowest, highest, mean and latest of the values of a series. */
function statisticsOf({ values }) {
  let [low, high, mean, last, count] = [null, null, 0, null, 0];
  for (const value of values) {
    if (value === null || value === undefined) continue;
    low = low === null ? value : Math.min(low, value);
    high = high === null ? value : Math.max(high, value);
    count += 1;
    // As a running mean: a sum may exceed the range of numbers.
    mean += value / count - mean / count;
    last = value;
  }
  return { low, high, mean: count > 0 ? mean : null, last, count };
}

function number(label, of) {
  return { label, isNumber: true, cell: (row) => html`<span title=${row.statistics[of] ?? ""}>${amount(row.statistics[of])}</span>` };
}

const COLUMNS = [
  { label: "Series", cell: ({ one, look }) => html`<span class="series-name"><span class=${`swatch c${look.colour} ${look.isDashed ? "dashed" : ""}`}></span>${one.label}</span>` },
  number("Last", "last"), number("Lowest", "low"), number("Mean", "mean"), number("Highest", "high"), number("Points", "count"),
];

/** `name` is that of the offset in the address. */
export function SeriesTable({ data, name, title }) {
  const offset = offsetOf(name);
  const rows = data.series.slice(offset, offset + PAGE_ROWS).map((one, i) => ({ one, look: lookOf(one, offset + i), statistics: statisticsOf(one) }));
  return html`<${Table} label=${`${title}, values`} columns=${COLUMNS} rows=${rows} keyOf=${({ one }) => one.label} />
    <${Pager} meta=${{ total: data.series.length, limit: PAGE_ROWS, offset }} name=${name} />`;
}
