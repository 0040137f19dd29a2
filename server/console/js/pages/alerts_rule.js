// Makes a rule or changes one: what it observes, when it fires, who gets to know; beside it, what it
// would have done.

import { useState } from "preact/hooks";
import { call, etagOf, get } from "../api/client.js";
import { instant } from "../kit/format.js";
import { html } from "../kit/html.js";
import { useLoaded } from "../kit/loading.js";
import { go, href, inQuery } from "../kit/router.js";
import { toast } from "../kit/toasts.js";
import { Button } from "../parts/button.js";
import { Confirm } from "../parts/confirm.js";
import { Check, Field, Select, TextArea } from "../parts/fields.js";
import { FormEnd, useDraft, useGuardedSave } from "../parts/form.js";
import { Head } from "../parts/head.js";
import { Icon } from "../parts/icon.js";
import { Failure } from "../parts/loaded.js";
import { Pick } from "../parts/pick.js";
import { draftOf, NEW, ruleOf } from "./alerts_rule_draft.js";
import { Preview } from "./alerts_rule_preview.js";
import { QueryFields } from "./alerts_rule_query.js";

/** @import { AlertRule } from "telltale" */

const SEVERITIES = ["critical", "warning", "info"].map((value) => ({ value, label: value }));
const LISTS = ["/channels", "/escalation_policies", "/on_call_schedules"];
const ABOVE = { path: "/alerts/rules", label: "Alert rules" };

/** Loads the receivers there are. */
async function loadReceivers(abort) {
  const [channels, policies, schedules] = await Promise.all(LISTS.map((path) => get(`${path}?limit=1000`, abort)));
  return { channels: channels.data, policies: policies.data, schedules: schedules.data };
}

function choices(none, all, chosen) {
  const known = all.map(({ id, name, enabled }) => ({ value: id, label: enabled ? name : `${name} (disabled)` }));
  const missing = chosen && !all.some(({ id }) => id === chosen) ? [{ value: chosen, label: chosen }] : [];
  return [{ value: "", label: none }, ...known, ...missing];
}

function Receivers({ draft, set, failure, receivers }) {
  const { channels, policies, schedules } = receivers;
  return html`<${Pick} name="channel_ids" label="Channels that are notified at once" items=${channels.map(({ id, name, channel_type: type }) => ({ id, label: name, about: type }))}
      none="There are no channels yet." chosen=${draft.channel_ids} failure=${failure} onChange=${(ids) => set({ channel_ids: ids })} />
    <div class="pair">
      <${Select} id="rule-policy" name="escalation_policy_id" label="Escalation policy" options=${choices("none", policies, draft.escalation_policy_id)} value=${draft.escalation_policy_id}
        failure=${failure} onChange=${(event) => set({ escalation_policy_id: event.currentTarget.value })} />
      <${Select} id="rule-schedule" name="on_call_schedule_id" label="Whoever is on call by" options=${choices("no schedule", schedules, draft.on_call_schedule_id)} value=${draft.on_call_schedule_id}
        hint="is notified by email" failure=${failure} onChange=${(event) => set({ on_call_schedule_id: event.currentTarget.value })} /></div>`;
}

function Fields({ draft, set, saving, receivers, act, onCancel }) {
  const { failure } = saving;
  const text = (name) => ({ name, value: draft[name], failure, onInput: (event) => set({ [name]: event.currentTarget.value }) });
  return html`<form class="card stack" ref=${saving.form} onSubmit=${saving.submit} novalidate>
    <${Field} id="rule-name" label="Name" autocomplete="off" maxlength="200" ...${text("name")} />
    <${TextArea} id="rule-description" label="Description" hint="Shown with each alert" rows="2" maxlength="2000" ...${text("description")} />
    <h2>When it fires</h2>
    <${QueryFields} draft=${draft} set=${set} failure=${failure} />
    <h2>Who gets to know</h2>
    <${Select} id="rule-severity" name="severity" label="Severity" options=${SEVERITIES} value=${draft.severity} failure=${failure} onChange=${(event) => set({ severity: event.currentTarget.value })} />
    <${Receivers} draft=${draft} set=${set} failure=${failure} receivers=${receivers} />
    <${TextArea} id="rule-services" label="Affected services" hint="One a line, for the reader" rows="2" ...${text("services")} />
    <${Check} label="Enabled" hint="a rule that is not is not evaluated" checked=${draft.enabled} onChange=${(event) => set({ enabled: event.currentTarget.checked })} />
    <${FormEnd} saving=${saving} act=${act} onCancel=${onCancel} />
  </form>`;
}

/**
 * The state of the last evaluation.
 * @param {Props<{rule: AlertRule}>} props
 */
function Evaluation({ rule }) {
  const { error, error_since: since } = rule.evaluation;
  if (!error) return null;
  return html`<p class="notice warn"><${Icon} name="triangle-alert" /><span>It cannot be evaluated${since ? ` since ${instant(since)}` : ""}: ${error}. Its alerts stay as they are.</span></p>`;
}

/** Returns the draft of a new rule, of which the address may have fields: another page links to it. */
function newDraft() {
  const draft = { ...NEW };
  for (const name of ["name", "metric", "event", "aggregation", "op", "threshold", "window", "for", "group_by", "severity"]) draft[name] = inQuery(name, draft[name]);
  const [, key, value] = /^([^=]+)=(.*)$/.exec(inQuery("tag")) ?? [];
  return { ...draft, source: draft.event && !draft.metric ? "event" : "metric", tags: key ? [{ key, value }] : [] };
}

/** @param {Props<{rule: AlertRule | null}>} props */
function Form({ rule, etag, receivers, onSaved, onTheirs }) {
  const [draft, set] = useDraft(rule ? draftOf(rule) : newDraft());
  const mine = ruleOf(draft);
  const path = rule ? `/alert_rules/${encodeURIComponent(rule.id)}` : "/alert_rules";
  const send = async (ifMatch) => {
    const answer = await call(rule ? "PATCH" : "POST", path, { body: mine, ifMatch });
    toast(rule ? "The rule is saved." : "The rule is made.");
    onSaved(answer.data, etagOf(answer));
  };
  const load = async () => {
    const answer = await get(path);
    return { value: answer.data, etag: etagOf(answer) };
  };
  const saving = useGuardedSave({ etag, before: rule ?? {}, mine, send, load, onTheirs });
  return html`<div class="form-beside"><${Fields} draft=${draft} set=${set} saving=${saving} receivers=${receivers} act=${rule ? "Save" : "Make the rule"} onCancel=${() => go("/alerts/rules")} />
    <${Preview} draft=${draft} />${saving.conflict}</div>`;
}

/** @param {Props<{rule: AlertRule}>} props */
function Delete({ rule, onClose }) {
  const work = async () => {
    await call("DELETE", `/alert_rules/${encodeURIComponent(rule.id)}`);
    toast("The rule is deleted.");
    go("/alerts/rules");
  };
  return html`<${Confirm} title="Delete the rule?" act="Delete" work=${work} onClose=${onClose}>
    <p><strong>${rule.name}</strong> is evaluated no more, and is taken out of the maintenance windows that mute it. Its open alerts end. It cannot be undone.</p><//>`;
}

async function loadAll(id, abort) {
  const [receivers, answer] = await Promise.all([loadReceivers(abort), id === "new" ? null : get(`/alert_rules/${encodeURIComponent(id)}`, abort)]);
  return { receivers, rule: answer?.data ?? null, etag: answer && etagOf(answer), version: 0 };
}

/** @typedef {{rule: import("telltale").AlertRule, etag: string, version: number}} Changed */

export function Page({ params }) {
  const isNew = params.id === "new";
  const [isDeleting, setDeleting] = useState(false);
  const [changed, setChanged] = useState(/** @type {Changed | null} */ (null));
  const [state] = useLoaded((abort) => loadAll(params.id, abort));
  const { data, failure } = state.value;
  const { rule, etag, receivers, version = 0 } = { ...data, ...changed };
  const onSaved = (saved, tag) => {
    if (isNew) return go(`/alerts/rules/${encodeURIComponent(saved.id)}`, { replace: true });
    // The form stays as it is, with what was typed meanwhile, and goes on from what was saved.
    return setChanged({ rule: saved, etag: tag, version });
  };
  const head = html`<${Head} title=${isNew ? "New alert rule" : (rule?.name ?? "Alert rule")} above=${ABOVE}>
    ${rule && html`<a class="button" href=${href("/alerts", { rule_id: rule.id, last: "7d" })}><${Icon} name="bell" />Its alerts</a>
      <${Button} kind="grave" work=${() => setDeleting(true)}><${Icon} name="trash-2" />Delete<//>`}<//>`;
  if (!data) return html`${head}${failure ? html`<${Failure} failure=${failure} />` : html`<p class="quiet" role="status">Loading…</p>`}`;
  return html`${head}<div class="sections">${rule && html`<${Evaluation} rule=${rule} />`}
    <${Form} key=${version} rule=${rule} etag=${etag} receivers=${receivers} onSaved=${onSaved}
      onTheirs=${(value, tag) => setChanged({ rule: value, etag: tag, version: version + 1 })} /></div>
    ${isDeleting && html`<${Delete} rule=${rule} onClose=${() => setDeleting(false)} />`}`;
}
