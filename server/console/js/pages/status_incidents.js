// The incidents of a status page, and the form that opens one.

import { useState } from "preact/hooks";
import { call, get } from "../api/client.js";
import { html } from "../kit/html.js";
import { useLoaded } from "../kit/loading.js";
import { go, href, inQuery } from "../kit/router.js";
import { toast } from "../kit/toasts.js";
import { Button } from "../parts/button.js";
import { Dialog } from "../parts/dialog.js";
import { Check, Field, QuerySelect, Select, TextArea } from "../parts/fields.js";
import { FormEnd, useDraft, useSave } from "../parts/form.js";
import { Icon } from "../parts/icon.js";
import { Loaded } from "../parts/loaded.js";
import { offsetOf, PAGE_ROWS, Steps, stepsQuery } from "../parts/pager.js";
import { Pick } from "../parts/pick.js";
import { Table } from "../parts/table.js";
import { Time } from "../parts/time.js";
import { IMPACT_KIND, INCIDENT_KIND } from "./status_words.js";

/** @import { StatusPage } from "telltale" */

export const IMPACTS = ["minor", "major", "critical"].map((value) => ({ value, label: value }));
export const STATUSES = ["investigating", "identified", "monitoring", "resolved"].map((value) => ({ value, label: value }));
const SHOWN = [{ value: "", label: "All incidents" }, { value: "open", label: "open" }, { value: "resolved", label: "resolved" }];

const incidentPath = (page, incident) => `/status/pages/${encodeURIComponent(page)}/incidents/${encodeURIComponent(incident)}`;

/** Returns the monitors of a page as items to pick. */
export const monitorItems = (page) => page.monitors.map((one) => ({ id: one.id, label: one.display_name ?? one.name, about: one.status }));

/** @param {Props<{page: StatusPage}>} props */
function OpenIncident({ page, onClose }) {
  const [draft, set] = useDraft({ title: "", impact: "minor", status: "investigating", message: "", monitors: [], notify: false });
  const saving = useSave(async () => {
    const { title, impact, status, message, monitors, notify } = draft;
    const made = await call("POST", `/status-pages/${encodeURIComponent(page.id)}/incidents`, { body: { title, impact, status, message, monitors, notify_subscribers: notify } });
    toast("The incident is open.");
    go(incidentPath(page.id, made.id));
  });
  const { failure } = saving;
  const choose = (name) => ({ id: `incident-${name}`, name, value: draft[name], failure, onChange: (event) => set({ [name]: event.currentTarget.value }) });
  const type = (name) => ({ id: `incident-${name}`, name, value: draft[name], failure, onInput: (event) => set({ [name]: event.currentTarget.value }) });
  return html`<${Dialog} title="Open an incident" onClose=${onClose}><form ref=${saving.form} onSubmit=${saving.submit} novalidate>
    <${Field} label="Title" maxlength="200" autocomplete="off" ...${type("title")} />
    <div class="pair"><${Select} label="Impact" options=${IMPACTS} ...${choose("impact")} /><${Select} label="Status" options=${STATUSES} ...${choose("status")} /></div>
    <${TextArea} label="Message" hint="What is known. Visitors read it" rows="4" maxlength="5000" ...${type("message")} />
    <${Pick} name="monitors" label="Monitors that it concerns" none="The page shows no monitors." hint="None: it concerns none in particular" items=${monitorItems(page)} chosen=${draft.monitors} failure=${failure} onChange=${(monitors) => set({ monitors })} />
    <${Check} label="Notify the subscribers" checked=${draft.notify} onChange=${(event) => set({ notify: event.currentTarget.checked })} />
    <${FormEnd} saving=${saving} act="Open the incident" onCancel=${onClose} /></form><//>`;
}

function load(page, abort) {
  const status = inQuery("status") ? `&status=${encodeURIComponent(inQuery("status"))}` : "";
  return get(`/status-pages/${encodeURIComponent(page.id)}/incidents?${stepsQuery()}${status}`, abort);
}

const columns = (page) => [
  { label: "Title", cell: (one) => html`<a class="name" href=${href(incidentPath(page.id, one.id))}>${one.title}</a>` },
  { label: "Impact", cell: (one) => html`<span class=${`tag ${IMPACT_KIND[one.impact]}`}>${one.impact}</span>` },
  { label: "Status", cell: (one) => html`<span class=${`tag ${INCIDENT_KIND[one.status]}`}>${one.status}</span>` },
  { label: "Opened", cell: (one) => html`<${Time} at=${one.created_at} />` },
  { label: "Updated", isEnd: true, cell: (one) => html`<${Time} at=${one.updated_at} />` },
];

/** @param {Props<{page: StatusPage}>} props */
export function PageIncidents({ page }) {
  const [isOpening, setOpening] = useState(false);
  const [state] = useLoaded((abort) => load(page, abort), 0, `${inQuery("status")} ${inQuery("offset")} ${page.active_incidents.map(({ id, updated_at: at }) => id + at)}`);
  const show = ({ incidents }) => html`<${Table} label="Incidents" columns=${columns(page)} rows=${incidents.slice(0, PAGE_ROWS)} keyOf=${({ id }) => id} /><${Steps} rows=${incidents} />`;
  return html`<section class="card"><header><h2>Incidents</h2><${QuerySelect} name="status" label="Which incidents" options=${SHOWN} /><${Button} kind="first" work=${() => setOpening(true)}><${Icon} name="megaphone" />Open an incident<//></header>
    <${Loaded} state=${state} show=${show} empty=${{ is: ({ incidents }) => incidents.length === 0 && offsetOf() === 0, text: inQuery("status") ? "No incident is like this." : "No incidents." }} />
    ${isOpening && html`<${OpenIncident} page=${page} onClose=${() => setOpening(false)} />`}</section>`;
}
