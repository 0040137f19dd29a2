// One job, alive or dead: its state, arguments, attempts and errors.

import { useState } from "preact/hooks";
import { call, getExact } from "../api/client.js";
import { may } from "../api/session.js";
import { amount, count, instant } from "../kit/format.js";
import { html } from "../kit/html.js";
import { json } from "../kit/json.js";
import { useLoaded } from "../kit/loading.js";
import { rangeKey, refresh } from "../kit/range.js";
import { go, href } from "../kit/router.js";
import { doing, toast } from "../kit/toasts.js";
import { Button } from "../parts/button.js";
import { Confirm } from "../parts/confirm.js";
import { CopyButton, Copyable } from "../parts/copy.js";
import { Head } from "../parts/head.js";
import { Icon } from "../parts/icon.js";
import { Loaded } from "../parts/loaded.js";
import { Refresher } from "../parts/refresher.js";
import { Time } from "../parts/time.js";
import { queueHref, Status } from "./jobs_common.js";
import { Enqueue } from "./jobs_enqueue.js";

/** @import { DeadJob } from "telltale" */

const isDead = (id) => id.startsWith("dead_");

/**
 * Returns a dead job in the form of others.
 * @param {DeadJob} dead
 */
function ofDead(dead) {
  const { job_id: id, attempts, original_enqueued_at: enqueued, died_at: died, ...rest } = dead;
  return { ...rest, id, status: "dead", attempts, max_attempts: null, enqueued_at: enqueued, run_at: null, started_at: null, finished_at: died, worker_id: null, expires_at: null, dead_job_id: dead.id,
    failures: dead.retry_history.map(({ attempt, failed_at: at, error }) => ({ attempt, failed_at: at, error_class: error, error_message: "" })) };
}

/** Loads a job by its id, or by the one that it has as a dead job. */
async function load(id, abort) {
  const dead = (deadId) => getExact(`/dead-jobs/${encodeURIComponent(deadId)}`, abort);
  if (isDead(id)) {
    const found = await dead(id);
    // The job itself says how many attempts it had; it is gone where its records were damaged.
    const job = await getExact(`/jobs/${encodeURIComponent(found.job_id)}`, abort).catch(() => ofDead(found));
    return { job, dead: found };
  }
  const job = await getExact(`/jobs/${encodeURIComponent(id)}`, abort);
  return { job, dead: job.dead_job_id ? await dead(job.dead_job_id).catch(() => null) : null };
}

/** Returns what happened to a job, in order: `{at, text, kind}`. */
function eventsOf({ job, dead }) {
  const begun = [{ at: job.enqueued_at, icon: "inbox", text: "Enqueued" }];
  const failed = job.failures.map((failure) => ({ at: failure.failed_at, icon: "triangle-alert", text: `Attempt ${amount(failure.attempt)} failed`, failure }));
  const later = [
    job.status === "running" && { at: job.started_at, icon: "play", text: `Attempt ${amount(job.attempts)} runs`, note: `Reserved until ${instant(job.expires_at)}` },
    job.run_at && { at: job.run_at, icon: "clock", text: job.status === "retrying" ? "Next attempt" : "Not before" },
    job.status === "completed" && { at: job.finished_at, icon: "circle-check", text: `Finished, ${count(job.attempts, "attempt")}` },
    job.status === "dead" && { at: dead?.died_at ?? job.finished_at, icon: "skull", text: "Died: no attempts are left" },
  ];
  return [...begun, ...failed, ...later].filter((event) => event && event.at);
}

function History({ found }) {
  const events = eventsOf(found);
  const missing = found.job.attempts - found.job.failures.length - (["running", "completed"].includes(found.job.status) ? 1 : 0);
  return html`<section class="card"><header><${Icon} name="history" /><h2>History</h2></header>
    <ol class="activity">${events.map(({ at, icon, text, failure, note }, i) => html`<li key=${`${i} ${at}`}><${Icon} name=${icon} /><div><p>${text} <span class="quiet small" title=${at}>${instant(at)} (<${Time} at=${at} />)</span></p>
      ${note && html`<p class="quiet small">${note}</p>`}${failure && html`<p class="said"><strong><bdi>${failure.error_class}</bdi></strong>${failure.error_message && html`: <bdi>${failure.error_message}</bdi>`}</p>`}</div></li>`)}</ol>
    ${missing > 0 && found.job.failures.length > 0 && html`<p class="quiet small">The newest ${count(found.job.failures.length, "failure")} are kept.</p>`}</section>`;
}

/** @param {Props<{dead: DeadJob}>} props */
function LastError({ dead }) {
  const text = [`${dead.error_class}: ${dead.error_message}`, ...dead.backtrace].join("\n");
  return html`<section class="card"><header><${Icon} name="circle-alert" /><h2>Last error</h2><div class="acts"><${CopyButton} text=${text} label="the last error with its backtrace" /></div></header>
    <h3><bdi>${dead.error_class}</bdi></h3><p class="message"><bdi>${dead.error_message}</bdi></p>
    ${dead.backtrace.length > 0 && html`<pre class="lines plain" tabindex="0" role="region" aria-label="Backtrace">${dead.backtrace.map((line, i) => html`<span key=${i}><bdi>${line}</bdi>${"\n"}</span>`)}</pre>`}</section>`;
}

function Facts({ job }) {
  const fact = (label, value) => html`<div><dt>${label}</dt><dd>${value}</dd></div>`;
  return html`<section class="card strip"><h2 class="unseen">Numbers</h2><dl class="numbers">
    ${fact("Queue", html`<a class="mono" href=${queueHref(job.queue)}><bdi>${job.queue}</bdi></a>`)}
    ${fact("Attempts", job.max_attempts === null ? amount(job.attempts) : `${amount(job.attempts)} of ${amount(job.max_attempts)}`)}
    ${fact("Enqueued", html`<${Time} at=${job.enqueued_at} />`)}
    ${job.run_at && fact("Due", html`<${Time} at=${job.run_at} />`)}${job.finished_at && fact("Ended", html`<${Time} at=${job.finished_at} />`)}
    ${job.worker_id && fact("Worker", html`<a class="mono small" href=${href("/jobs", { view: "workers", worker: job.worker_id })}>${job.worker_id}</a>`)}</dl></section>`;
}

function Acts({ found, again }) {
  const { job, dead } = found;
  const [open, setOpen] = useState("");
  const close = () => setOpen("");
  const path = /** @type {const} */ (`/jobs/${encodeURIComponent(job.id)}`);
  const run = async () => {
    await doing(() => call("POST", `${path}/run`, { body: {} }), "The job is ready to run.");
    again();
  };
  const retry = () => doing(async () => {
    const { new_job_id: made } = await call("POST", `/dead-jobs/${encodeURIComponent(dead.id)}/retry`, { body: {} });
    toast("Enqueued as a new job.");
    go(`/jobs/${encodeURIComponent(made)}`);
  });
  const remove = async () => {
    await call("DELETE", dead ? `/dead-jobs/${encodeURIComponent(dead.id)}` : path);
    toast("The job is deleted.");
    go(dead ? "/jobs?view=dead" : "/jobs?view=live");
  };
  const made = ({ job_id: id }) => {
    toast("The job is enqueued.");
    go(`/jobs/${encodeURIComponent(id)}`);
  };
  const canDelete = dead || ["ready", "scheduled", "retrying"].includes(job.status);
  return html`<div class="acts begin">
    ${may("write") && dead && html`<${Button} kind="first" work=${retry}><${Icon} name="rotate-ccw" />Retry<//>`}
    ${may("write") && ["scheduled", "retrying"].includes(job.status) && html`<${Button} kind="first" work=${run}><${Icon} name="play" />Run now<//>`}
    ${may("ingest") && html`<${Button} work=${() => setOpen("like")}><${Icon} name="plus" />Enqueue one like it…<//>`}
    ${may("write") && canDelete && html`<${Button} kind="grave" work=${() => setOpen("delete")}><${Icon} name="trash-2" />Delete…<//>`}
    ${open === "like" && html`<${Enqueue} like=${job} onMade=${made} onClose=${close} />`}
    ${open === "delete" && html`<${Confirm} title="Delete the job?" act="Delete" work=${remove} onClose=${close}><p><strong><bdi>${job.class_name}</bdi></strong> is deleted for good${dead ? "" : " and will not run"}.</p><//>`}</div>`;
}

export function Page({ params }) {
  const [state, again] = useLoaded((abort) => load(params.id, abort), refresh.value * 1000, rangeKey.value);
  const job = state.value.data?.job;
  const view = job?.status === "dead" || isDead(params.id) ? "dead" : "live";
  const show = (found) => html`<div class="about"><${Status} of=${found.job.status} /><span class="mono quiet">${found.job.id}</span><${CopyButton} text=${found.job.id} label="the id of the job" /></div>
    <${Acts} found=${found} again=${again} /><${Facts} job=${found.job} />
    <div class="sections">${found.dead && html`<${LastError} dead=${found.dead} />`}
      <section class="card"><header><${Icon} name="code" /><h2>Arguments</h2></header><${Copyable} text=${json(found.job.arguments)} label="the arguments as JSON" /></section>
      <${History} found=${found} /></div>`;
  return html`<${Head} title=${job?.class_name ?? "Job"} above=${{ path: `/jobs?view=${view}`, label: view === "dead" ? "Dead jobs" : "Jobs" }}><${Refresher} /><//>
    <${Loaded} state=${state} show=${show} />`;
}
