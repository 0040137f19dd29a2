// The snapshots that were taken, with those that wait and the reasons of those that failed.

import { get } from "../api/client.js";
import { html } from "../kit/html.js";
import { useEvery, useLoaded } from "../kit/loading.js";
import { loads, refresh } from "../kit/range.js";
import { href, inQuery } from "../kit/router.js";
import { QuerySelect } from "../parts/fields.js";
import { Loaded } from "../parts/loaded.js";
import { PAGE_ROWS, Steps, stepsQuery } from "../parts/pager.js";
import { Table } from "../parts/table.js";
import { Time } from "../parts/time.js";
import { Address, State } from "./snapshots_words.js";

/** @import { SnapshotSummary } from "telltale" */

const STATES = [
  { value: "all", label: "All snapshots" },
  { value: "failed", label: "Failed" },
  { value: "pending", label: "Waiting" },
  { value: "capturing", label: "Being captured" },
  { value: "completed", label: "Captured" },
];
const RUNNING_MS = 2_000;

const isRunning = ({ status }) => status === "pending" || status === "capturing";

/** Says why a snapshot failed, which lists do not. */
function Reason({ id }) {
  const [state] = useLoaded((abort) => get(`/snapshots/${encodeURIComponent(id)}`, abort));
  const { data, failure } = state.value;
  if (failure) return html`<span class="quiet small">${failure.message}</span>`;
  return html`<span class="small wrap">${data?.error?.message ?? "…"}</span>`;
}

/** @type {Column<SnapshotSummary>[]} */
const COLUMNS = [
  { label: "Page", cell: (row) => html`<a href=${href(`/snapshots/captures/${encodeURIComponent(row.id)}`)}><${Address} url=${row.url} /></a>` },
  { label: "State", cell: (row) => html`<span class="state"><${State} name=${row.status} />${row.status === "failed" && html`<${Reason} key=${row.id} id=${row.id} />`}</span>` },
  { label: "Captured", isEnd: true, cell: (row) => html`<${Time} at=${row.captured_at ?? row.created_at} />` },
];

export function Captures() {
  const state = inQuery("status", "all");
  const path = /** @type {const} */ (`/snapshots?${stepsQuery()}${state === "all" ? "" : `&status=${encodeURIComponent(state)}`}`);
  const load = (abort) => get(path, abort);
  const [loaded, again] = useLoaded(load, refresh.value * 1000, `${path} ${loads.value}`);
  const rows = loaded.value.data?.snapshots ?? [];
  useEvery(again, rows.some(isRunning) ? RUNNING_MS : 0);
  const empty = { is: ({ snapshots }) => snapshots.length === 0 && !inQuery("offset"), text: "No such snapshots." };
  const show = ({ snapshots }) => html`<div class="card"><${Table} label="Snapshots" columns=${COLUMNS} rows=${snapshots.slice(0, PAGE_ROWS)}
    keyOf=${(row) => row.id} /></div><${Steps} rows=${snapshots} />`;
  return html`<div class="filters"><${QuerySelect} name="status" label="State" options=${STATES} /></div>
    <${Loaded} state=${loaded} show=${show} empty=${empty} />`;
}
