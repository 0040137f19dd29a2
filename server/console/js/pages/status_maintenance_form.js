// The form of a scheduled maintenance.

import { useState } from "preact/hooks";
import { call, get } from "../api/client.js";
import { html } from "../kit/html.js";
import { useLoaded } from "../kit/loading.js";
import { toast } from "../kit/toasts.js";
import { currentZone, localOf, timeOf } from "../kit/zone.js";
import { Dialog } from "../parts/dialog.js";
import { Check, Field, TextArea } from "../parts/fields.js";
import { FormEnd, useDraft, useGuardedSave } from "../parts/form.js";
import { Loaded } from "../parts/loaded.js";
import { Pick } from "../parts/pick.js";
import { monitorItems } from "./status_incidents.js";

/** @import { ScheduledMaintenance } from "telltale" */

const HOUR_MS = 3_600_000;

/** @param {ScheduledMaintenance | undefined} one */
function draftOf(one) {
  const begin = Math.ceil(Date.now() / HOUR_MS) * HOUR_MS;
  if (!one) return { title: "", description: "", starts: localOf(begin), ends: localOf(begin + HOUR_MS), monitors: [], mute: false, isAll: true, rules: [], notify: false };
  return {
    title: one.title, description: one.description ?? "", starts: localOf(Date.parse(one.starts_at)), ends: localOf(Date.parse(one.ends_at)), monitors: one.monitors,
    mute: one.mute_alerts, isAll: one.mute_rule_ids === null, rules: one.mute_rule_ids ?? [], notify: one.notify_subscribers,
  };
}

function bodyOf(draft, before) {
  return {
    title: draft.title, description: draft.description.trim() ? draft.description : null, monitors: draft.monitors, starts_at: timeOf(draft.starts, before?.starts_at), ends_at: timeOf(draft.ends, before?.ends_at),
    mute_alerts: draft.mute, mute_rule_ids: draft.mute && !draft.isAll ? draft.rules : null, notify_subscribers: draft.notify,
  };
}

function Rules({ draft, set, failure }) {
  const [state] = useLoaded((abort) => get("/alert_rules?limit=1000", abort));
  const show = ({ data }) => html`<${Pick} name="mute_rule_ids" label="Rules that are muted" none="There are no alert rules." items=${data.map(({ id, name, condition_text: about }) => ({ id, label: name, about }))} chosen=${draft.rules} failure=${failure}
    onChange=${(rules) => set({ rules })} />`;
  return html`<${Loaded} state=${state} show=${show} />`;
}

function Form({ page, before, etag, path, whole, onTheirs, onDone, onClose }) {
  const [draft, set] = useDraft(draftOf(before));
  const mine = bodyOf(draft, before);
  const send = async (ifMatch) => {
    await call(before ? "PATCH" : "POST", path, { body: mine, ifMatch });
    toast(before ? "The maintenance is saved." : "The maintenance is scheduled.");
    onDone();
    onClose();
  };
  const load = async () => {
    const { maintenance, etag: tag } = await whole(before);
    return { value: maintenance, etag: tag };
  };
  const saving = useGuardedSave({ etag, before: before ?? {}, mine, send, load, onTheirs });
  const { failure } = saving;
  const text = (name, field = name) => ({ id: `maintenance-${name}`, name: field, value: draft[name], failure, onInput: (event) => set({ [name]: event.currentTarget.value }) });
  return html`<form ref=${saving.form} onSubmit=${saving.submit} novalidate>
    <${Field} label="Title" maxlength="200" autocomplete="off" ...${text("title")} />
    <${TextArea} label="Description" hint="Visitors read it" rows="2" maxlength="2000" ...${text("description")} />
    <div class="pair"><${Field} label="From" type="datetime-local" hint=${`In ${currentZone()}`} ...${text("starts", "starts_at")} /><${Field} label="To" type="datetime-local" hint="At most 30 days later" ...${text("ends", "ends_at")} /></div>
    <${Pick} name="monitors" label="Monitors that it covers" none="The page shows no monitors." hint="They are under maintenance, and the time does not count" items=${monitorItems(page)} chosen=${draft.monitors} failure=${failure} onChange=${(monitors) => set({ monitors })} />
    <${Check} label="Mute alerts meanwhile" checked=${draft.mute} onChange=${(event) => set({ mute: event.currentTarget.checked })} />
    ${draft.mute && html`<${Check} label="Those of all rules" checked=${draft.isAll} onChange=${(event) => set({ isAll: event.currentTarget.checked })} />`}
    ${draft.mute && !draft.isAll && html`<${Rules} draft=${draft} set=${set} failure=${failure} />`}
    <${Check} label="Notify the subscribers" checked=${draft.notify} onChange=${(event) => set({ notify: event.currentTarget.checked })} />
    <${FormEnd} saving=${saving} act=${before ? "Save" : "Schedule"} onCancel=${onClose} />
  </form>${saving.conflict}`;
}

/** `edited`: `{maintenance, etag}`, or nothing for a new one; `whole` loads it again. */
export function MaintenanceForm({ page, edited, whole, path, onDone, onClose }) {
  const [theirs, setTheirs] = useState(/** @type {{maintenance: import("telltale").ScheduledMaintenance, etag: string} | null} */ (null));
  const { maintenance, etag } = theirs ?? edited ?? {};
  return html`<${Dialog} title=${edited ? "Edit the maintenance" : "Schedule maintenance"} onClose=${onClose}>
    <${Form} key=${etag ?? "new"} page=${page} before=${maintenance} etag=${etag} path=${path} whole=${whole} onTheirs=${(value, tag) => setTheirs({ maintenance: value, etag: tag })} onDone=${onDone} onClose=${onClose} />
  <//>`;
}
