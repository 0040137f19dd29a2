// The dialog that enqueues a job, or one like another.

import { call } from "../api/client.js";
import { failed } from "../kit/failed.js";
import { html } from "../kit/html.js";
import { json, parse } from "../kit/json.js";
import { currentZone, fromLocal } from "../kit/zone.js";
import { Field } from "../parts/fields.js";
import { FormDialog, Wrong } from "../parts/form_dialog.js";
import { Names } from "./jobs_common.js";

/** @import { EnqueuedJob, Job } from "telltale" */

const FIELDS = ["class_name", "queue", "arguments", "run_at", "max_attempts", "unique_key", "timeout_seconds"];

function argumentsOf(text) {
  let value;
  try {
    value = parse(text || "{}");
  } catch (thrown) {
    const error = failed(thrown);
    throw new Wrong("arguments", `not JSON: ${error.message}`);
  }
  if (value === null || typeof value !== "object" || Array.isArray(value)) throw new Wrong("arguments", "arguments must be an object");
  return value;
}

function numberOf(name, text) {
  if (!text) return undefined;
  if (!/^\d+$/.test(text)) throw new Wrong(name, "must be a whole number");
  return Number(text);
}

function timeOf(text) {
  if (!text) return undefined;
  const at = fromLocal(text);
  if (Number.isNaN(at)) throw new Wrong("run_at", "must be a time");
  return new Date(at).toISOString();
}

function bodyOf(data) {
  const text = (name) => String(data.get(name) ?? "").trim();
  return {
    class_name: text("class_name"),
    queue: text("queue") || undefined,
    arguments: argumentsOf(text("arguments")),
    run_at: timeOf(text("run_at")),
    max_attempts: numberOf("max_attempts", text("max_attempts")),
    unique_key: text("unique_key") || undefined,
    timeout_seconds: numberOf("timeout_seconds", text("timeout_seconds")),
  };
}

/**
 * `like` is a job whose values the form begins with.
 * @param {{queues?: {name: string}[], like?: Job | null, onMade: (made: EnqueuedJob) => void, onClose: () => void}} props
 */
export function Enqueue({ queues = [], like = null, onMade, onClose }) {
  const work = async (data) => onMade(await call("POST", "/jobs", { body: bodyOf(data) }));
  const field = (name) => ({ id: `job-${name}`, name, autocomplete: "off", spellcheck: false });
  return html`<${FormDialog} title="Enqueue a job" act="Enqueue" fields=${FIELDS} work=${work} onClose=${onClose}>${(failure) => html`
    <div class="pair"><${Field} ...${field("class_name")} label="Class" hint="What the worker runs" failure=${failure} defaultValue=${like?.class_name ?? ""} maxlength="200" />
      <${Field} ...${field("queue")} label="Queue" hint="Empty: default" failure=${failure} defaultValue=${like?.queue ?? ""} list="job-queues" maxlength="128" /></div>
    <${Names} id="job-queues" names=${queues.map(({ name }) => name)} />
    <div class="field"><label for="job-arguments">Arguments</label>
      <textarea id="job-arguments" name="arguments" class="mono" rows="6" spellcheck=${false} aria-invalid=${failure?.field === "arguments" ? "true" : null} aria-describedby="job-arguments-hint"
        defaultValue=${like ? json(like.arguments) : "{}"}></textarea>
      <p id="job-arguments-hint" class=${failure?.field === "arguments" ? "wrong" : "hint"}>${failure?.field === "arguments" ? failure.message : "A JSON object"}</p></div>
    <div class="pair"><${Field} ...${field("run_at")} label="Not before" hint=${`Empty: now. ${currentZone()}`} failure=${failure} type="datetime-local" step="1" />
      <${Field} ...${field("unique_key")} label="Unique key" hint="No two unfinished jobs have the same" failure=${failure} maxlength="200" /></div>
    <div class="pair"><${Field} ...${field("max_attempts")} label="Attempts at most" hint="Empty: 25" failure=${failure} inputmode="numeric" defaultValue=${like?.max_attempts ?? ""} />
      <${Field} ...${field("timeout_seconds")} label="Seconds per attempt" hint="Empty: as the server is set" failure=${failure} inputmode="numeric" /></div>`}<//>`;
}
