// Monitors: those that are down first. All are loaded at once, and searched, filtered and paged here,
// so that hundreds of them are as quick as ten.

import { useMemo, useState } from "preact/hooks";
import { get } from "../api/client.js";
import { amount } from "../kit/format.js";
import { html } from "../kit/html.js";
import { useLoaded } from "../kit/loading.js";
import { loads, refresh } from "../kit/range.js";
import { href, inQuery, place } from "../kit/router.js";
import { Button } from "../parts/button.js";
import { QuerySearch, QuerySelect } from "../parts/fields.js";
import { Head } from "../parts/head.js";
import { Icon } from "../parts/icon.js";
import { Loaded } from "../parts/loaded.js";
import { PAGE_ROWS, Pager, offsetOf } from "../parts/pager.js";
import { Time } from "../parts/time.js";
import { Bars } from "./status_bars.js";
import { checkNow, setPaused } from "./status_acts.js";
import { StatusNav } from "./status_nav.js";
import { MONITOR_ICON, MONITOR_KIND, MONITOR_STATES, targetOf, uptimeText } from "./status_words.js";

/** @import { Monitor } from "telltale" */

const LIST_MAX = 1_000;
const REFRESH_S = 30;
const TYPES = [{ value: "", label: "Any type" }, ...["http", "tcp", "heartbeat"].map((value) => ({ value, label: value }))];
const SORTS = [{ value: "", label: "By need" }, { value: "name", label: "By name" }, { value: "uptime", label: "By uptime" }, { value: "response", label: "By response time" }];

/** Loads all monitors. */
export async function loadMonitors(abort) {
  const all = [];
  for (;;) {
    const { monitors } = await get(`/monitors?limit=${LIST_MAX}&offset=${all.length}`, abort);
    all.push(...monitors);
    if (monitors.length < LIST_MAX) return all;
  }
}

const byName = (a, b) => a.name.localeCompare(b.name) || a.id.localeCompare(b.id);
const ORDERS = {
  "": (a, b) => MONITOR_STATES.indexOf(a.status) - MONITOR_STATES.indexOf(b.status) || byName(a, b),
  name: byName,
  uptime: (a, b) => (a.uptime_90d ?? 101) - (b.uptime_90d ?? 101) || byName(a, b),
  response: (a, b) => (b.last_check?.response_ms ?? -1) - (a.last_check?.response_ms ?? -1) || byName(a, b),
};

function fits(monitor, { text, status, type }) {
  if (status && monitor.status !== status) return false;
  if (type && monitor.type !== type) return false;
  return !text || `${monitor.name} ${targetOf(monitor)}`.toLowerCase().includes(text);
}

/** @param {Props<{monitors: Monitor[]}>} props */
function Counts({ monitors }) {
  const counts = new Map();
  for (const { status } of monitors) counts.set(status, (counts.get(status) ?? 0) + 1);
  const chosen = inQuery("status");
  const linkTo = (status) => {
    const query = Object.fromEntries([...place.value.query].filter(([name]) => name !== "status" && name !== "offset"));
    return href("/status", status === chosen ? query : { ...query, status });
  };
  return html`<ul class="counts" aria-label="By status">${MONITOR_STATES.filter((status) => counts.has(status)).map((status) => html`<li key=${status}>
    <a href=${linkTo(status)} class=${`count-of ${MONITOR_KIND[status]}`} aria-current=${status === chosen ? "true" : null}><${Icon} name=${MONITOR_ICON[status]} /><strong>${amount(counts.get(status))}</strong> ${status}</a></li>`)}</ul>`;
}

/** @param {Props<{monitor: Monitor}>} props */
function Row({ monitor, onChange }) {
  const { id, name, type, status, status_reason: reason, status_since: since, last_check: check, uptime_90d: uptime, paused } = monitor;
  return html`<li>
    <span class=${`state ${MONITOR_KIND[status]}`}><${Icon} name=${MONITOR_ICON[status]} /><span class="unseen">${status}</span></span>
    <div class="what"><a class="name" href=${href(`/status/monitors/${encodeURIComponent(id)}`)}>${name}</a>
      <p class="quiet small target">${targetOf(monitor)}</p>
      ${reason && status !== "up" && html`<p class="small reason">${reason} · since <${Time} at=${since} /></p>`}</div>
    <${Bars} id=${id} />
    <span class="figure uptime"><span class="unseen">Uptime of 90 days: </span>${uptimeText(uptime)}</span>
    <span class="figure response"><span class="unseen">Response: </span>${check?.response_ms === null || check?.response_ms === undefined ? "–" : `${amount(check.response_ms)} ms`}</span>
    <span class="row-acts">
      ${type !== "heartbeat" && !paused ? html`<${Button} kind="plain" label=${`Check ${name} now`} work=${() => checkNow(monitor, onChange)}><${Icon} name="refresh-cw" /><//>` : html`<span class="no-act"></span>`}
      <${Button} kind="plain" label=${paused ? `Resume ${name}` : `Pause ${name}`} work=${() => setPaused(monitor, onChange)}><${Icon} name=${paused ? "play" : "pause"} /><//></span>
  </li>`;
}

/** @param {Props<{monitors: Monitor[]}>} props */
function List({ monitors, onChange }) {
  const wanted = { text: inQuery("q").toLowerCase(), status: inQuery("status"), type: inQuery("type") };
  const order = inQuery("sort");
  const found = useMemo(() => monitors.filter((one) => fits(one, wanted)).sort(ORDERS[order] ?? ORDERS[""]), [monitors, wanted.text, wanted.status, wanted.type, order]);
  const offset = Math.min(offsetOf(), Math.max(0, Math.floor((found.length - 1) / PAGE_ROWS) * PAGE_ROWS));
  return html`<${Counts} monitors=${monitors} />
    <section class="card" aria-label="Monitors">
      ${found.length === 0 ? html`<p class="quiet">No monitor is like this.</p>` : html`<div class="monitors-head small quiet" aria-hidden="true"><span>90 days</span><span>Uptime</span><span>Response</span></div>
        <ul class="monitors">${found.slice(offset, offset + PAGE_ROWS).map((one) => html`<${Row} key=${one.id} monitor=${one} onChange=${onChange} />`)}</ul>`}
      <${Pager} meta=${{ total: found.length, limit: PAGE_ROWS, offset }} />
    </section>`;
}

export function Page() {
  const [changed, setChanged] = useState(() => new Map());
  const [state, again] = useLoaded(async (abort) => {
    const found = await loadMonitors(abort);
    setChanged(new Map());
    return found;
  }, (refresh.value || REFRESH_S) * 1000, String(loads.value));
  // What an action returned is shown until the list is loaded again.
  const onChange = (monitor) => setChanged((before) => new Map(before).set(monitor.id, monitor));
  const shown = useMemo(() => (state.value.data ?? []).map((one) => changed.get(one.id) ?? one), [state.value.data, changed]);
  return html`<${Head} title="Monitors"><a class="button first" href=${href("/status/monitors/new/edit")}><${Icon} name="plus" />New monitor</a><${Button} label="Refresh" work=${again}><${Icon} name="refresh-cw" /><//><//>
    <${StatusNav} />
    <div class="filters"><${QuerySearch} name="q" label="Find monitors by name or target" placeholder="Find by name or target" /><${QuerySelect} name="type" label="Type" options=${TYPES} /><${QuerySelect} name="sort" label="Order" options=${SORTS} /></div>
    <${Loaded} state=${state} show=${() => html`<${List} monitors=${shown} onChange=${onChange} />`}
      empty=${{ is: (all) => all.length === 0, text: "No monitors yet. A monitor checks a URL or a port, or waits for the heartbeats of a job." }} />`;
}
