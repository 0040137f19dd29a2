// Makes a schedule or changes one: its members, and whose turn it is when.

import { useState } from "preact/hooks";
import { call, etagOf, get } from "../api/client.js";
import { html } from "../kit/html.js";
import { useLoaded } from "../kit/loading.js";
import { go } from "../kit/router.js";
import { toast } from "../kit/toasts.js";
import { currentZone, localOf, timeOf } from "../kit/zone.js";
import { Button } from "../parts/button.js";
import { Confirm } from "../parts/confirm.js";
import { Check, concerns, Field, Select } from "../parts/fields.js";
import { FormEnd, useDraft, useGuardedSave } from "../parts/form.js";
import { Head } from "../parts/head.js";
import { Icon } from "../parts/icon.js";
import { Failure } from "../parts/loaded.js";
import { ZoneField } from "../parts/zone_field.js";

/** @import { OnCallSchedule } from "telltale" */

const DAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
const TYPES = [{ value: "custom", label: "Members take turns (custom)" }, { value: "weekly", label: "A person for each day of the week (weekly)" }];
const ROTATIONS = [{ value: "weekly", label: "every week" }, { value: "daily", label: "every day" }];
const pathOf = (id) => /** @type {const} */ (`/on_call_schedules/${encodeURIComponent(id)}`);

/** @param {OnCallSchedule | null} schedule */
function draftOf(schedule) {
  if (!schedule) return { name: "", schedule_type: "custom", timezone: currentZone(), enabled: true, members: [""], rotation_type: "weekly", start: `${localOf(Date.now()).slice(0, 10)}T09:00`, days: {} };
  const days = Object.fromEntries(DAYS.map((name) => [name, schedule.weekly_schedule?.[name]?.user ?? ""]));
  const { name, schedule_type: type, timezone, enabled, members, rotation_type: rotation } = schedule;
  return { name, schedule_type: type, timezone, enabled, members, rotation_type: rotation ?? "weekly", start: schedule.rotation_start ? localOf(Date.parse(schedule.rotation_start)) : "", days };
}

function scheduleOf(draft, before) {
  const { name, timezone, enabled, schedule_type: type } = draft;
  const members = draft.members.map((one) => one.trim()).filter(Boolean);
  const common = { name, timezone, enabled, members, ...(before ? {} : { schedule_type: type }) };
  if (type === "custom") return { ...common, rotation_type: draft.rotation_type, rotation_start: timeOf(draft.start, before?.rotation_start) };
  return { ...common, weekly_schedule: Object.fromEntries(DAYS.map((day) => [day, draft.days[day] ? { user: draft.days[day] } : null])) };
}

function Members({ draft, set, failure }) {
  const isWrong = concerns(failure, "members");
  const change = (index, value) => {
    const days = Object.fromEntries(Object.entries(draft.days).map(([day, user]) => [day, user && user === draft.members[index] ? value : user]));
    set({ members: draft.members.map((one, i) => (i === index ? value : one)), days });
  };
  const move = (index, by) => {
    const members = [...draft.members];
    [members[index], members[index + by]] = [members[index + by], members[index]];
    set({ members });
  };
  return html`<fieldset class="field"><legend class="legend">Members${draft.schedule_type === "custom" ? ", in the order of their turns" : ""}</legend>
    <ol class="steps-list">${draft.members.map((member, index) => html`<li key=${index} class="member"><input aria-label=${`Member ${index + 1}`} type="email" value=${member} placeholder="name@example.com" autocomplete="off"
        aria-invalid=${failure?.field === `members[${index}]` || (isWrong && failure.field === "members" && index === 0) ? "true" : null} onInput=${(event) => change(index, event.currentTarget.value)} />
      <${Button} kind="plain" label=${`Move member ${index + 1} up`} work=${() => index > 0 && move(index, -1)}><${Icon} name="arrow-up" /><//>
      <${Button} kind="plain" label=${`Move member ${index + 1} down`} work=${() => index + 1 < draft.members.length && move(index, 1)}><${Icon} name="arrow-down" /><//>
      <${Button} kind="plain" label=${`Remove member ${index + 1}`} work=${() => set({ members: draft.members.filter((_, i) => i !== index) })}><${Icon} name="x" /><//></li>`)}</ol>
    ${isWrong && html`<p class="wrong">${failure.message}</p>`}
    <p><${Button} work=${() => set({ members: [...draft.members, ""] })}><${Icon} name="plus" />Member<//></p></fieldset>`;
}

function Days({ draft, set, failure }) {
  const members = draft.members.map((one) => one.trim()).filter(Boolean);
  const options = (chosen) => [{ value: "", label: "nobody" }, ...[...new Set([...members, chosen].filter(Boolean))].map((user) => ({ value: user, label: user }))];
  return html`<fieldset class="field"><legend class="legend">On call, from midnight to midnight</legend><div class="days">${DAYS.map((day) => html`<${Select} key=${day} id=${`day-${day}`} name=${`weekly_schedule.${day}`}
    label=${day.charAt(0).toUpperCase() + day.slice(1)} options=${options(draft.days[day])} value=${draft.days[day] ?? ""} failure=${failure} onChange=${(event) => set({ days: { ...draft.days, [day]: event.currentTarget.value } })} />`)}</div></fieldset>`;
}

function Form({ schedule, etag, onTheirs }) {
  const [draft, set] = useDraft(draftOf(schedule));
  const mine = scheduleOf(draft, schedule);
  const send = async (ifMatch) => {
    const { data } = await call(schedule ? "PATCH" : "POST", schedule ? pathOf(schedule.id) : "/on_call_schedules", { body: mine, ifMatch });
    toast(schedule ? "The schedule is saved." : "The schedule is made.");
    go(`/on-call/${encodeURIComponent(data.id)}`);
  };
  const load = async () => {
    const answer = await get(pathOf(schedule.id));
    return { value: answer.data, etag: etagOf(answer) };
  };
  const saving = useGuardedSave({ etag, before: schedule ?? {}, mine, send, load, onTheirs });
  const { failure } = saving;
  const text = (name, field = name) => ({ name: field, value: draft[name], failure, onInput: (event) => set({ [name]: event.currentTarget.value }) });
  return html`<form class="card stack narrow" ref=${saving.form} onSubmit=${saving.submit} novalidate>
    <${Field} id="schedule-name" label="Name" autocomplete="off" maxlength="200" ...${text("name")} />
    ${!schedule && html`<${Select} id="schedule-type" name="schedule_type" label="Turns" options=${TYPES} value=${draft.schedule_type} failure=${failure} onChange=${(event) => set({ schedule_type: event.currentTarget.value })} />`}
    <${ZoneField} id="schedule-zone" name="timezone" label="Time zone" value=${draft.timezone} failure=${failure} onChange=${(timezone) => set({ timezone })} />
    <${Members} draft=${draft} set=${set} failure=${failure} />
    ${draft.schedule_type === "custom" ? html`<div class="pair"><${Select} id="schedule-rotation" name="rotation_type" label="The turn changes" options=${ROTATIONS} value=${draft.rotation_type} failure=${failure} onChange=${(event) => set({ rotation_type: event.currentTarget.value })} />
      <${Field} id="schedule-start" label="The first turn begins" type="datetime-local" hint=${`In ${currentZone()}; turns change at this time of day in ${draft.timezone}`} ...${text("start", "rotation_start")} /></div>`
      : html`<${Days} draft=${draft} set=${set} failure=${failure} />`}
    <${Check} label="Enabled" hint="nobody is notified by a schedule that is not" checked=${draft.enabled} onChange=${(event) => set({ enabled: event.currentTarget.checked })} />
    <${FormEnd} saving=${saving} act=${schedule ? "Save" : "Make the schedule"} onCancel=${() => go(schedule ? `/on-call/${encodeURIComponent(schedule.id)}` : "/on-call")} />
    ${saving.conflict}
  </form>`;
}

/** @param {Props<{schedule: OnCallSchedule}>} props */
function Delete({ schedule, onClose }) {
  const work = async () => {
    const { data } = await call("DELETE", pathOf(schedule.id));
    toast(`The schedule is deleted, and taken out of ${data.removed_from.length} rules.`);
    go("/on-call");
  };
  return html`<${Confirm} title="Delete the schedule?" act="Delete" work=${work} onClose=${onClose}>
    <p><strong>${schedule.name}</strong> is deleted with its ${schedule.overrides.length} overrides, and taken out of every alert rule. It cannot be undone.</p><//>`;
}

export function Page({ params }) {
  const isNew = params.id === "new";
  const [isDeleting, setDeleting] = useState(false);
  const [version, setVersion] = useState(0);
  const [state, again] = useLoaded(async (abort) => {
    if (isNew) return { schedule: null };
    const answer = await get(pathOf(params.id), abort);
    return { schedule: answer.data, etag: etagOf(answer) };
  });
  const { data, failure } = state.value;
  const schedule = data?.schedule;
  const onTheirs = async () => {
    await again();
    setVersion((before) => before + 1);
  };
  const above = schedule ? { path: `/on-call/${encodeURIComponent(schedule.id)}`, label: schedule.name } : { path: "/on-call", label: "On-call" };
  const head = html`<${Head} title=${isNew ? "New schedule" : "Edit the schedule"} above=${above}>
    ${schedule && html`<${Button} kind="grave" work=${() => setDeleting(true)}><${Icon} name="trash-2" />Delete<//>`}<//>`;
  if (!data) return html`${head}${failure ? html`<${Failure} failure=${failure} />` : html`<p class="quiet" role="status">Loading…</p>`}`;
  return html`${head}<${Form} key=${version} schedule=${schedule} etag=${data.etag} onTheirs=${onTheirs} />
    ${isDeleting && html`<${Delete} schedule=${schedule} onClose=${() => setDeleting(false)} />`}`;
}
