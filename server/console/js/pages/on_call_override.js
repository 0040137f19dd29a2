// Replaces whoever is on call for some time, or takes such a replacement away.

import { call } from "../api/client.js";
import { html } from "../kit/html.js";
import { toast } from "../kit/toasts.js";
import { currentZone, fromLocal, localOf, timeOf } from "../kit/zone.js";
import { Confirm } from "../parts/confirm.js";
import { Dialog } from "../parts/dialog.js";
import { Field } from "../parts/fields.js";
import { FormEnd, useDraft, useSave } from "../parts/form.js";
import { rangeText } from "./on_call_calendar.js";

/** @import { OnCallOverride, OnCallOverrideInput, OnCallSchedule, OnCallShift } from "telltale" */

const pathOf = (schedule) => /** @type {const} */ (`/on_call_schedules/${encodeURIComponent(schedule.id)}/overrides`);

/**
 * Returns who is on call in a stretch of time, each once.
 * @param {OnCallShift[]} shifts
 * @param {number} from
 * @param {number} to
 */
function plannedIn(shifts, from, to) {
  const within = shifts.filter((one) => (one.ends_at === null || Date.parse(one.ends_at) > from) && (one.starts_at === null || Date.parse(one.starts_at) < to));
  return [...new Set(within.map((one) => one.user ?? "nobody"))];
}

/** @param {Props<{schedule: OnCallSchedule, shifts: OnCallShift[]}>} props */
export function NewOverride({ schedule, shifts, from, to, onDone, onClose }) {
  const [draft, set] = useDraft({ user: "", starts: localOf(from), ends: localOf(to) });
  const saving = useSave(async () => {
    const [starts, ends] = [timeOf(draft.starts), timeOf(draft.ends)];
    // Without a time the server says which one it needs.
    const body = /** @type {OnCallOverrideInput} */ ({ user: draft.user.trim(), starts_at: starts, ends_at: ends });
    await call("POST", pathOf(schedule), { body });
    toast(`${body.user} is on call instead.`);
    onDone();
    onClose();
  });
  const planned = plannedIn(shifts, fromLocal(draft.starts), fromLocal(draft.ends));
  const text = (name, field) => ({ name: field, value: draft[name], failure: saving.failure, onInput: (event) => set({ [name]: event.currentTarget.value }) });
  return html`<${Dialog} title="Override" onClose=${onClose}>
    <form ref=${saving.form} onSubmit=${saving.submit} novalidate>
      <${Field} id="override-user" label="On call instead" hint="An email address, not necessarily of a member" list="override-users" autocomplete="off" autofocus ...${text("user", "user")} />
      <datalist id="override-users">${schedule.members.map((user) => html`<option key=${user} value=${user} />`)}</datalist>
      <div class="choices" role="group" aria-label="Members">${schedule.members.slice(0, 8).map((user) => html`<button key=${user} type="button" class="button small" aria-pressed=${user === draft.user ? "true" : "false"}
        onClick=${() => set({ user })}>${user}</button>`)}</div>
      <div class="pair"><${Field} id="override-starts" label="From" type="datetime-local" hint=${`In ${currentZone()}`} ...${text("starts", "starts_at")} />
        <${Field} id="override-ends" label="To" type="datetime-local" ...${text("ends", "ends_at")} /></div>
      ${planned.length > 0 && html`<p class="quiet small">Instead of ${planned.join(", ")}.</p>`}
      <${FormEnd} saving=${saving} act="Override" onCancel=${onClose} />
    </form>
  <//>`;
}

/** @param {Props<{schedule: OnCallSchedule, override: OnCallOverride}>} props */
export function RemoveOverride({ schedule, override, onDone, onClose }) {
  const work = async () => {
    await call("DELETE", `${pathOf(schedule)}/${encodeURIComponent(override.id)}`);
    toast("The override is removed.");
    onDone();
  };
  return html`<${Confirm} title="Remove the override?" act="Remove" work=${work} onClose=${onClose}>
    <p><strong>${override.user}</strong>, ${rangeText(override.starts_at, override.ends_at)}. Whoever is planned is on call again.</p><//>`;
}
