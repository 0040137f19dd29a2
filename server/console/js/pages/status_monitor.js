// One monitor: its state, its days, its response times, and how its status changed.

import { useMemo, useState } from "preact/hooks";
import { call, get } from "../api/client.js";
import { amount, duration, instant } from "../kit/format.js";
import { html } from "../kit/html.js";
import { useLoaded } from "../kit/loading.js";
import { limits, loads, rangeKey, refresh } from "../kit/range.js";
import { go, href } from "../kit/router.js";
import { toast } from "../kit/toasts.js";
import { Button } from "../parts/button.js";
import { Chart } from "../parts/chart.js";
import { Confirm } from "../parts/confirm.js";
import { Copyable } from "../parts/copy.js";
import { Facts } from "../parts/facts.js";
import { Head } from "../parts/head.js";
import { Icon } from "../parts/icon.js";
import { Failure, Loaded } from "../parts/loaded.js";
import { Time } from "../parts/time.js";
import { TimePicker } from "../parts/time_picker.js";
import { checkNow, setPaused } from "./status_acts.js";
import { Days, loadUptime } from "./status_bars.js";
import { MONITOR_ICON, MONITOR_KIND, targetOf, uptimeText } from "./status_words.js";

/** @import { Monitor } from "telltale" */

const ABOVE = { path: "/status", label: "Monitors" };
const REFRESH_S = 30;
const HISTORY_SHOWN = 50;
/** @type {[string, number][]} */
const WIDTHS = [["1m", 60], ["5m", 300], ["1h", 3_600], ["1d", 86_400]];
const POINTS_MAX = 500;
const METRIC = "telltale.monitor.response_ms";

/** @param {Monitor} monitor */
function factsOf(monitor) {
  const { type, last_check: check } = monitor;
  return [
    ["Status", html`<span class=${`tag ${MONITOR_KIND[monitor.status]}`}><${Icon} name=${MONITOR_ICON[monitor.status]} />${monitor.status}</span> since <${Time} at=${monitor.status_since} />`],
    monitor.status_reason && ["Why", monitor.status_reason],
    ["Uptime, 90 days", uptimeText(monitor.uptime_90d)],
    ["Target", html`<span class="mono">${targetOf(monitor)}</span>`],
    [type === "heartbeat" ? "Expected every" : "Checked every", duration(monitor.interval_seconds)],
    type === "heartbeat" ? ["May be late by", duration(monitor.grace_seconds)] : ["Fails after", duration(monitor.timeout_seconds)],
    ["Down after", `${amount(monitor.retries + 1)} failed`],
    ["Last check", html`<${Time} at=${check?.at} />${check ? `: ${check.result}${check.response_ms === null ? "" : ` in ${amount(check.response_ms)} ms`}` : ""}`],
    check?.reason && ["It found", check.reason],
    check?.certificate_ends_at && ["Certificate ends", html`<${Time} at=${check.certificate_ends_at} /> <span class="quiet small">${instant(check.certificate_ends_at)}</span>`],
    monitor.degraded_after_ms && ["Degraded after", `${amount(monitor.degraded_after_ms)} ms`],
    monitor.expected_status && ["Expected status", monitor.expected_status.join(", ")],
    monitor.body_contains && ["Must contain", html`<span class="mono">${monitor.body_contains}</span>`],
    ["Made", html`<${Time} at=${monitor.created_at} /> by ${monitor.created_by}`],
  ];
}

async function loadTimes(id, abort) {
  const { from, to } = limits();
  const [interval, width] = WIDTHS.find(([, seconds]) => (to - from) / 1000 / seconds <= POINTS_MAX) ?? WIDTHS[3];
  const query = new URLSearchParams({ from: new Date(from).toISOString(), to: new Date(to).toISOString(), interval, "tags[monitor]": id, aggregation: "avg,min,max" });
  const { data } = await get(`/metrics/${encodeURIComponent(METRIC)}/query?${query}`, abort);
  const found = new Map((data.series ?? []).map((point) => [Date.parse(point.timestamp) / 1000, point]));
  const times = [];
  for (let at = Math.floor(from / 1000 / width) * width; at < to / 1000; at += width) times.push(at);
  const column = (name) => times.map((time) => found.get(time)?.[name] ?? null);
  return { times, series: [{ label: "response time", values: column("avg"), low: column("min"), high: column("max") }], interval, isEmpty: found.size === 0, between: { from, to } };
}

/** @param {Props<{monitor: Monitor}>} props */
function ResponseTimes({ monitor }) {
  const [state] = useLoaded((abort) => loadTimes(monitor.id, abort).catch((failure) => {
    if (failure.code === "metric_not_found") return { isEmpty: true };
    throw failure;
  }), (refresh.value || REFRESH_S) * 1000, rangeKey.value);
  const levels = useMemo(() => (monitor.degraded_after_ms ? [{ value: monitor.degraded_after_ms, kind: "warning" }] : []), [monitor.degraded_after_ms]);
  const show = ({ times, series, interval, isEmpty, between }) => (isEmpty ? html`<p class="quiet">No checks in this range.</p>`
    : html`<${Chart} label="Response time" times=${times} series=${series} unit="ms" levels=${levels} between=${between} /><p class="quiet small">Averages of ${interval} with their lowest and highest.</p>`);
  return html`<section class="card"><header><${Icon} name="activity" /><h2>Response time</h2><${TimePicker} /></header><${Loaded} state=${state} show=${show} /></section>`;
}

/** @param {Props<{monitor: Monitor}>} props */
function Heartbeat({ monitor }) {
  const path = `/api/v1/monitors/${encodeURIComponent(monitor.id)}/heartbeat`;
  const url = location.origin + path;
  return html`<section class="card"><header><${Icon} name="activity" /><h2>Heartbeat</h2></header>
    <p>Report to this address with a key that has the scope <code>ingest</code>, each time the work is done:</p>
    <${Copyable} text=${url} label="the heartbeat URL" />
    <${Copyable} text=${`curl -X POST ${url} -H "Authorization: Bearer $KEY"`} label="the command that all is well" />
    <${Copyable} text=${`curl ${url} -H "Authorization: Bearer $KEY" --json '{"status": "down", "message": "why"}'`} label="the command that it failed" />
  </section>`;
}

function History({ id, at }) {
  const [state] = useLoaded((abort) => get(`/monitors/${encodeURIComponent(id)}/history?limit=${HISTORY_SHOWN}`, abort), 0, at);
  const show = ({ history }) => html`<ol class="history">${history.map((one, i) => {
    const next = history[i - 1];
    const length = ((next ? Date.parse(next.at) : Date.now()) - Date.parse(one.at)) / 1000;
    return html`<li key=${one.at} class=${one.status}><span><strong>${one.status}</strong> for ${duration(length)}${one.reason ? html`: ${one.reason}` : ""}</span><span class="quiet small"><${Time} at=${one.at} /> · ${instant(one.at)}</span></li>`;
  })}</ol>${history.length === HISTORY_SHOWN && html`<p class="quiet small">The last ${HISTORY_SHOWN} changes.</p>`}`;
  return html`<section class="card"><header><${Icon} name="history" /><h2>Changes</h2></header><${Loaded} state=${state} show=${show} empty=${{ is: ({ history }) => history.length === 0, text: "Its status has not changed." }} /></section>`;
}

/** @param {Props<{monitor: Monitor}>} props */
function Delete({ monitor, onClose }) {
  const work = async () => {
    const { removed_from: pages } = await call("DELETE", `/monitors/${encodeURIComponent(monitor.id)}`);
    toast(`The monitor is deleted, and taken off ${pages.length} status pages.`);
    go("/status");
  };
  return html`<${Confirm} title="Delete the monitor?" act="Delete" work=${work} onClose=${onClose}>
    <p><strong>${monitor.name}</strong> is taken off all status pages, with its incidents and maintenances. Its metrics stay until they expire. It cannot be undone.</p><//>`;
}

async function load(id, abort) {
  const [monitor, uptime] = await Promise.all([get(`/monitors/${encodeURIComponent(id)}`, abort), loadUptime(id, abort)]);
  return { monitor, uptime };
}

export function Page({ params }) {
  const [isDeleting, setDeleting] = useState(false);
  const [state, again] = useLoaded((abort) => load(params.id, abort), (refresh.value || REFRESH_S) * 1000, String(loads.value));
  const { data, failure } = state.value;
  if (!data) return html`<${Head} title="Monitor" above=${ABOVE} />${failure ? html`<${Failure} failure=${failure} />` : html`<p class="quiet" role="status">Loading…</p>`}`;
  const { monitor, uptime } = data;
  const { name, type, paused, id } = monitor;
  const rule = { name: `${name.slice(0, 180)} is down`, metric: "telltale.monitor.up", tag: `monitor=${id}`, aggregation: "last", op: "lt", threshold: "1", window: "5m", severity: "critical" };
  const show = () => html`<div class="sections">
    <section class="card"><${Facts} facts=${factsOf(monitor)} /></section>
    <section class="card"><header><${Icon} name="calendar" /><h2>Uptime by day</h2><span>${uptimeText(uptime.uptime)}</span></header><${Days} uptime=${uptime} /></section>
    ${type === "heartbeat" && html`<${Heartbeat} monitor=${monitor} />`}
    <${ResponseTimes} monitor=${monitor} />
    <${History} id=${id} at=${`${monitor.status} ${monitor.status_since}`} /></div>`;
  return html`<${Head} title=${name} above=${ABOVE}>
      ${type !== "heartbeat" && !paused && html`<${Button} kind="first" work=${() => checkNow(monitor, again)}><${Icon} name="refresh-cw" />Check now<//>`}
      <${Button} work=${() => setPaused(monitor, again)}><${Icon} name=${paused ? "play" : "pause"} />${paused ? "Resume" : "Pause"}<//>
      <a class="button" href=${href("/alerts/rules/new", rule)}><${Icon} name="bell" />Alert rule</a>
      <a class="button" href=${href(`/status/monitors/${encodeURIComponent(id)}/edit`)}><${Icon} name="pencil" />Edit</a>
      <${Button} kind="grave" work=${() => setDeleting(true)}><${Icon} name="trash-2" />Delete<//><//>
    <${Loaded} state=${state} show=${show} />
    ${isDeleting && html`<${Delete} monitor=${monitor} onClose=${() => setDeleting(false)} />`}`;
}
