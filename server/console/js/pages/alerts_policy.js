// Makes an escalation policy or changes one, with its ladder beside it.

import { useState } from "preact/hooks";
import { call, etagOf, get } from "../api/client.js";
import { html } from "../kit/html.js";
import { useLoaded } from "../kit/loading.js";
import { go } from "../kit/router.js";
import { toast } from "../kit/toasts.js";
import { Button } from "../parts/button.js";
import { Confirm } from "../parts/confirm.js";
import { Check, concerns, Field, TextArea } from "../parts/fields.js";
import { FormEnd, useDraft, useGuardedSave } from "../parts/form.js";
import { Head } from "../parts/head.js";
import { Icon } from "../parts/icon.js";
import { Failure } from "../parts/loaded.js";
import { Ladder } from "./alerts_ladder.js";

/** @import { ChannelSummary, EscalationPolicy } from "telltale" */

const ABOVE = { path: "/alerts/policies", label: "Escalation policies" };
const pathOf = (id) => /** @type {const} */ (`/escalation_policies/${encodeURIComponent(id)}`);
const numberOf = (text) => (text === "" ? null : Number(text));

/**
 * @param {EscalationPolicy | null} policy
 * @param {ChannelSummary[]} channels
 */
function draftOf(policy, channels) {
  if (!policy) return { name: "", description: "", enabled: true, steps: [{ channel_id: channels[0]?.id ?? "", delay: "0" }], repeat: false, after: "30", most: "3" };
  return {
    name: policy.name, description: policy.description ?? "", enabled: policy.enabled,
    steps: policy.steps.map((step) => ({ channel_id: step.channel_id, delay: String(step.delay_minutes) })),
    repeat: policy.repeat, after: String(policy.repeat_after_minutes ?? ""), most: String(policy.max_repeats ?? ""),
  };
}

function policyOf(draft) {
  const steps = draft.steps.map(({ channel_id: id, delay }) => ({ channel_id: id, delay_minutes: numberOf(delay) ?? 0 }));
  const repeated = draft.repeat ? { repeat_after_minutes: numberOf(draft.after), max_repeats: numberOf(draft.most) } : { repeat_after_minutes: null, max_repeats: null };
  return { name: draft.name, description: draft.description || null, enabled: draft.enabled, steps, repeat: draft.repeat, ...repeated };
}

function Step({ index, step, channels, failure, onChange, onRemove }) {
  const isWrong = (field) => (concerns(failure, `steps[${index}].${field}`) || failure?.field === `steps[${index}]` ? "true" : null);
  const isMissing = step.channel_id && !channels.some(({ id }) => id === step.channel_id);
  return html`<li class="step"><label class="unseen" for=${`step-delay-${index}`}>Step ${index + 1}: minutes after the start</label>
      <input id=${`step-delay-${index}`} type="number" min="0" max="1440" value=${step.delay} aria-invalid=${isWrong("delay_minutes")} onInput=${(event) => onChange({ ...step, delay: event.currentTarget.value })} />
      <span>min</span>
      <label class="unseen" for=${`step-channel-${index}`}>Step ${index + 1}: channel</label>
      <select id=${`step-channel-${index}`} value=${step.channel_id} aria-invalid=${isWrong("channel_id")} onChange=${(event) => onChange({ ...step, channel_id: event.currentTarget.value })}>
        ${!step.channel_id && html`<option value="">choose a channel</option>`}${isMissing && html`<option value=${step.channel_id}>${step.channel_id}</option>`}
        ${channels.map(({ id, name, enabled }) => html`<option key=${id} value=${id}>${enabled ? name : `${name} (disabled)`}</option>`)}</select>
      <${Button} kind="plain" label=${`Remove step ${index + 1}`} work=${onRemove}><${Icon} name="x" /><//></li>`;
}

function Steps({ draft, set, channels, failure }) {
  const add = () => {
    const last = draft.steps[draft.steps.length - 1];
    set({ steps: [...draft.steps, { channel_id: channels[0]?.id ?? "", delay: String(last ? Number(last.delay) + 10 : 0) }] });
  };
  return html`<fieldset class="field"><legend class="legend">Steps: minutes after the start, and who is notified</legend>
    <ol class="steps-list">${draft.steps.map((step, index) => html`<${Step} key=${index} index=${index} step=${step} channels=${channels} failure=${failure}
      onChange=${(one) => set({ steps: draft.steps.map((other, i) => (i === index ? one : other)) })} onRemove=${() => set({ steps: draft.steps.filter((_, i) => i !== index) })} />`)}</ol>
    ${concerns(failure, "steps") && html`<p class="wrong">${failure.message}</p>`}
    <p><${Button} work=${add}><${Icon} name="plus" />Step<//></p></fieldset>`;
}

/** @param {Props<{policy: EscalationPolicy | null, channels: ChannelSummary[]}>} props */
function Form({ policy, etag, channels, onSaved, onTheirs }) {
  const [draft, set] = useDraft(draftOf(policy, channels));
  const mine = policyOf(draft);
  const path = policy ? pathOf(policy.id) : "/escalation_policies";
  const send = async (ifMatch) => {
    const { data } = await call(policy ? "PATCH" : "POST", path, { body: mine, ifMatch });
    toast(policy ? "The policy is saved." : "The policy is made.");
    onSaved(data);
  };
  const load = async () => {
    const answer = await get(path);
    return { value: answer.data, etag: etagOf(answer) };
  };
  const saving = useGuardedSave({ etag, before: policy ?? {}, mine, send, load, onTheirs });
  const text = (name, field = name) => ({ name: field, value: draft[name], failure: saving.failure, onInput: (event) => set({ [name]: event.currentTarget.value }) });
  const names = new Map(channels.map(({ id, name }) => [id, name]));
  const drawn = { ...mine, steps: mine.steps.map((step) => ({ ...step, channel_name: names.get(step.channel_id) ?? null })) };
  return html`<div class="form-beside"><form class="card stack" ref=${saving.form} onSubmit=${saving.submit} novalidate>
    <${Field} id="policy-name" label="Name" autocomplete="off" maxlength="200" ...${text("name")} />
    <${TextArea} id="policy-description" label="Description" rows="2" maxlength="2000" ...${text("description")} />
    <${Steps} draft=${draft} set=${set} channels=${channels} failure=${saving.failure} />
    <${Check} label="Repeat" hint="from the first step, while nobody acknowledges" checked=${draft.repeat} onChange=${(event) => set({ repeat: event.currentTarget.checked })} />
    ${draft.repeat && html`<div class="pair"><${Field} id="policy-after" label="Minutes after the last step" type="number" min="1" max="1440" ...${text("after", "repeat_after_minutes")} />
      <${Field} id="policy-most" label="At most, times" type="number" min="0" max="100" ...${text("most", "max_repeats")} /></div>`}
    <${Check} label="Enabled" checked=${draft.enabled} onChange=${(event) => set({ enabled: event.currentTarget.checked })} />
    <${FormEnd} saving=${saving} act=${policy ? "Save" : "Make the policy"} onCancel=${() => go("/alerts/policies")} />
    ${saving.conflict}</form>
    <section class="card preview" aria-label="Ladder"><header><h2>When an alert fires</h2></header><${Ladder} policy=${drawn} /></section></div>`;
}

/** @param {Props<{policy: EscalationPolicy}>} props */
function Delete({ policy, onClose }) {
  const work = async () => {
    const { data } = await call("DELETE", pathOf(policy.id));
    toast(`The policy is deleted, and taken out of ${data.removed_from.length} rules.`);
    go("/alerts/policies");
  };
  return html`<${Confirm} title="Delete the policy?" act="Delete" work=${work} onClose=${onClose}><p><strong>${policy.name}</strong> is taken out of every alert rule. It cannot be undone.</p><//>`;
}

async function loadAll(id, abort) {
  const [channels, answer] = await Promise.all([get("/channels?limit=1000", abort), id === "new" ? null : get(pathOf(id), abort)]);
  return { channels: channels.data, policy: answer?.data ?? null, etag: answer && etagOf(answer) };
}

export function Page({ params }) {
  const isNew = params.id === "new";
  const [isDeleting, setDeleting] = useState(false);
  const [version, setVersion] = useState(0);
  const [state, again] = useLoaded((abort) => loadAll(params.id, abort));
  const { data, failure } = state.value;
  const reload = async () => {
    await again();
    setVersion((before) => before + 1);
  };
  const onSaved = (saved) => (isNew ? go(`/alerts/policies/${encodeURIComponent(saved.id)}`, { replace: true }) : reload());
  const head = html`<${Head} title=${isNew ? "New escalation policy" : (data?.policy?.name ?? "Escalation policy")} above=${ABOVE}>
    ${data?.policy && html`<${Button} kind="grave" work=${() => setDeleting(true)}><${Icon} name="trash-2" />Delete<//>`}<//>`;
  if (!data) return html`${head}${failure ? html`<${Failure} failure=${failure} />` : html`<p class="quiet" role="status">Loading…</p>`}`;
  return html`${head}<${Form} key=${version} policy=${data.policy} etag=${data.etag} channels=${data.channels} onSaved=${onSaved} onTheirs=${reload} />
    ${isDeleting && html`<${Delete} policy=${data.policy} onClose=${() => setDeleting(false)} />`}`;
}
