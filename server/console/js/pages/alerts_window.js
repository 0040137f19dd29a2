// Makes a maintenance window or changes one, also one that recurs.

import { useState } from "preact/hooks";
import { call, etagOf, get } from "../api/client.js";
import { instant } from "../kit/format.js";
import { html } from "../kit/html.js";
import { useLoaded } from "../kit/loading.js";
import { go } from "../kit/router.js";
import { toast } from "../kit/toasts.js";
import { currentZone, localOf, timeOf } from "../kit/zone.js";
import { Button } from "../parts/button.js";
import { Confirm } from "../parts/confirm.js";
import { Check, Field, TextArea } from "../parts/fields.js";
import { FormEnd, useDraft, useGuardedSave } from "../parts/form.js";
import { Head } from "../parts/head.js";
import { Icon } from "../parts/icon.js";
import { Failure } from "../parts/loaded.js";
import { Pick } from "../parts/pick.js";
import { ZoneField } from "../parts/zone_field.js";
import { EndWindow } from "./alerts_windows.js";
import { Recurrence } from "./alerts_recurrence.js";

/** @import { AlertRuleSummary, MaintenanceWindow } from "telltale" */

const HOUR_MS = 3_600_000;
const ABOVE = { path: "/alerts/windows", label: "Maintenance windows" };

/** @param {MaintenanceWindow | null} window */
function draftOf(window) {
  if (!window) {
    const begin = Math.ceil(Date.now() / HOUR_MS) * HOUR_MS;
    return { name: "", description: "", starts: localOf(begin), ends: localOf(begin + HOUR_MS), active: true, recurring: false, recurrence_rule: "", timezone: currentZone(), isAll: true, rule_ids: [], services: "" };
  }
  return {
    name: window.name, description: window.description ?? "", starts: localOf(Date.parse(window.starts_at)), ends: localOf(Date.parse(window.ends_at)),
    active: window.active, recurring: window.recurring, recurrence_rule: window.recurrence_rule ?? "", timezone: window.timezone,
    isAll: window.rule_ids === null, rule_ids: window.rule_ids ?? [], services: window.services.join("\n"),
  };
}

function windowOf(draft, before) {
  return {
    name: draft.name, description: draft.description || null, starts_at: timeOf(draft.starts, before?.starts_at), ends_at: timeOf(draft.ends, before?.ends_at),
    active: draft.active, recurring: draft.recurring, recurrence_rule: draft.recurring ? draft.recurrence_rule : null, timezone: draft.timezone || null,
    rule_ids: draft.isAll ? null : draft.rule_ids, services: draft.services.split("\n").map((one) => one.trim()).filter(Boolean),
  };
}

function Fields({ draft, set, saving, rules, act }) {
  const { failure } = saving;
  const text = (name, field = name) => ({ name: field, value: draft[name], failure, onInput: (event) => set({ [name]: event.currentTarget.value }) });
  return html`<form class="card stack narrow" ref=${saving.form} onSubmit=${saving.submit} novalidate>
    <${Field} id="window-name" label="Name" autocomplete="off" maxlength="200" ...${text("name")} />
    <${TextArea} id="window-description" label="Description" rows="2" maxlength="2000" ...${text("description")} />
    <div class="pair"><${Field} id="window-starts" label="From" type="datetime-local" hint=${`In ${currentZone()}`} ...${text("starts", "starts_at")} />
      <${Field} id="window-ends" label="To" type="datetime-local" ...${text("ends", "ends_at")} /></div>
    <${Check} label="Recurs" checked=${draft.recurring} onChange=${(event) => set({ recurring: event.currentTarget.checked, recurrence_rule: draft.recurrence_rule || "FREQ=WEEKLY" })} />
    ${draft.recurring && html`<${Recurrence} rule=${draft.recurrence_rule} failure=${failure} onChange=${(rule) => set({ recurrence_rule: rule })} />
      <${ZoneField} id="window-zone" name="timezone" label="On the wall clock of" failure=${failure} value=${draft.timezone} onChange=${(zone) => set({ timezone: zone })} />`}
    <${Check} label="Mute all rules" checked=${draft.isAll} onChange=${(event) => set({ isAll: event.currentTarget.checked })} />
    ${!draft.isAll && html`<${Pick} name="rule_ids" label="Rules that are muted" none="There are no alert rules yet." items=${rules.map(({ id, name, condition_text: about }) => ({ id, label: name, about }))}
      chosen=${draft.rule_ids} failure=${failure} hint="None: nothing is muted" onChange=${(ids) => set({ rule_ids: ids })} />`}
    <${TextArea} id="window-services" label="Affected services" hint="One a line, for the reader" rows="2" ...${text("services")} />
    <${Check} label="Switched on" checked=${draft.active} onChange=${(event) => set({ active: event.currentTarget.checked })} />
    <${FormEnd} saving=${saving} act=${act} onCancel=${() => go("/alerts/windows")} />
  </form>`;
}

/** @param {Props<{window: MaintenanceWindow | null, rules: AlertRuleSummary[]}>} props */
function Form({ window, etag, rules, onSaved, onTheirs }) {
  const [draft, set] = useDraft(draftOf(window));
  const path = window ? `/maintenance_windows/${encodeURIComponent(window.id)}` : "/maintenance_windows";
  const mine = windowOf(draft, window);
  const send = async (ifMatch) => {
    const { data } = await call(window ? "PATCH" : "POST", path, { body: mine, ifMatch });
    toast(window ? "The window is saved." : "The window is made.");
    onSaved(data);
  };
  const load = async () => {
    const answer = await get(path);
    return { value: answer.data, etag: etagOf(answer) };
  };
  const saving = useGuardedSave({ etag, before: window ?? {}, mine, send, load, onTheirs });
  return html`<${Fields} draft=${draft} set=${set} saving=${saving} rules=${rules} act=${window ? "Save" : "Make the window"} />${saving.conflict}`;
}

async function loadAll(id, abort) {
  const [rules, answer] = await Promise.all([get("/alert_rules?limit=1000", abort), id === "new" ? null : get(`/maintenance_windows/${encodeURIComponent(id)}`, abort)]);
  return { rules: rules.data, window: answer?.data ?? null, etag: answer && etagOf(answer) };
}

/** @param {Props<{window: MaintenanceWindow}>} props */
function Delete({ window, onClose }) {
  const work = async () => {
    await call("DELETE", `/maintenance_windows/${encodeURIComponent(window.id)}`);
    toast("The window is deleted.");
    go("/alerts/windows");
  };
  return html`<${Confirm} title="Delete the window?" act="Delete" work=${work} onClose=${onClose}><p><strong>${window.name}</strong> mutes nothing from then on. It cannot be undone.</p><//>`;
}

/** @typedef {{window: import("telltale").MaintenanceWindow, etag: string | null, version: number}} Changed */

export function Page({ params }) {
  const isNew = params.id === "new";
  const [open, setOpen] = useState("");
  const [changed, setChanged] = useState(/** @type {Changed | null} */ (null));
  const [state, again] = useLoaded((abort) => loadAll(params.id, abort));
  const { data, failure } = state.value;
  const { window, etag, rules, version = 0 } = { ...data, ...changed };
  const begin = (value, tag) => setChanged({ window: value, etag: tag, version: version + 1 });
  const reload = async () => {
    const answer = await get(`/maintenance_windows/${encodeURIComponent(params.id)}`);
    begin(answer.data, etagOf(answer));
  };
  const onSaved = (saved) => (isNew ? go(`/alerts/windows/${encodeURIComponent(saved.id)}`, { replace: true }) : reload());
  const head = html`<${Head} title=${isNew ? "New maintenance window" : (window?.name ?? "Maintenance window")} above=${ABOVE}>
    ${window?.currently_active && html`<${Button} work=${() => setOpen("end")}>End now<//>`}
    ${window && html`<${Button} kind="grave" work=${() => setOpen("delete")}><${Icon} name="trash-2" />Delete<//>`}<//>`;
  if (!data) return html`${head}${failure ? html`<${Failure} failure=${failure} />` : html`<p class="quiet" role="status">Loading…</p>`}`;
  return html`${head}${window && html`<p class="notice apart">${window.currently_active ? "It mutes alerts now." : window.next_starts_at ? `It begins next: ${instant(window.next_starts_at)}.` : "It does not begin again."} Made by ${window.created_by}.</p>`}
    <${Form} key=${version} window=${window} etag=${etag} rules=${rules} onSaved=${onSaved} onTheirs=${begin} />
    ${open === "end" && html`<${EndWindow} window=${window} onDone=${reload} onClose=${() => setOpen("")} />`}
    ${open === "delete" && html`<${Delete} window=${window} onClose=${() => setOpen("")} />`}`;
}
