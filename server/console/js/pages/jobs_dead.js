// The view of dead jobs: search, filter, retry and delete, and when they died.

import { getExact, get } from "../api/client.js";
import { may } from "../api/session.js";
import { amount } from "../kit/format.js";
import { html } from "../kit/html.js";
import { useLoaded } from "../kit/loading.js";
import { rangeKey, refresh } from "../kit/range.js";
import { inQuery, place } from "../kit/router.js";
import { QuerySearch, QuerySelect } from "../parts/fields.js";
import { Icon } from "../parts/icon.js";
import { Loaded } from "../parts/loaded.js";
import { offsetOf, Pager, PAGE_ROWS } from "../parts/pager.js";
import { SelectRow, useRowKeys, useSelection } from "../parts/selection.js";
import { Table } from "../parts/table.js";
import { Time } from "../parts/time.js";
import { Arguments, jobHref, linkWith, Names, queryOf, queueHref } from "./jobs_common.js";
import { DeadActs } from "./jobs_dead_acts.js";
import { Analytics } from "./jobs_dead_analytics.js";

/** @import { DeadJobSummary } from "telltale" */

const NAMES = ["class_name", "error_class", "queue", "search"];
const SINCE = [
  { value: "", label: "Died at any time" },
  { value: "1", label: "Died in the last hour" },
  { value: "24", label: "Died in the last day" },
  { value: "168", label: "Died in the last week" },
  { value: "720", label: "Died in the last 30 days" },
];
const HOUR_MS = 3_600_000;

/** Returns the time from which on jobs died that are shown, or null. */
function sinceOf() {
  const hours = Number(inQuery("died"));
  return hours > 0 && hours < 100_000 ? new Date(Date.now() - hours * HOUR_MS).toISOString() : null;
}

/** Returns the conditions of the address, as bodies have them. */
function filterOf(since) {
  const filter = {};
  for (const name of NAMES) if (inQuery(name)) filter[name] = inQuery(name);
  if (since) filter.since = since;
  return filter;
}

async function load(abort) {
  const since = sinceOf();
  const query = queryOf(NAMES, { per_page: PAGE_ROWS });
  if (since) query.set("since", since);
  // A search goes on at a cursor, any other list has pages.
  if (!inQuery("search")) query.set("page", String(Math.floor(offsetOf() / PAGE_ROWS) + 1));
  else if (inQuery("cursor")) query.set("cursor", inQuery("cursor"));
  return { ...(await getExact(`/dead-jobs?${query}`, abort)), filter: filterOf(since) };
}

/** @returns {Column<DeadJobSummary>[]} */
function columnsOf(selection) {
  const select = { label: "Select", isUnseen: true, cell: (job) => html`<${SelectRow} selection=${selection} id=${job.id} label=${`${job.class_name} ${job.id}`} />` };
  return [
    ...(may("write") ? [select] : []),
    { label: "Job", cell: (job) => html`<span class="what-runs"><a data-row=${job.id} href=${jobHref(job.id)}><bdi>${job.class_name}</bdi></a><${Arguments} of=${job.arguments} /></span>` },
    { label: "Error", cell: (job) => html`<span class="what-runs"><a class="bad" href=${linkWith("error_class", job.error_class)}><bdi>${job.error_class}</bdi></a><bdi class="cut">${job.error_message}</bdi></span>` },
    { label: "Queue", cell: (job) => html`<a class="mono" href=${queueHref(job.queue)}><bdi>${job.queue}</bdi></a>` },
    { label: "Attempts", isNumber: true, cell: (job) => amount(job.attempts) },
    { label: "Died", cell: (job) => html`<span class="seen"><${Time} at=${job.died_at} />${job.first_failed_at !== job.died_at && html`<span class="quiet small">failed first <${Time} at=${job.first_failed_at} /></span>`}</span>` },
  ];
}

function Way({ data }) {
  const { dead_jobs: jobs, total, next_cursor: next } = data;
  if (total !== undefined) return html`<${Pager} meta=${{ total, limit: PAGE_ROWS, offset: offsetOf() }} />`;
  if (!next && !inQuery("cursor")) return null;
  return html`<nav class="pager" aria-label="Parts of the list">${next && jobs.length < PAGE_ROWS && html`<span>Only a part of the dead jobs was searched.</span>`}
    ${inQuery("cursor") && html`<a class="button" href=${linkWith("cursor", null)}><${Icon} name="chevrons-left" />First</a>`}
    ${next && html`<a class="button" href=${linkWith("cursor", next)} rel="next">${jobs.length < PAGE_ROWS ? "Search on" : "After"}<${Icon} name="chevron-right" /></a>`}</nav>`;
}

function List({ state, done }) {
  const { data } = state.value;
  const jobs = data.dead_jobs;
  const selection = useSelection(jobs.map(({ id }) => id));
  useRowKeys(may("write") ? selection.toggle : () => undefined);
  if (jobs.length === 0) return html`<p class="none"><${Icon} name="circle-check" />${data.next_cursor ? "No dead job was found so far." : Object.keys(data.filter).length > 0 ? "No dead job matches." : "No dead jobs."}</p><${Way} data=${data} />`;
  return html`<section class="card jobs"><${DeadActs} selection=${selection} jobs=${jobs} data=${data} done=${done} />
    <${Table} label="Dead jobs" columns=${columnsOf(selection)} rows=${jobs} keyOf=${({ id }) => id} kindOf=${({ id }) => (selection.isSelected(id) ? "chosen" : "")} /><${Way} data=${data} /></section>`;
}

export function Dead({ queues, changed }) {
  const [state, again] = useLoaded(load, refresh.value * 1000, `${rangeKey.value} ${place.value.query}`);
  const period = inQuery("period") || "week";
  const [past, pastAgain] = useLoaded((abort) => get(`/dead-jobs/analytics?${queryOf([], { period })}`, abort), refresh.value * 1000, `${rangeKey.value} ${period} ${inQuery("internal")}`);
  const done = () => {
    again();
    pastAgain();
    changed();
  };
  const names = (list, field) => (past.value.data?.[list] ?? []).map((one) => one[field]);
  return html`<${Loaded} state=${past} show=${(data) => html`<${Analytics} data=${data} />`} />
    <div class="filters" role="search"><${QuerySearch} name="search" label="Search in classes, arguments and errors" maxlength="200" />
      <${QuerySearch} name="class_name" label="Class" icon="code" kind="narrow" list="dead-classes" /><${QuerySearch} name="error_class" label="Error class" icon="circle-alert" kind="narrow" list="dead-errors" />
      <${QuerySearch} name="queue" label="Queue" icon="layers" kind="narrow" list="dead-queues" /><${QuerySelect} name="died" label="Time" options=${SINCE} />
      <${Names} id="dead-classes" names=${names("by_class", "class_name")} /><${Names} id="dead-errors" names=${names("by_error", "error_class")} /><${Names} id="dead-queues" names=${queues.map(({ name }) => name)} /></div>
    <${Loaded} state=${state} show=${() => html`<${List} state=${state} done=${done} />`} />`;
}
