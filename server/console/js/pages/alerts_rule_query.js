// What a rule observes and when it fires: the fields, with the metrics and tags there are.

import { useEffect, useState } from "preact/hooks";
import { get } from "../api/client.js";
import { html } from "../kit/html.js";
import { useLoaded } from "../kit/loading.js";
import { Button } from "../parts/button.js";
import { concerns, Field, Select } from "../parts/fields.js";
import { Icon } from "../parts/icon.js";
import { EVENT_AGGREGATIONS, METRIC_AGGREGATIONS, OPERATORS, SOURCES } from "./alerts_rule_draft.js";

const TYPED_MS = 300;
const NAMES_MAX = 30;

/** Returns a text some time after it was last typed. */
export function useSettled(text, ms = TYPED_MS) {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), ms);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}

/** Loads metrics that begin like this, the definition of the metric of this name, and its tags. */
async function loadMetric(name, abort) {
  const found = await get(`/metrics?${new URLSearchParams({ prefix: name, limit: String(NAMES_MAX) })}`, abort);
  return { names: found.data.map((one) => one.name), metric: found.data.find((one) => one.name === name) ?? null };
}

function Tag({ index, tag, keys, failure, onChange, onRemove }) {
  return html`<div class="tag-row"><input aria-label=${`Tag ${index + 1}`} list="rule-tag-keys" value=${tag.key} placeholder="tag" autocomplete="off" spellcheck=${false}
      aria-invalid=${failure ? "true" : null} onInput=${(event) => onChange({ ...tag, key: event.currentTarget.value })} />
    <span aria-hidden="true">=</span>
    <input aria-label=${`Value of tag ${index + 1}`} value=${tag.value} placeholder="value, a,b, !v or v*" autocomplete="off" spellcheck=${false}
      onInput=${(event) => onChange({ ...tag, value: event.currentTarget.value })} />
    <${Button} kind="plain" label=${`Remove tag ${index + 1}`} work=${onRemove}><${Icon} name="x" /><//>
    ${index === 0 && html`<datalist id="rule-tag-keys">${keys.map((key) => html`<option key=${key} value=${key} />`)}</datalist>`}</div>`;
}

function Tags({ draft, set, keys, failure }) {
  const isWrong = concerns(failure, "query.tags");
  const change = (index, tag) => set({ tags: draft.tags.map((one, i) => (i === index ? tag : one)) });
  return html`<fieldset class="field"><legend class="legend">Only with these tags</legend>
    ${draft.tags.map((tag, index) => html`<${Tag} key=${index} index=${index} tag=${tag} keys=${keys} failure=${isWrong} onChange=${(one) => change(index, one)}
      onRemove=${() => set({ tags: draft.tags.filter((_, i) => i !== index) })} />`)}
    ${isWrong && html`<p class="wrong">${failure.message}</p>`}
    <p><${Button} work=${() => set({ tags: [...draft.tags, { key: "", value: "" }] })}><${Icon} name="plus" />Tag<//></p></fieldset>`;
}

const NAME_FIELD = {
  metric: { label: "Metric", hint: "It need not exist yet", list: "rule-names" },
  event: { label: "Events", hint: "A name, or the beginning of names followed by *" },
  alert: { label: "Alerts", hint: "A name, or the beginning of names followed by *. Each alert that fires has the value 1" },
};

function Name({ draft, set, names, failure }) {
  const { source } = draft;
  const { label, hint, list } = NAME_FIELD[source];
  return html`<${Field} id="rule-name-of" name=${`query.${source}`} label=${label} hint=${hint} failure=${failure} list=${list} value=${draft[source]} autocomplete="off" spellcheck=${false}
      onInput=${(event) => set({ [source]: event.currentTarget.value })} />
    ${list && html`<datalist id=${list}>${names.map((name) => html`<option key=${name} value=${name} />`)}</datalist>`}`;
}

function Condition({ draft, set, failure }) {
  const text = (name) => ({ id: `rule-${name}`, value: draft[name], failure, onInput: (event) => set({ [name]: event.currentTarget.value }) });
  return html`<div class="pair three">
      <${Select} id="rule-op" name="condition.op" label="It fires if the value" options=${OPERATORS} value=${draft.op} failure=${failure} onChange=${(event) => set({ op: event.currentTarget.value })} />
      ${draft.op !== "absent" && html`<${Field} name="condition.threshold" label="Threshold" type="number" step="any" ...${text("threshold")} />`}
    </div>
    <div class="pair">
      <${Field} name="window" label="Window" hint="How far back each evaluation looks: 10s to 7d" ...${text("window")} />
      <${Field} name="for" label="For" hint="How long the condition has to be met: 0m to 1d" ...${text("for")} /></div>`;
}

/** The fields of the query and the condition. */
export function QueryFields({ draft, set, failure }) {
  const name = useSettled(draft.metric);
  const [state] = useLoaded((abort) => loadMetric(name, abort).catch(() => ({ names: [], metric: null })), 0, name);
  const { names, metric } = state.value.data ?? { names: [], metric: null };
  const keys = draft.source === "metric" ? (metric?.tags ?? []) : [];
  const known = draft.source === "event" ? EVENT_AGGREGATIONS : (METRIC_AGGREGATIONS[metric?.type] ?? [...new Set(Object.values(METRIC_AGGREGATIONS).flat())]);
  const aggregations = [{ value: "", label: "the default" }, ...[...new Set([...known, draft.aggregation].filter(Boolean))].map((one) => ({ value: one, label: one }))];
  return html`<${Select} id="rule-source" name="query" label="Observe" options=${SOURCES} value=${draft.source} failure=${failure?.field === "query" ? failure : null}
      onChange=${(event) => set({ source: event.currentTarget.value, aggregation: "" })} />
    <${Name} draft=${draft} set=${set} names=${names} failure=${failure} />
    ${draft.source !== "alert" && html`<div class="pair">
      <${Select} id="rule-aggregation" name="query.aggregation" label="Aggregation" options=${aggregations} value=${draft.aggregation} failure=${failure}
        hint=${metric ? `${draft.metric} is a ${metric.type}` : ""} onChange=${(event) => set({ aggregation: event.currentTarget.value })} />
      ${draft.source === "event" && html`<${Field} id="rule-field" name="query.field" label="Field" hint="value, or a path in the properties" failure=${failure} value=${draft.field}
        onInput=${(event) => set({ field: event.currentTarget.value })} />`}
      <${Field} id="rule-group" name="group_by" label="Group by" hint="tags.<key>; one alert for each group" failure=${failure} list="rule-groups" value=${draft.group_by} autocomplete="off"
        onInput=${(event) => set({ group_by: event.currentTarget.value })} />
      <datalist id="rule-groups">${keys.map((key) => html`<option key=${key} value=${`tags.${key}`} />`)}</datalist></div>`}
    <${Tags} draft=${draft} set=${set} keys=${keys} failure=${failure} />
    ${draft.source !== "alert" && html`<${Condition} draft=${draft} set=${set} failure=${failure} />`}`;
}
