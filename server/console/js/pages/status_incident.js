// One incident: its updates, the form that posts another one, and what it concerns.

import { useEffect, useRef, useState } from "preact/hooks";
import { call, etagOf, get } from "../api/client.js";
import { instant } from "../kit/format.js";
import { html } from "../kit/html.js";
import { useLoaded } from "../kit/loading.js";
import { go } from "../kit/router.js";
import { toast } from "../kit/toasts.js";
import { Button } from "../parts/button.js";
import { Confirm } from "../parts/confirm.js";
import { Dialog } from "../parts/dialog.js";
import { Facts } from "../parts/facts.js";
import { Check, Field, Select, TextArea } from "../parts/fields.js";
import { FormEnd, useDraft, useGuardedSave, useSave } from "../parts/form.js";
import { Head } from "../parts/head.js";
import { Icon } from "../parts/icon.js";
import { Failure, Loaded } from "../parts/loaded.js";
import { Pick } from "../parts/pick.js";
import { Time } from "../parts/time.js";
import { addressOf } from "./status_page.js";
import { IMPACTS, monitorItems, STATUSES } from "./status_incidents.js";
import { IMPACT_KIND, INCIDENT_KIND } from "./status_words.js";

/** @import { Incident, StatusPage } from "telltale" */

const REFRESH_MS = 30_000;
const pathOf = (incident) => /** @type {const} */ (`/status-pages/${encodeURIComponent(incident.page_id)}/incidents/${encodeURIComponent(incident.id)}`);

/** @param {Props<{incident: Incident}>} props */
function PostUpdate({ incident, again }) {
  const isResolved = incident.status === "resolved";
  const [draft, set] = useDraft({ status: incident.status, message: "", notify: false });
  // Where somebody else changes the status meanwhile, the message that is being written stays.
  const known = useRef(incident.status);
  useEffect(() => {
    if (draft.status === known.current || isResolved) set({ status: incident.status });
    known.current = incident.status;
  }, [incident.status]);
  const saving = useSave(async () => {
    const body = { notify_subscribers: draft.notify, message: draft.message.trim() ? draft.message : null };
    if (draft.status !== incident.status) body.status = draft.status;
    await call("PATCH", pathOf(incident), { body });
    toast("The update is posted.");
    set({ message: "", notify: false });
    again();
  });
  return html`<section class="card"><header><${Icon} name="megaphone" /><h2>Post an update</h2></header><form class="stack" ref=${saving.form} onSubmit=${saving.submit} novalidate>
    ${!isResolved && html`<${Select} id="update-status" name="status" label="Status" options=${STATUSES} value=${draft.status} failure=${saving.failure} onChange=${(event) => set({ status: event.currentTarget.value })} />`}
    <${TextArea} id="update-message" name="message" label="Message" hint="Visitors read it" rows="4" maxlength="5000" value=${draft.message} failure=${saving.failure} onInput=${(event) => set({ message: event.currentTarget.value })} />
    <${Check} label="Notify the subscribers" checked=${draft.notify} onChange=${(event) => set({ notify: event.currentTarget.checked })} />
    <${FormEnd} saving=${saving} act=${draft.status === "resolved" && !isResolved ? "Resolve" : "Post"} /></form></section>`;
}

/** @param {Props<{incident: Incident, page: StatusPage}>} props */
function Edit({ incident, etag, page, again, onClose }) {
  const [draft, set] = useDraft({ title: incident.title, impact: incident.impact, monitors: incident.monitors });
  const send = async (ifMatch) => {
    await call("PATCH", pathOf(incident), { body: draft, ifMatch });
    toast("The incident is saved.");
    again();
    onClose();
  };
  const load = async () => {
    const answer = await get(pathOf(incident));
    return { value: answer, etag: etagOf(answer) };
  };
  const onTheirs = () => {
    again();
    onClose();
  };
  const saving = useGuardedSave({ etag, before: incident, mine: draft, send, load, onTheirs });
  return html`<${Dialog} title="Edit the incident" onClose=${onClose}><form ref=${saving.form} onSubmit=${saving.submit} novalidate>
    <${Field} id="edit-title" name="title" label="Title" maxlength="200" value=${draft.title} failure=${saving.failure} onInput=${(event) => set({ title: event.currentTarget.value })} />
    <${Select} id="edit-impact" name="impact" label="Impact" options=${IMPACTS} value=${draft.impact} failure=${saving.failure} onChange=${(event) => set({ impact: event.currentTarget.value })} />
    <${Pick} name="monitors" label="Monitors that it concerns" none="The page shows no monitors." items=${monitorItems(page)} chosen=${draft.monitors} failure=${saving.failure} onChange=${(monitors) => set({ monitors })} />
    <${FormEnd} saving=${saving} act="Save" onCancel=${onClose} /></form>${saving.conflict}<//>`;
}

/** @param {Props<{incident: Incident}>} props */
function Updates({ incident }) {
  return html`<section class="card"><header><${Icon} name="history" /><h2>Updates</h2></header><ol class="history">${[...incident.updates].reverse().map((one) => html`<li key=${one.at} class=${one.status}>
    <span><span class=${`tag ${INCIDENT_KIND[one.status]}`}>${one.status}</span></span>${one.message && html`<p class="said">${one.message}</p>`}
    <span class="quiet small"><${Time} at=${one.at} /> · ${instant(one.at)}</span></li>`)}</ol></section>`;
}

async function load({ id, incident }, abort) {
  const page = /** @type {const} */ (`/status-pages/${encodeURIComponent(id)}`);
  const [found, answer] = await Promise.all([get(page, abort), get(`${page}/incidents/${encodeURIComponent(incident)}`, abort)]);
  return { page: found, incident: answer, etag: etagOf(answer) };
}

/**
 * @param {Incident} incident
 * @param {StatusPage} page
 */
function factsOf(incident, page) {
  const names = new Map(page.monitors.map((one) => [one.id, one.display_name ?? one.name]));
  return [
    ["Status", html`<span class=${`tag ${INCIDENT_KIND[incident.status]}`}>${incident.status}</span>`],
    ["Impact", html`<span class=${`tag ${IMPACT_KIND[incident.impact]}`}>${incident.impact}</span>`],
    ["Monitors", incident.monitors.length === 0 ? "none in particular" : incident.monitors.map((id) => names.get(id) ?? id).join(", ")],
    ["Opened", html`<${Time} at=${incident.created_at} /> by ${incident.created_by}`],
    incident.resolved_at && ["Resolved", html`<${Time} at=${incident.resolved_at} />`],
    ["Public page", html`<a href=${addressOf(page)} target="_blank" rel="noopener">${page.name}</a>`],
  ];
}

export function Page({ params }) {
  const [open, setOpen] = useState("");
  const [state, again] = useLoaded((abort) => load(params, abort), REFRESH_MS);
  const { data, failure } = state.value;
  const above = { path: `/status/pages/${encodeURIComponent(params.id)}`, label: data?.page.name ?? "Status page" };
  if (!data) return html`<${Head} title="Incident" above=${above} />${failure ? html`<${Failure} failure=${failure} />` : html`<p class="quiet" role="status">Loading…</p>`}`;
  const { page, incident, etag } = data;
  const remove = async () => {
    await call("DELETE", pathOf(incident));
    toast("The incident is deleted.");
    go(`${above.path}?view=incidents`);
  };
  const show = () => html`<div class="sections"><section class="card"><${Facts} facts=${factsOf(incident, page)} /></section>
    <${PostUpdate} incident=${incident} again=${again} /><${Updates} incident=${incident} /></div>`;
  return html`<${Head} title=${incident.title} above=${above}><${Button} work=${() => setOpen("edit")}><${Icon} name="pencil" />Edit<//><${Button} kind="grave" work=${() => setOpen("delete")}><${Icon} name="trash-2" />Delete<//><//>
    <${Loaded} state=${state} show=${show} />
    ${open === "edit" && html`<${Edit} incident=${incident} etag=${etag} page=${page} again=${again} onClose=${() => setOpen("")} />`}
    ${open === "delete" && html`<${Confirm} title="Delete the incident?" act="Delete" work=${remove} onClose=${() => setOpen("")}>
      <p>The page shows <strong>${incident.title}</strong> and its ${incident.updates.length} updates no more, as if it never was. To end it, resolve it. It cannot be undone.</p><//>`}`;
}
