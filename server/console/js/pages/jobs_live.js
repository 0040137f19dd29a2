// The view of jobs that wait or run: search, run now, delete.

import { useState } from "preact/hooks";
import { call, getExact } from "../api/client.js";
import { may } from "../api/session.js";
import { failed } from "../kit/failed.js";
import { amount, count } from "../kit/format.js";
import { html } from "../kit/html.js";
import { useLoaded } from "../kit/loading.js";
import { rangeKey, refresh } from "../kit/range.js";
import { inQuery, place } from "../kit/router.js";
import { toast } from "../kit/toasts.js";
import { Button } from "../parts/button.js";
import { Confirm } from "../parts/confirm.js";
import { QuerySearch, QuerySelect } from "../parts/fields.js";
import { Icon } from "../parts/icon.js";
import { Loaded } from "../parts/loaded.js";
import { PAGE_ROWS } from "../parts/pager.js";
import { SelectAll, SelectRow, useRowKeys, useSelection } from "../parts/selection.js";
import { Table } from "../parts/table.js";
import { Time } from "../parts/time.js";
import { Arguments, jobHref, linkWith, Names, queryOf, queueHref, Status } from "./jobs_common.js";

/** @import { JobSummary } from "telltale" */

const NAMES = ["status", "queue", "class_name", "search", "cursor"];
const STATUSES = [
  { value: "", label: "Any state" },
  { value: "waiting", label: "Ready" },
  { value: "running", label: "Running" },
  { value: "scheduled", label: "Scheduled" },
  { value: "retrying", label: "Retrying" },
];
const canRun = ({ status }) => status === "scheduled" || status === "retrying";
const canDelete = ({ status }) => status !== "running";

/** @param {Props<{job: JobSummary}>} props */
function When({ job }) {
  if (job.run_at) return html`<span class="seen"><span>due <${Time} at=${job.run_at} /></span><span class="quiet small">enqueued <${Time} at=${job.enqueued_at} /></span></span>`;
  if (job.status === "running") return html`<span class="seen"><span>began <${Time} at=${job.started_at} /></span><span class="quiet small">enqueued <${Time} at=${job.enqueued_at} /></span></span>`;
  return html`<${Time} at=${job.enqueued_at} />`;
}

/** @returns {Column<JobSummary>[]} */
function columnsOf(selection) {
  const select = { label: "Select", isUnseen: true, cell: (job) => html`<${SelectRow} selection=${selection} id=${job.id} label=${`${job.class_name} ${job.id}`} />` };
  return [
    ...(may("write") ? [select] : []),
    { label: "Job", cell: (job) => html`<span class="what-runs"><a data-row=${job.id} href=${jobHref(job.id)}><bdi>${job.class_name}</bdi></a><${Arguments} of=${job.arguments} /></span>` },
    { label: "State", cell: (job) => html`<${Status} of=${job.status} />` },
    { label: "Queue", cell: (job) => html`<a class="mono" href=${queueHref(job.queue)}><bdi>${job.queue}</bdi></a>` },
    { label: "Attempts", isNumber: true, cell: (job) => `${amount(job.attempts)} of ${amount(job.max_attempts)}` },
    { label: "Time", cell: (job) => html`<${When} job=${job} />` },
  ];
}

/** Does something with jobs one after the other, and says with how many. */
async function each(jobs, work, done) {
  /** @type {Failed | null} */
  let last = null;
  let wrong = 0;
  for (const job of jobs) {
    try {
      await work(encodeURIComponent(job.id));
    } catch (failure) {
      wrong += 1;
      last = failed(failure);
    }
  }
  const good = jobs.length - wrong;
  if (good > 0) toast(`${count(good, "job")} ${done}.`);
  if (last) toast(`Not ${done}: ${count(wrong, "job")}. ${last.missingScope ? `Your key lacks the scope “${last.missingScope}”` : last.message}.`, { kind: "bad" });
}

function Acts({ selection, jobs, done }) {
  const [isOpen, setOpen] = useState(false);
  const chosen = jobs.filter(({ id }) => selection.isSelected(id));
  const [runnable, deletable] = [chosen.filter(canRun), chosen.filter(canDelete)];
  const end = () => {
    selection.setAll(false);
    done();
  };
  const run = () => each(runnable, (id) => call("POST", `/jobs/${id}/run`, { body: {} }), "made ready").then(end);
  const remove = () => each(deletable, (id) => call("DELETE", `/jobs/${id}`), "deleted").then(end);
  if (!may("write")) return html`<p class="quiet small bulk">Your key lacks the scope “write”: it cannot change jobs.</p>`;
  return html`<div class="bulk" role="group" aria-label="Selected jobs"><${SelectAll} selection=${selection} />
    ${runnable.length > 0 && html`<${Button} kind="small" work=${run}><${Icon} name="play" />Run ${amount(runnable.length)} now<//>`}
    ${deletable.length > 0 && html`<${Button} kind="small" work=${() => setOpen(true)}><${Icon} name="trash-2" />Delete ${amount(deletable.length)}…<//>`}
    ${isOpen && html`<${Confirm} title=${`Delete ${count(deletable.length, "job")}?`} act=${`Delete ${amount(deletable.length)}`} work=${remove} onClose=${() => setOpen(false)}>
      <p>They are deleted for good and will not run.${chosen.length > deletable.length ? ` ${count(chosen.length - deletable.length, "selected job")} that ${chosen.length - deletable.length === 1 ? "runs is" : "run are"} left alone.` : ""}</p><//>`}</div>`;
}

function List({ state, done }) {
  const { jobs, next_cursor: next } = state.value.data;
  const selection = useSelection(jobs.map(({ id }) => id));
  useRowKeys(may("write") ? selection.toggle : () => undefined);
  const way = (inQuery("cursor") || next) && html`<nav class="pager" aria-label="Parts of the list">
    ${next && jobs.length < PAGE_ROWS && html`<span>Only a part of the jobs was searched.</span>`}
    ${inQuery("cursor") && html`<a class="button" href=${linkWith("cursor", null)}><${Icon} name="chevrons-left" />First</a>`}
    ${next && html`<a class="button" href=${linkWith("cursor", next)} rel="next">${jobs.length < PAGE_ROWS ? "Search on" : "After"}<${Icon} name="chevron-right" /></a>`}</nav>`;
  if (jobs.length === 0) return html`<p class="none"><${Icon} name="circle-check" />${next ? "No job was found so far." : "No job waits or runs that matches."}</p>${way}`;
  return html`<section class="card jobs"><${Acts} selection=${selection} jobs=${jobs} done=${done} />
    <${Table} label="Jobs" columns=${columnsOf(selection)} rows=${jobs} keyOf=${({ id }) => id} kindOf=${({ id }) => (selection.isSelected(id) ? "chosen" : "")} />${way}</section>`;
}

export function Live({ queues, changed }) {
  const [state, again] = useLoaded((abort) => getExact(`/jobs?${queryOf(NAMES, { limit: PAGE_ROWS })}`, abort), refresh.value * 1000, `${rangeKey.value} ${place.value.query}`);
  const done = () => {
    again();
    changed();
  };
  return html`<div class="filters" role="search"><${QuerySearch} name="search" label="Search in classes and arguments" maxlength="200" />
      <${QuerySearch} name="class_name" label="Class" icon="code" kind="narrow" /><${QuerySearch} name="queue" label="Queue" icon="layers" kind="narrow" list="live-queues" />
      <${QuerySelect} name="status" label="State" options=${STATUSES} /><${Names} id="live-queues" names=${queues.map(({ name }) => name)} /></div>
    <${Loaded} state=${state} show=${() => html`<${List} state=${state} done=${done} />`} />`;
}
