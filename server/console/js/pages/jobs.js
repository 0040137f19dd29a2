// Queues, workers and jobs: what waits, runs and died, and what can be done about it.

import { useState } from "preact/hooks";
import { get } from "../api/client.js";
import { areas, may } from "../api/session.js";
import { amount } from "../kit/format.js";
import { html } from "../kit/html.js";
import { useLoaded } from "../kit/loading.js";
import { loadAgain, rangeKey, refresh } from "../kit/range.js";
import { go, href, setQuery } from "../kit/router.js";
import { toast } from "../kit/toasts.js";
import { Button } from "../parts/button.js";
import { Head } from "../parts/head.js";
import { Icon } from "../parts/icon.js";
import { Loaded } from "../parts/loaded.js";
import { Refresher } from "../parts/refresher.js";
import { Tabs, viewOf } from "../parts/tabs.js";
import { isInternal } from "./jobs_common.js";
import { Dead } from "./jobs_dead.js";
import { Enqueue } from "./jobs_enqueue.js";
import { Live } from "./jobs_live.js";
import { Queues } from "./jobs_queues.js";
import { Workers } from "./jobs_workers.js";

const QUEUES_MAX = 1_000;

/** Loads all queues, and how many threads and dead jobs there are. */
async function load(abort) {
  const own = isInternal() ? "&internal=true" : "";
  const has = (area, path) => (areas.value.includes(area) ? get(path + own, abort) : null);
  const [queues, workers, dead] = await Promise.all([
    get(`/queues?limit=${QUEUES_MAX}${own}`, abort),
    has("workers", "/workers?limit=1"),
    has("dead_jobs", "/dead-jobs?per_page=1"),
  ]);
  return { ...queues, threads: workers?.summary ?? null, dead: dead?.total ?? null };
}

function Figure({ label, value, to }) {
  return html`<a class="figure" href=${href("/jobs", { ...to, ...(isInternal() && { internal: "true" }) })}><span class="count">${value}</span><span class="quiet small">${label}</span></a>`;
}

function Figures({ data }) {
  const { queues, total, threads, dead } = data;
  const sum = (name) => amount(queues.reduce((all, queue) => all + queue[name], 0));
  const live = (status) => ({ view: "live", status });
  return html`<nav class="figures" aria-label="Jobs by state">
    <${Figure} label="ready" value=${sum("size")} to=${live("waiting")} /><${Figure} label="running" value=${sum("running")} to=${live("running")} />
    <${Figure} label="scheduled" value=${sum("scheduled")} to=${live("scheduled")} /><${Figure} label="retrying" value=${sum("retrying")} to=${live("retrying")} />
    ${dead !== null && html`<${Figure} label="dead" value=${amount(dead)} to=${{ view: "dead" }} />`}
    ${threads && html`<${Figure} label=${`of ${amount(threads.total_threads)} threads busy`} value=${amount(threads.busy_threads)} to=${{ view: "workers" }} />`}</nav>
    ${total > queues.length && html`<p class="quiet small">Of the first ${amount(queues.length)} queues of ${amount(total)}.</p>`}`;
}

const shown = { queues: Queues, workers: Workers, live: Live, dead: Dead };

export function Page() {
  const [state, again] = useLoaded(load, refresh.value * 1000, `${rangeKey.value} ${isInternal()}`);
  const [isOpen, setOpen] = useState(false);
  const has = (area) => areas.value.includes(area);
  const views = [{ name: "queues", label: "Queues" }, has("workers") && { name: "workers", label: "Workers" }, has("jobs") && { name: "live", label: "Waiting and running" }, has("dead_jobs") && { name: "dead", label: "Dead" }].filter(Boolean);
  const View = shown[viewOf(views)];
  const queues = state.value.data?.queues ?? [];
  // What the views change, the figures show too.
  const changed = () => {
    again();
    loadAgain();
  };
  const made = ({ job_id: id }) => {
    toast("The job is enqueued.");
    go(`/jobs/${encodeURIComponent(id)}`);
  };
  return html`<${Head} title="Jobs">
      <label class="check"><input type="checkbox" checked=${isInternal()} onChange=${(event) => setQuery({ internal: event.currentTarget.checked ? "true" : null, offset: null, cursor: null })} />Server’s own</label>
      ${has("jobs") && may("ingest") && html`<${Button} kind="first" work=${() => setOpen(true)}><${Icon} name="plus" />Enqueue…<//>`}<${Refresher} /><//>
    <${Loaded} state=${state} show=${(data) => html`<${Figures} data=${data} />`} />
    <${Tabs} label="Views" views=${views} keep=${["internal"]} />
    <${View} key=${viewOf(views)} state=${state} queues=${queues} changed=${changed} />
    ${isOpen && html`<${Enqueue} queues=${queues} onMade=${made} onClose=${() => setOpen(false)} />`}`;
}
