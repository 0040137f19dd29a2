// Makes a channel or changes one: its configuration, a test, its signing secret.

import { useState } from "preact/hooks";
import { call, etagOf, get } from "../api/client.js";
import { amount } from "../kit/format.js";
import { html } from "../kit/html.js";
import { useLoaded } from "../kit/loading.js";
import { go } from "../kit/router.js";
import { toast } from "../kit/toasts.js";
import { Button } from "../parts/button.js";
import { Confirm } from "../parts/confirm.js";
import { Copyable } from "../parts/copy.js";
import { Dialog } from "../parts/dialog.js";
import { Facts } from "../parts/facts.js";
import { Check, Field, Select, TextArea } from "../parts/fields.js";
import { FormEnd, useDraft, useGuardedSave } from "../parts/form.js";
import { Head } from "../parts/head.js";
import { HeaderFields } from "../parts/header_fields.js";
import { Icon } from "../parts/icon.js";
import { Failure } from "../parts/loaded.js";
import { Time } from "../parts/time.js";
import { CHANNEL_TYPES, channelOf, draftOf, FIELD_LABELS } from "./alerts_channel_types.js";
import { TestChannel } from "./alerts_channel_test.js";

/** @import { Channel } from "telltale" */

const ABOVE = { path: "/alerts/channels", label: "Notification channels" };
const TYPES = Object.keys(CHANNEL_TYPES).map((value) => ({ value, label: value }));
const pathOf = (id) => /** @type {const} */ (`/channels/${encodeURIComponent(id)}`);

function ConfigField({ field, draft, set, failure }) {
  if (field === "headers") return html`<${HeaderFields} headers=${draft.headers} onChange=${(headers) => set({ headers })} field="config.headers" failure=${failure} />`;
  const common = { id: `channel-${field}`, name: `config.${field}`, value: draft[field], failure, autocomplete: "off", spellcheck: false, onInput: (event) => set({ [field]: event.currentTarget.value }) };
  if (field === "recipients") return html`<${TextArea} label="Recipients" hint="Email addresses, one a line" rows="3" ...${common} />`;
  const [label, hint] = field === "webhook_url" && draft.channel_type === "webhook" ? ["URL", ""] : FIELD_LABELS[field];
  return html`<${Field} label=${label} hint=${hint} ...${common} />`;
}

/** @param {Props<{channel: Channel | null}>} props */
function Form({ channel, etag, onSaved, onTheirs }) {
  const isNew = !channel;
  const path = channel ? pathOf(channel.id) : "/channels";
  const [draft, set] = useDraft(draftOf(channel));
  const mine = channelOf(draft, isNew);
  const send = async (ifMatch) => {
    const { data } = await call(isNew ? "POST" : "PATCH", path, { body: mine, ifMatch });
    toast(isNew ? "The channel is made." : "The channel is saved.");
    onSaved(data, isNew && !draft.signing_secret);
  };
  const load = async () => {
    const answer = await get(path);
    return { value: answer.data, etag: etagOf(answer) };
  };
  const saving = useGuardedSave({ etag, before: channel ?? {}, mine, send, load, onTheirs });
  const { failure } = saving;
  const fields = CHANNEL_TYPES[draft.channel_type]?.fields ?? [];
  return html`<form class="card stack narrow" ref=${saving.form} onSubmit=${saving.submit} novalidate>
    ${isNew && html`<${Select} id="channel-type" name="channel_type" label="Type" options=${TYPES} value=${draft.channel_type} failure=${failure} hint=${CHANNEL_TYPES[draft.channel_type].about}
      onChange=${(event) => set({ channel_type: event.currentTarget.value })} />`}
    <${Field} id="channel-name" name="name" label="Name" autocomplete="off" maxlength="200" value=${draft.name} failure=${failure} onInput=${(event) => set({ name: event.currentTarget.value })} />
    ${fields.filter((field) => isNew || field !== "signing_secret").map((field) => html`<${ConfigField} key=${field} field=${field} draft=${draft} set=${set} failure=${failure} />`)}
    <${Check} label="Enabled" hint="a channel that is not gets no notifications" checked=${draft.enabled} onChange=${(event) => set({ enabled: event.currentTarget.checked })} />
    <${FormEnd} saving=${saving} act=${isNew ? "Make the channel" : "Save"} onCancel=${() => go("/alerts/channels")} />
    ${saving.conflict}
  </form>`;
}

/** The secret, which the server shows once. */
function Secret({ secret, onClose }) {
  return html`<${Dialog} title="The signing secret" onClose=${onClose}><div class="stack">
    <p>It is shown only now. Receivers check the signatures of requests with it.</p><${Copyable} text=${secret} label="the signing secret" />
    <div class="acts"><${Button} kind="first" work=${onClose}>Done<//></div></div><//>`;
}

/** @param {Props<{channel: Channel}>} props */
function Rotate({ channel, onRotated, onClose }) {
  const work = async () => {
    const { data } = await call("POST", `${pathOf(channel.id)}/rotate_secret`);
    onRotated(data);
  };
  return html`<${Confirm} title="Replace the signing secret?" act="Replace it" work=${work} onClose=${onClose}>
    <p>Requests of <strong>${channel.name}</strong> have signatures with the new secret from now on, and with the old one too for a day.</p><//>`;
}

/** @param {Props<{channel: Channel}>} props */
function Delete({ channel, onClose }) {
  const work = async () => {
    const { data } = await call("DELETE", pathOf(channel.id));
    toast(`The channel is deleted, and taken out of ${data.removed_from.length} rules and policies.`);
    go("/alerts/channels");
  };
  return html`<${Confirm} title="Delete the channel?" act="Delete" work=${work} onClose=${onClose}>
    <p><strong>${channel.name}</strong> is taken out of every escalation policy and alert rule. It cannot be undone.</p><//>`;
}

/** @param {Channel} channel */
const factsOf = (channel) => [
  ["Delivered", amount(channel.success_count)],
  ["Failed attempts", amount(channel.failure_count)],
  ["Last used", html`<${Time} at=${channel.last_used_at} />`],
  ["Last tested", html`<${Time} at=${channel.last_tested_at} />`],
  ["State", channel.verified ? html`<span class="tag good">verified</span>` : html`<span class="tag warn">not verified</span> <span class="quiet small">no test succeeded since it was changed</span>`],
  channel.config.signing_secret && ["Signing secret", html`<span class="mono">${channel.config.signing_secret}</span>`],
];

export function Page({ params }) {
  const isNew = params.id === "new";
  const [open, setOpen] = useState(/** @type {{secret?: string, id?: string, rotate?: boolean, delete?: boolean}} */ ({}));
  const [version, setVersion] = useState(0);
  const [state, again] = useLoaded(async (abort) => {
    if (isNew) return { channel: null };
    const answer = await get(pathOf(params.id), abort);
    return { channel: answer.data, etag: etagOf(answer) };
  });
  const { data, failure } = state.value;
  const channel = data?.channel;
  const reload = async () => {
    await again();
    setVersion((before) => before + 1);
  };
  const leave = (id) => go(`/alerts/channels/${encodeURIComponent(id)}`, { replace: true });
  const onSaved = (saved, isGenerated) => {
    const secret = saved.config.signing_secret;
    if (isNew && isGenerated && secret) return setOpen({ secret, id: saved.id });
    return isNew ? leave(saved.id) : reload();
  };
  const onRotated = (saved) => {
    setOpen({ secret: saved.config.signing_secret });
    reload();
  };
  const head = html`<${Head} title=${isNew ? "New channel" : (channel?.name ?? "Channel")} above=${ABOVE}>
    ${channel && html`<${TestChannel} channel=${channel} onDone=${again} />
      ${channel.channel_type === "webhook" && html`<${Button} work=${() => setOpen({ rotate: true })}><${Icon} name="rotate-ccw" />Rotate the secret<//>`}
      <${Button} kind="grave" work=${() => setOpen({ delete: true })}><${Icon} name="trash-2" />Delete<//>`}<//>`;
  if (!data) return html`${head}${failure ? html`<${Failure} failure=${failure} />` : html`<p class="quiet" role="status">Loading…</p>`}`;
  return html`${head}<div class="sections">
    ${channel && html`<section class="card narrow"><header><${Icon} name=${CHANNEL_TYPES[channel.channel_type]?.icon ?? "send"} /><h2>${CHANNEL_TYPES[channel.channel_type]?.about ?? channel.channel_type}</h2>
      <span class="tag">${channel.channel_type}</span></header><${Facts} facts=${factsOf(channel)} /></section>`}
    <${Form} key=${version} channel=${channel} etag=${data.etag} onSaved=${onSaved} onTheirs=${reload} /></div>
    ${open.secret && html`<${Secret} secret=${open.secret} onClose=${() => (open.id ? leave(open.id) : setOpen({}))} />`}
    ${open.rotate && html`<${Rotate} channel=${channel} onRotated=${onRotated} onClose=${() => setOpen((now) => (now.secret ? now : {}))} />`}
    ${open.delete && html`<${Delete} channel=${channel} onClose=${() => setOpen({})} />`}`;
}
