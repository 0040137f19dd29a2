// The metrics that can be explored, while no query is chosen.

import { get } from "../api/client.js";
import { amount } from "../kit/format.js";
import { html } from "../kit/html.js";
import { useLoaded } from "../kit/loading.js";
import { chosen } from "../kit/range.js";
import { inQuery } from "../kit/router.js";
import { QuerySelect } from "../parts/fields.js";
import { Icon } from "../parts/icon.js";
import { Loaded } from "../parts/loaded.js";
import { AGGREGATIONS, exploreHref, queryOf } from "../parts/metric_query.js";
import { PAGE_ROWS, Pager, offsetOf } from "../parts/pager.js";
import { Table } from "../parts/table.js";
import { Time } from "../parts/time.js";

/** @import { Metric } from "telltale" */

const TYPES = [{ value: "", label: "All types" }, ...Object.keys(AGGREGATIONS).map((type) => ({ value: type, label: type }))];
const KEYS_SHOWN_MAX = 6;

function rangeOfAddress() {
  const { last, from, to } = chosen.value;
  return last !== undefined ? { last } : { from: new Date(from).toISOString(), to: new Date(to).toISOString() };
}

function keys({ tags }) {
  const rest = tags.length - KEYS_SHOWN_MAX;
  return html`<span class="tags">${tags.slice(0, KEYS_SHOWN_MAX).map((key) => html`<span class="tag long" key=${key}>${key}</span>`)}
    ${rest > 0 && html`<span class="quiet small">and ${rest} more</span>`}</span>`;
}

/** @type {Column<Metric>[]} */
const COLUMNS = [
  { label: "Metric", cell: ({ name }) => html`<a class="mono" href=${exploreHref([queryOf(name)], rangeOfAddress())}>${name}</a>` },
  { label: "Type", cell: ({ type }) => type },
  { label: "Tags", cell: keys },
  { label: "Series", isNumber: true, cell: ({ series }) => amount(series) },
  { label: "Last sample", cell: ({ last_seen }) => html`<${Time} at=${last_seen} />` },
];

export function Metrics() {
  const type = inQuery("type");
  const offset = offsetOf();
  const path = /** @type {const} */ (`/metrics?limit=${PAGE_ROWS}&offset=${offset}${type ? `&type=${encodeURIComponent(type)}` : ""}`);
  const [state] = useLoaded((abort) => get(path, abort), 0, path);
  const empty = { is: ({ meta }) => meta.total === 0, text: type ? "No metric of this type." : "No metrics yet. Home shows how to send one." };
  const show = ({ data, meta }) => html`<${Table} label="Metrics" columns=${COLUMNS} rows=${data} keyOf=${({ name }) => name} /><${Pager} meta=${meta} />`;
  return html`<section class="card"><header><${Icon} name="chart-line" /><h2>Metrics</h2><${QuerySelect} name="type" label="Type" options=${TYPES} /></header>
    <${Loaded} state=${state} show=${show} empty=${empty} /></section>`;
}
