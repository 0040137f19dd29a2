// One queue: its numbers, its history, and what can be done with it.

import { useMemo, useState } from "preact/hooks";
import { call, get } from "../api/client.js";
import { may } from "../api/session.js";
import { amount, count, duration, instant, share, whole, withUnit } from "../kit/format.js";
import { html } from "../kit/html.js";
import { useLoaded } from "../kit/loading.js";
import { rangeKey, refresh } from "../kit/range.js";
import { href, inQuery, setQuery } from "../kit/router.js";
import { toast } from "../kit/toasts.js";
import { Button } from "../parts/button.js";
import { Chart } from "../parts/chart.js";
import { Confirm } from "../parts/confirm.js";
import { QuerySelect } from "../parts/fields.js";
import { Icon } from "../parts/icon.js";
import { Loaded } from "../parts/loaded.js";
import { linkWith, Status } from "./jobs_common.js";
import { PauseButton } from "./jobs_queues.js";

/** @import { QueueDetail } from "telltale" */

/** Lengths of time that histories have. */
export const PERIODS = [
  { value: "", label: "Last hour" },
  { value: "day", label: "Last day" },
  { value: "week", label: "Last week" },
];
const HEIGHT = 140;
const STEP_MS = 60_000;

/** Returns the limits of a history whose buckets begin at these times, in seconds. */
export function between(times) {
  const step = times.length > 1 ? (times[1] - times[0]) * 1000 : STEP_MS;
  return { from: times[0] * 1000, to: times[times.length - 1] * 1000 + step };
}

function History({ metrics }) {
  const { times, range, ended, size, oldest } = useMemo(() => {
    const starts = metrics.map(({ timestamp }) => Date.parse(timestamp) / 1000);
    return {
      times: starts,
      range: between(starts),
      ended: [{ label: "Succeeded", values: metrics.map(({ throughput, failures }) => throughput - failures) }, { label: "Failed", values: metrics.map(({ failures }) => failures) }],
      size: [{ label: "Ready", values: metrics.map((point) => point.size) }],
      oldest: [{ label: "Oldest", values: metrics.map(({ latency }) => latency) }],
    };
  }, [metrics]);
  const shared = { times, between: range, height: HEIGHT, sync: "queue", onZoom: () => undefined };
  return html`<div class="charts">
    <section><h3>Attempts that ended</h3><${Chart} ...${shared} label="Attempts that ended" kind="bars" series=${ended} /></section>
    <section><h3>Ready jobs</h3><${Chart} ...${shared} label="Ready jobs" kind="areas" series=${size} hasLegend=${false} /></section>
    <section><h3>Waiting time of the oldest</h3><${Chart} ...${shared} label="Waiting time of the oldest job" unit="s" series=${oldest} hasLegend=${false} /></section></div>`;
}

/** @param {Props<{queue: QueueDetail}>} props */
function Today({ queue }) {
  const { stats, top_job_classes: classes } = queue;
  const fact = (label, value) => html`<div><dt>${label}</dt><dd>${value}</dd></div>`;
  const linkTo = (name) => href("/jobs", { view: "live", queue: queue.name, class_name: name });
  return html`<dl class="numbers">${fact("Ready", amount(queue.size))}${fact("Oldest", queue.size > 0 ? duration(queue.latency_seconds) : "–")}${fact("Running", amount(queue.running))}
      ${fact("Ended today", amount(stats.processed_today))}${fact("Failed today", `${amount(stats.failed_today)} (${share(stats.failure_rate)})`)}${fact("Duration on average", withUnit(stats.avg_job_duration_ms, "ms"))}</dl>
    ${classes.length > 0 && html`<p class="small"><span class="quiet">Most attempts today:</span> ${classes.map(({ class: name, count: number }, i) => html`${i > 0 && ", "}<a key=${name} href=${linkTo(name)}><bdi>${name}</bdi></a> ${amount(number)}`)}</p>`}`;
}

/** @param {Props<{queue: QueueDetail}>} props */
function Acts({ queue, changed }) {
  const [open, setOpen] = useState("");
  const waiting = queue.size + queue.scheduled + queue.retrying;
  const path = /** @type {const} */ (`/queues/${encodeURIComponent(queue.name)}`);
  const purge = async () => {
    const { jobs_deleted: deleted } = await call("DELETE", `${path}/jobs`, { body: { confirm: true } });
    toast(`${count(deleted, "job")} deleted.`);
    changed();
  };
  const remove = async () => {
    await call("DELETE", path);
    toast("The queue is deleted.");
    setQuery({ queue: null });
    changed();
  };
  const close = () => setOpen("");
  const isOwn = queue.name.startsWith("telltale");
  return html`<div class="acts begin"><a class="button small" href=${href("/jobs", { view: "live", queue: queue.name })}><${Icon} name="list" />Jobs</a>
    <a class="button small" href=${href("/jobs", { view: "dead", queue: queue.name })}><${Icon} name="skull" />Dead jobs</a>
    <${PauseButton} queue=${queue} changed=${changed} kind="small" />
    ${may("write") && !isOwn && (waiting > 0 ? html`<${Button} kind="small grave" work=${() => setOpen("purge")}><${Icon} name="trash-2" />Delete waiting jobs…<//>`
      : queue.running === 0 && html`<${Button} kind="small grave" work=${() => setOpen("delete")}><${Icon} name="trash-2" />Delete the queue…<//>`)}
    ${open === "purge" && html`<${Confirm} title=${`Delete ${count(waiting, "waiting job")}?`} act=${`Delete ${whole(waiting)}`} work=${purge} onClose=${close}>
      <p>All jobs of <strong><bdi>${queue.name}</bdi></strong> that are ready (${whole(queue.size)}), scheduled (${whole(queue.scheduled)}) or retrying (${whole(queue.retrying)}) are deleted for good, those enqueued until then too. Running jobs continue.</p><//>`}
    ${open === "delete" && html`<${Confirm} title="Delete the queue?" act="Delete" work=${remove} onClose=${close}>
      <p><strong><bdi>${queue.name}</bdi></strong> has no jobs. Its dead jobs stay, and the next job or worker that names it makes it again.</p><//>`}</div>`;
}

export function QueuePanel({ name, changed }) {
  const period = inQuery("period") || "hour";
  const load = async (abort) => {
    const path = /** @type {const} */ (`/queues/${encodeURIComponent(name)}`);
    const [queue, history] = await Promise.all([get(path, abort), get(`${path}/metrics?${new URLSearchParams({ period })}`, abort)]);
    return { queue, metrics: history.metrics };
  };
  const [state, again] = useLoaded(load, refresh.value * 1000, `${rangeKey.value} ${period}`);
  const both = () => {
    again();
    changed();
  };
  const show = ({ queue, metrics }) => html`<div class="about inside"><${Status} of=${queue.status} />${queue.paused_at && html`<span class="quiet">since ${instant(queue.paused_at)}</span>`}</div>
    <${Today} queue=${queue} /><${History} metrics=${metrics} /><${Acts} queue=${queue} changed=${both} />`;
  return html`<section class="card panel"><header><${Icon} name="layers" /><h2><bdi>${name}</bdi></h2><div class="acts"><${QuerySelect} name="period" label="Time" options=${PERIODS} />
      <a class="button" href=${linkWith("queue", null)}><${Icon} name="x" />Close</a></div></header>
    <${Loaded} state=${state} show=${show} /></section>`;
}
