// Makes a monitor or changes one.

import { useState } from "preact/hooks";
import { call, etagOf, get } from "../api/client.js";
import { html } from "../kit/html.js";
import { useLoaded } from "../kit/loading.js";
import { go } from "../kit/router.js";
import { toast } from "../kit/toasts.js";
import { concerns, Field, Select, TextArea } from "../parts/fields.js";
import { FormEnd, useDraft, useGuardedSave } from "../parts/form.js";
import { Head } from "../parts/head.js";
import { HeaderFields } from "../parts/header_fields.js";
import { Failure } from "../parts/loaded.js";
import { draftOf, METHODS, monitorOf } from "./status_monitor_draft.js";

const TYPES = [
  { value: "http", label: "http: sends a request" },
  { value: "tcp", label: "tcp: opens a connection" },
  { value: "heartbeat", label: "heartbeat: waits for reports" },
];
const pathOf = (id) => /** @type {const} */ (`/monitors/${encodeURIComponent(id)}`);

function Http({ draft, set, failure, text }) {
  const isInside = ["method", "expected_status", "headers", "body", "body_contains", "certificate_warning_days"].some((name) => concerns(failure, name));
  const hasBody = !["GET", "HEAD"].includes(draft.method) || draft.body;
  return html`<${Field} label="URL" hint="Of http or https, with the path that is requested" ...${text("url")} />
    <details open=${Boolean(isInside || draft.headers.length || draft.body_contains)}><summary>Request and response</summary><div class="stack">
      <div class="pair"><${Select} id="monitor-method" name="method" label="Method" options=${METHODS.map((value) => ({ value, label: value }))} value=${draft.method} failure=${failure} onChange=${(event) => set({ method: event.currentTarget.value })} />
        <${Field} label="Expected status" hint="Such as 200, 200-399 or 2xx; several with commas" ...${text("expected_status")} /></div>
      <${HeaderFields} headers=${draft.headers} onChange=${(headers) => set({ headers })} field="headers" failure=${failure} placeholder="value, shown redacted once it is saved" />
      ${hasBody && html`<${TextArea} label="Body" hint="Shown redacted once it is saved" rows="3" ...${text("body")} />`}
      <${Field} label="The response must contain" hint="Within its first MiB; empty: anything" ...${text("body_contains")} />
      <${Field} label="Days before the certificate ends" type="number" min="0" max="365" hint="From then on it is degraded; 0 does not warn" ...${text("certificate_warning_days")} /></div></details>`;
}

function Fields({ draft, set, saving, isNew, onCancel }) {
  const { failure } = saving;
  const { type } = draft;
  const text = (name) => ({ id: `monitor-${name}`, name, value: draft[name], failure, autocomplete: "off", onInput: (event) => set({ [name]: event.currentTarget.value }) });
  const isChecked = type !== "heartbeat";
  return html`<form class="card stack narrow" ref=${saving.form} onSubmit=${saving.submit} novalidate>
    ${isNew && html`<${Select} id="monitor-type" name="type" label="Type" options=${TYPES} value=${type} failure=${failure} onChange=${(event) => set({ type: event.currentTarget.value })} />`}
    <${Field} label="Name" maxlength="200" ...${text("name")} />
    ${type === "http" && html`<${Http} draft=${draft} set=${set} failure=${failure} text=${text} />`}
    ${type === "tcp" && html`<div class="pair"><${Field} label="Host" placeholder="db.example.com" ...${text("host")} /><${Field} label="Port" type="number" min="1" max="65535" ...${text("port")} /></div>`}
    <div class="pair"><${Field} label=${isChecked ? "Seconds between checks" : "Seconds between reports"} type="number" min="10" max="86400" ...${text("interval_seconds")} />
      ${isChecked ? html`<${Field} label="Seconds until a check has failed" type="number" min="1" max="60" ...${text("timeout_seconds")} />`
        : html`<${Field} label="Seconds a report may be late" type="number" min="0" max="86400" ...${text("grace_seconds")} />`}</div>
    <div class="pair"><${Field} label="Retries" hint="Checks after a failed one that have to fail too before it is down" type="number" min="0" max="10" ...${text("retries")} />
      ${isChecked && html`<${Field} label="Degraded after milliseconds" hint="Empty: never for being slow" type="number" min="1" max="60000" ...${text("degraded_after_ms")} />`}</div>
    <${FormEnd} saving=${saving} act=${isNew ? "Make the monitor" : "Save"} onCancel=${onCancel} />
    ${saving.conflict}
  </form>`;
}

function Form({ monitor, etag, onTheirs }) {
  const isNew = !monitor;
  const [draft, set] = useDraft(draftOf(monitor));
  const mine = monitorOf(draft);
  const send = async (ifMatch) => {
    const saved = await call(isNew ? "POST" : "PATCH", isNew ? "/monitors" : pathOf(monitor.id), { body: mine, ifMatch });
    toast(isNew ? "The monitor is made." : "The monitor is saved.");
    go(`/status/monitors/${encodeURIComponent(saved.id)}`);
  };
  const load = async () => {
    const answer = await get(pathOf(monitor.id));
    return { value: answer, etag: etagOf(answer) };
  };
  const saving = useGuardedSave({ etag, before: monitor ?? {}, mine, send, load, onTheirs });
  return html`<${Fields} draft=${draft} set=${set} saving=${saving} isNew=${isNew} onCancel=${() => go(isNew ? "/status" : `/status/monitors/${encodeURIComponent(monitor.id)}`)} />`;
}

export function Page({ params }) {
  const isNew = params.id === "new";
  const [version, setVersion] = useState(0);
  const [state, again] = useLoaded(async (abort) => {
    if (isNew) return { monitor: null };
    const answer = await get(pathOf(params.id), abort);
    return { monitor: answer, etag: etagOf(answer) };
  });
  const { data, failure } = state.value;
  const monitor = data?.monitor;
  const onTheirs = async () => {
    await again();
    setVersion((before) => before + 1);
  };
  const above = monitor ? { path: `/status/monitors/${encodeURIComponent(monitor.id)}`, label: monitor.name } : { path: "/status", label: "Monitors" };
  const head = html`<${Head} title=${isNew ? "New monitor" : "Edit the monitor"} above=${above} />`;
  if (!data) return html`${head}${failure ? html`<${Failure} failure=${failure} />` : html`<p class="quiet" role="status">Loading…</p>`}`;
  return html`${head}<${Form} key=${version} monitor=${monitor} etag=${data.etag} onTheirs=${onTheirs} />`;
}
