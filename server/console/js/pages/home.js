// What needs somebody now: firing alerts, unresolved errors, queues that are behind; and how to
// send the first data.

import { useEffect, useMemo } from "preact/hooks";
import { get } from "../api/client.js";
import { areas } from "../api/session.js";
import { amount, count, duration } from "../kit/format.js";
import { html } from "../kit/html.js";
import { bind } from "../kit/keys.js";
import { useLoaded } from "../kit/loading.js";
import { href } from "../kit/router.js";
import { Button } from "../parts/button.js";
import { Head } from "../parts/head.js";
import { Icon } from "../parts/icon.js";
import { Loaded } from "../parts/loaded.js";
import { Time } from "../parts/time.js";
import { useStars } from "./dashboards_stars.js";
import { FirstSteps } from "./first_steps.js";

/** @import { AlertPage, ErrorGroupPage, QueueList } from "telltale" */

const REFRESH_MS = 15_000;
const SHOWN_MAX = 5;
const QUEUES_SHOWN_MAX = 8;
const STARRED_SHOWN_MAX = 8;

function Card({ icon, title, aside, children }) {
  return html`<section class="card"><header><${Icon} name=${icon} /><h2>${title}</h2>${aside}</header>${children}</section>`;
}

const severityKind = { critical: "bad", warning: "warn" };

/** @param {AlertPage} page */
function alertRows({ data }) {
  return html`<ul class="rows">${data.map((alert) => html`<li key=${alert.id}>
    <a class="what" href=${href(`/alerts/${encodeURIComponent(alert.id)}`)}>${alert.rule_name}</a>
    <span class=${`tag ${severityKind[alert.severity] ?? ""}`}>${alert.severity}</span>
    <span class="more">${alert.summary || alert.condition_text} · <${Time} at=${alert.since} /></span>
  </li>`)}</ul>`;
}

const levelKind = { fatal: "bad", error: "bad", warning: "warn" };

/** @param {ErrorGroupPage} page */
function errorRows({ data, meta }) {
  return html`<p><span class="count">${amount(meta.total)}</span> <span class="quiet">unresolved</span></p>
  <ul class="rows">${data.map((error) => html`<li key=${error.id}>
    <a class="what" href=${href(`/errors/${encodeURIComponent(error.id)}`)}>${error.title}</a>
    <span class=${`tag ${levelKind[error.level] ?? ""}`}>${error.level}</span>
    <span class="more">${count(error.occurrences, "occurrence")} · last <${Time} at=${error.last_seen} /></span>
  </li>`)}</ul>`;
}

const queueKind = { healthy: "good", degraded: "bad", paused: "warn" };

function byNeed(a, b) {
  return Number(a.status === "healthy") - Number(b.status === "healthy") || b.size - a.size || a.name.localeCompare(b.name);
}

/** @param {QueueList} list */
function queueTable({ queues }) {
  const shown = [...queues].sort(byNeed).slice(0, QUEUES_SHOWN_MAX);
  return html`<div class="wide" tabindex="0" role="region" aria-label="Queues"><table>
    <thead><tr><th>Queue</th><th class="number">Ready</th><th class="number">Oldest</th><th class="end">Status</th></tr></thead>
    <tbody>${shown.map((queue) => html`<tr key=${queue.name}>
      <td class="mono"><a href=${href("/jobs", { queue: queue.name })}>${queue.name}</a></td><td class="number">${amount(queue.size)}</td>
      <td class="number">${queue.size > 0 ? duration(queue.latency_seconds) : "–"}</td>
      <td class="end"><span class=${`tag ${queueKind[queue.status] ?? ""}`}>${queue.status}</span></td></tr>`)}</tbody>
  </table></div>`;
}

const sections = {
  alerts: {
    area: "alerts", icon: "bell", title: "Firing alerts", path: `/alerts?status=firing&limit=${SHOWN_MAX}`, show: alertRows,
    empty: { is: ({ data }) => data.length === 0, text: "No alert is firing." },
  },
  errors: {
    area: "errors", icon: "circle-alert", title: "Errors", path: `/errors?status=unresolved&limit=${SHOWN_MAX}`, show: errorRows,
    empty: { is: ({ data }) => data.length === 0, text: "No unresolved errors." },
  },
  queues: {
    area: "queues", icon: "layers", title: "Queues", path: "/queues", show: queueTable,
    empty: { is: ({ queues }) => queues.length === 0, text: "No queues yet." },
  },
};

/** The dashboards that the person has starred, newest star first. */
function Starred() {
  const stars = useStars();
  const [state] = useLoaded((abort) => get("/dashboards?limit=200", abort));
  const found = (stars ?? []).flatMap((id) => state.value.data?.data.find((dashboard) => dashboard.id === id) ?? []);
  if (found.length === 0) return null;
  return html`<${Card} icon="star" title="Starred dashboards"><ul class="rows">${found.slice(0, STARRED_SHOWN_MAX).map(({ id, name, description }) => html`<li key=${id}>
    <a class="what" href=${href(`/dashboards/${encodeURIComponent(id)}`)}>${name}</a>${description && html`<span class="more">${description}</span>`}</li>`)}</ul><//>`;
}

function Section({ of, onLoader }) {
  const { icon, title, path, show, empty } = of;
  const [state, again] = useLoaded((abort) => get(path, abort), REFRESH_MS);
  useEffect(() => onLoader(again), []);
  return html`<${Card} icon=${icon} title=${title}><${Loaded} state=${state} show=${show} empty=${empty} /><//>`;
}

export function Page() {
  const loaders = useMemo(() => new Set(), []);
  const onLoader = (again) => {
    loaders.add(again);
    return () => loaders.delete(again);
  };
  const refresh = () => loaders.forEach((again) => again());
  useEffect(() => bind("r", "Refresh", refresh), []);
  const shown = Object.values(sections).filter(({ area }) => areas.value.includes(area));
  return html`<${Head} title="Home"><${Button} work=${refresh}><${Icon} name="refresh-cw" />Refresh<//><//>
    <div class="grid">
      ${shown.map((of) => html`<${Section} key=${of.area} of=${of} onLoader=${onLoader} />`)}
      ${areas.value.includes("dashboards") && html`<${Starred} />`}
      <${FirstSteps} />
    </div>`;
}
