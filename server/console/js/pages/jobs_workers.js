// The view of workers: who works, on what, and how busy all are; quiet and stop.

import { useMemo, useState } from "preact/hooks";
import { call, get } from "../api/client.js";
import { may } from "../api/session.js";
import { amount, count, duration, share } from "../kit/format.js";
import { html } from "../kit/html.js";
import { useLoaded } from "../kit/loading.js";
import { rangeKey, refresh } from "../kit/range.js";
import { inQuery } from "../kit/router.js";
import { doing, toast } from "../kit/toasts.js";
import { Button } from "../parts/button.js";
import { Chart } from "../parts/chart.js";
import { Confirm } from "../parts/confirm.js";
import { QuerySelect } from "../parts/fields.js";
import { Icon } from "../parts/icon.js";
import { Loaded } from "../parts/loaded.js";
import { offsetOf, Pager, PAGE_ROWS } from "../parts/pager.js";
import { useRowKeys } from "../parts/selection.js";
import { ShareBar } from "../parts/share_bar.js";
import { Table } from "../parts/table.js";
import { Time } from "../parts/time.js";
import { jobHref, linkWith, queryOf, queueHref, Status } from "./jobs_common.js";
import { between, PERIODS } from "./jobs_queue.js";

/** @import { WorkerSummary } from "telltale" */

const HEIGHT = 140;

const send = (worker, verb) => call("POST", `/workers/${encodeURIComponent(worker.id)}/${verb}`, { body: {} });

function History({ stats, timeline }) {
  const { times, range, ended, busy } = useMemo(() => {
    const starts = timeline.map(({ timestamp }) => Date.parse(timestamp) / 1000);
    const percent = ({ utilization }) => (utilization === null ? null : utilization * 100);
    return { times: starts, range: between(starts), ended: [{ label: "Attempts", values: timeline.map(({ throughput }) => throughput) }], busy: [{ label: "Busy", values: timeline.map(percent) }] };
  }, [timeline]);
  const shared = { times, between: range, height: HEIGHT, sync: "workers", hasLegend: false, onZoom: () => undefined };
  const failed = stats.total_processed > 0 ? ` (${share(stats.total_failed / stats.total_processed)})` : "";
  return html`<p class="small quiet">${count(stats.total_processed, "attempt")} ended, ${amount(stats.total_failed)} failed${failed}; ${amount(stats.min_workers)} to ${amount(stats.max_workers)} workers, ${share(stats.avg_utilization)} busy on average</p>
    <div class="charts"><section><h3>Attempts that ended</h3><${Chart} ...${shared} label="Attempts that ended" kind="bars" series=${ended} /></section>
    <section><h3>Busy threads</h3><${Chart} ...${shared} label="Busy threads" kind="areas" unit="percent" series=${busy} /></section></div>`;
}

/** What one worker holds. */
function Panel({ id }) {
  const [state] = useLoaded((abort) => get(`/workers/${encodeURIComponent(id)}`, abort), refresh.value * 1000, rangeKey.value);
  const show = ({ current_jobs: jobs }) => html`<ul class="rows">${jobs.map((job) => html`<li key=${job.job_id}><a class="what" href=${jobHref(job.job_id)}><bdi>${job.class_name}</bdi></a>
    <span class="number">${duration(job.run_time_seconds)}</span><span class="more mono">${job.job_id}</span></li>`)}</ul>`;
  const host = state.value.data?.hostname;
  return html`<section class="card panel"><header><${Icon} name="cpu" /><h2>Jobs of <bdi>${host ?? "the worker"}</bdi></h2><a class="button" href=${linkWith("worker", null)}><${Icon} name="x" />Close</a></header>
    <${Loaded} state=${state} show=${show} empty=${{ is: ({ current_jobs: jobs }) => jobs.length === 0, text: "It holds no job." }} /></section>`;
}

/** @returns {Column<WorkerSummary>[]} */
function columnsOf(act, setStopped) {
  const buttons = (worker) => worker.status === "active" || worker.status === "quiet" ? html`<span class="acts">
    ${worker.status === "active" && html`<${Button} kind="plain small" label=${`Quiet ${worker.hostname}`} work=${() => act(worker, "quiet")}><${Icon} name="pause" />Quiet<//>`}
    <${Button} kind="plain small" label=${`Stop ${worker.hostname}`} work=${() => setStopped(worker)}><${Icon} name="octagon-x" />Stop…<//></span>` : null;
  const vital = (value, unit) => (value === null ? html`<span class="quiet">–</span>` : `${amount(value)} ${unit}`);
  return [
    { label: "Worker", cell: (worker) => html`<a class="host" data-row=${worker.id} href=${linkWith("worker", worker.id)}><bdi>${worker.hostname}</bdi></a>${worker.pid !== null && html` <span class="quiet small">pid ${worker.pid}</span>`}` },
    { label: "Status", cell: (worker) => html`<${Status} of=${worker.status} />` },
    { label: "Queues", cell: (worker) => html`<span class="tags">${worker.queues.map((name) => html`<a class="tag" key=${name} href=${queueHref(name)}><bdi>${name}</bdi></a>`)}</span>` },
    { label: "Busy", cell: (worker) => html`<span class="busy">${amount(worker.busy_threads)} of ${amount(worker.concurrency)}<${ShareBar} part=${worker.busy_threads / worker.concurrency} /></span>` },
    { label: "Memory", isNumber: true, cell: (worker) => vital(worker.memory_mb, "MB") },
    { label: "CPU", isNumber: true, cell: (worker) => vital(worker.cpu_percent, "%") },
    { label: "Ended", isNumber: true, cell: (worker) => html`<span class="seen">${amount(worker.processed_count)}${worker.failed_count > 0 && html`<span class="quiet small">${amount(worker.failed_count)} failed</span>`}</span>` },
    { label: "Seen", cell: (worker) => html`<span class="seen"><${Time} at=${worker.last_heartbeat} /><span class="quiet small">began <${Time} at=${worker.started_at} /></span></span>` },
    ...(may("write") ? [{ label: "Actions", isUnseen: true, isEnd: true, cell: buttons }] : []),
  ];
}

async function load(period, abort) {
  const query = queryOf([], { limit: PAGE_ROWS, offset: offsetOf() });
  const [list, past] = await Promise.all([get(`/workers?${query}`, abort), get(`/workers/stats?${queryOf([], { period })}`, abort)]);
  return { ...list, past };
}

export function Workers({ changed }) {
  const period = inQuery("period") || "hour";
  const [state, again] = useLoaded((abort) => load(period, abort), refresh.value * 1000, `${rangeKey.value} ${period} ${offsetOf()} ${inQuery("internal")}`);
  const [stopped, setStopped] = useState(/** @type {import("telltale").WorkerSummary | null} */ (null));
  const [isQuieting, setQuieting] = useState(false);
  useRowKeys(() => undefined);
  const done = () => {
    again();
    changed();
  };
  const act = async (worker, verb) => {
    await doing(() => send(worker, verb), ({ message }) => `${message}.`);
    done();
  };
  const stop = async () => {
    const { message } = await send(stopped, "stop");
    toast(`${message}.`);
    done();
  };
  const quietAll = async () => {
    const { message } = await call("POST", "/workers/quiet-all", { body: {} });
    toast(`${message}.`);
    done();
  };
  const show = ({ workers, summary, past }) => html`<section class="card panel"><header><${Icon} name="cpu" /><h2>All workers</h2><div class="acts"><${QuerySelect} name="period" label="Time" options=${PERIODS} />
      ${may("write") && summary.total_workers > 0 && html`<${Button} work=${() => setQuieting(true)}><${Icon} name="pause" />Quiet all…<//>`}</div></header><${History} stats=${past.stats} timeline=${past.timeline} /></section>
    ${workers.length === 0 ? html`<p class="none"><${Icon} name="cpu" />No workers are registered.</p>` : html`<section class="card workers"><${Table} label="Workers" columns=${columnsOf(act, setStopped)} rows=${workers} keyOf=${({ id }) => id}
      kindOf=${({ id }) => (id === inQuery("worker") ? "chosen" : "")} /><${Pager} meta=${{ total: summary.total_workers, limit: PAGE_ROWS, offset: offsetOf() }} /></section>`}`;
  const total = state.value.data?.summary.total_workers ?? 0;
  return html`${inQuery("worker") && html`<${Panel} key=${inQuery("worker")} id=${inQuery("worker")} />`}<${Loaded} state=${state} show=${show} />
    ${stopped && html`<${Confirm} title="Stop the worker?" act="Stop it" work=${stop} onClose=${() => setStopped(null)}><p><strong><bdi>${stopped.hostname}</bdi></strong> finishes its current jobs (${amount(stopped.busy_threads)} busy) and ends. It does not begin again by itself.</p><//>`}
    ${isQuieting && html`<${Confirm} title=${`Quiet ${count(total, "worker")}?`} act="Quiet all" work=${quietAll} onClose=${() => setQuieting(false)}><p>All workers finish their current jobs and begin no further ones, as before a deployment. A quiet worker becomes active only when it is started again.</p><//>`}`;
}
