// The view of queues: how far behind each is, pause and resume.

import { call } from "../api/client.js";
import { may } from "../api/session.js";
import { amount, duration } from "../kit/format.js";
import { html } from "../kit/html.js";
import { inQuery } from "../kit/router.js";
import { doing } from "../kit/toasts.js";
import { Button } from "../parts/button.js";
import { QuerySearch, QuerySelect } from "../parts/fields.js";
import { Icon } from "../parts/icon.js";
import { Loaded } from "../parts/loaded.js";
import { offsetOf, Pager, PAGE_ROWS } from "../parts/pager.js";
import { useRowKeys } from "../parts/selection.js";
import { Table } from "../parts/table.js";
import { queueHref, Status } from "./jobs_common.js";
import { QueuePanel } from "./jobs_queue.js";

/** @import { QueueSummary } from "telltale" */

const SORTS = [
  { value: "", label: "In need first" },
  { value: "name", label: "Name" },
  { value: "size", label: "Most ready" },
  { value: "oldest", label: "Oldest job" },
  { value: "throughput", label: "Most throughput" },
];
const byName = (a, b) => a.name.localeCompare(b.name);
const orders = {
  "": (a, b) => Number(a.status === "healthy") - Number(b.status === "healthy") || b.size - a.size || byName(a, b),
  name: byName,
  size: (a, b) => b.size - a.size || byName(a, b),
  oldest: (a, b) => b.latency_seconds - a.latency_seconds || byName(a, b),
  throughput: (a, b) => b.throughput.per_hour - a.throughput.per_hour || byName(a, b),
};

/**
 * Pauses or resumes a queue.
 * @param {Props<{queue: Pick<QueueSummary, "name" | "status">}>} props
 */
export function PauseButton({ queue, changed, kind = "plain small" }) {
  if (!may("write") || queue.name.startsWith("telltale")) return null;
  const isPaused = queue.status === "paused";
  const verb = isPaused ? "resume" : "pause";
  const set = (to) => call("POST", `/queues/${encodeURIComponent(queue.name)}/${to}`, { body: {} });
  const undo = async () => {
    await doing(() => set(isPaused ? "pause" : "resume"), "Undone.");
    changed();
  };
  const work = async () => {
    await doing(() => set(verb), isPaused ? "The queue is resumed." : "The queue is paused: running jobs continue.", { undo });
    changed();
  };
  return html`<${Button} kind=${kind} label=${`${isPaused ? "Resume" : "Pause"} the queue ${queue.name}`} work=${work}><${Icon} name=${isPaused ? "play" : "pause"} />${isPaused ? "Resume" : "Pause"}<//>`;
}

/** @returns {Column<QueueSummary>[]} */
function columnsOf(changed) {
  const number = (label, value) => ({ label, isNumber: true, cell: (queue) => amount(value(queue)) });
  return [
    { label: "Queue", cell: (queue) => html`<a class="mono" data-row=${queue.name} href=${queueHref(queue.name)}><bdi>${queue.name}</bdi></a>` },
    { label: "Status", cell: (queue) => html`<${Status} of=${queue.status} />` },
    number("Ready", (queue) => queue.size),
    { label: "Oldest", isNumber: true, cell: (queue) => (queue.size > 0 ? duration(queue.latency_seconds) : "–") },
    number("Running", (queue) => queue.running),
    number("Scheduled", (queue) => queue.scheduled),
    number("Retrying", (queue) => queue.retrying),
    number("Per minute", (queue) => queue.throughput.per_minute),
    number("Per hour", (queue) => queue.throughput.per_hour),
    number("Workers", (queue) => queue.workers),
    { label: "Actions", isUnseen: true, isEnd: true, cell: (queue) => html`<${PauseButton} queue=${queue} changed=${changed} />` },
  ];
}

export function Queues({ state, queues, changed }) {
  useRowKeys(() => undefined);
  const wanted = inQuery("search").toLowerCase();
  const found = queues.filter(({ name }) => name.toLowerCase().includes(wanted)).sort(orders[inQuery("sort")] ?? orders[""]);
  const offset = offsetOf();
  const meta = { total: found.length, limit: PAGE_ROWS, offset };
  const table = () => html`<section class="card"><${Table} label="Queues" columns=${columnsOf(changed)} rows=${found.slice(offset, offset + PAGE_ROWS)} keyOf=${({ name }) => name}
    kindOf=${({ name }) => (name === inQuery("queue") ? "chosen" : "")} /><${Pager} meta=${meta} /></section>`;
  const empty = { is: () => found.length === 0, text: queues.length === 0 ? "No queues yet: a queue is there with its first job or worker." : "No queue has this in its name." };
  return html`${inQuery("queue") && html`<${QueuePanel} key=${inQuery("queue")} name=${inQuery("queue")} changed=${changed} />`}
    <div class="filters" role="search"><${QuerySearch} name="search" label="Search queues" /><${QuerySelect} name="sort" label="Sort by" options=${SORTS} /></div>
    <${Loaded} state=${state} show=${table} empty=${empty} />`;
}
