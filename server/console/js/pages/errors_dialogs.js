// The dialogs that change errors: ignore, assign, resolve with a note.

import { useState } from "preact/hooks";
import { caller } from "../api/session.js";
import { html } from "../kit/html.js";
import { Button } from "../parts/button.js";
import { Field, Select } from "../parts/fields.js";
import { FormDialog, Wrong } from "../parts/form_dialog.js";

const NOTE_CHARS_MAX = 1_000;
const DURATIONS = [
  { value: "1h", label: "1 hour" },
  { value: "24h", label: "24 hours" },
  { value: "7d", label: "7 days" },
  { value: "30d", label: "30 days" },
  { value: "forever", label: "Until somebody changes it" },
  { value: "other", label: "Another time…" },
];

function Note({ name, label }) {
  return html`<div class="field"><label for=${`change-${name}`}>${label}</label>
    <textarea id=${`change-${name}`} name=${name} maxlength=${NOTE_CHARS_MAX} rows="3"></textarea></div>`;
}

const textOf = (data, name) => String(data.get(name) ?? "").trim();

/** `work({duration, reason})`. */
export function IgnoreDialog({ what, work, onClose }) {
  const [duration, setDuration] = useState("24h");
  const send = (data) => {
    const length = duration === "other" ? textOf(data, "length") : duration;
    if (!length) throw new Wrong("duration", "Enter a length of time");
    const reason = textOf(data, "reason");
    return work({ duration: length, ...(reason && { reason }) });
  };
  return html`<${FormDialog} title="Ignore" act="Ignore" fields=${["duration"]} work=${send} onClose=${onClose}>${(failure) => html`
    <p>${what} will not be in the list of what is unresolved, however often it occurs, until the time is over.</p>
    <${Select} id="change-duration" name="duration" label="For" options=${DURATIONS} value=${duration} onChange=${(event) => setDuration(event.currentTarget.value)} />
    ${duration === "other" ? html`<${Field} id="change-length" name="length" label="Length of time" hint="Such as 30m, 36h, 7d or 2w" autocomplete="off"
      failure=${failure?.field === "duration" ? { field: "length", message: failure.message } : null} />`
      : failure?.field === "duration" && html`<p class="wrong">${failure.message}</p>`}
    <${Note} name="reason" label="Why (optional)" />`}<//>`;
}

/** `work({note})`. */
export function ResolveDialog({ what, work, onClose }) {
  const send = (data) => {
    const note = textOf(data, "note");
    return work(note ? { note } : {});
  };
  return html`<${FormDialog} title="Resolve with a note" act="Resolve" work=${send} onClose=${onClose}>${() => html`
    <p>${what} becomes unresolved again when it occurs again.</p>
    <${Note} name="note" label="Note" />`}<//>`;
}

/** `work({user_id})`. */
export function AssignDialog({ what, current = null, work, onClose }) {
  const [user, setUser] = useState(current ?? "");
  const own = caller.value?.user;
  const send = () => work({ user_id: user.trim() || null });
  return html`<${FormDialog} title="Assign" act=${user.trim() ? "Assign" : "Remove the assignee"} fields=${["user_id"]} work=${send} onClose=${onClose}>${(failure) => html`
    <p>${what}</p>
    <${Field} id="change-user" name="user_id" label="User" hint="The email address of somebody; empty: nobody" value=${user} failure=${failure}
      onInput=${(event) => setUser(event.currentTarget.value)} autocomplete="off" maxlength=${NOTE_CHARS_MAX} />
    ${own && user !== own && html`<div><${Button} kind="small" work=${() => setUser(own)}>Me (${own})<//></div>`}`}<//>`;
}
