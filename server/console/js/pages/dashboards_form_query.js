// The fields of a widget's query: what is measured, of which part, by which groups.

import { get } from "../api/client.js";
import { html } from "../kit/html.js";
import { useLoaded } from "../kit/loading.js";
import { Button } from "../parts/button.js";
import { Combobox } from "../parts/combobox.js";
import { Field, Select } from "../parts/fields.js";
import { Icon } from "../parts/icon.js";
import { aggregationsOf, isGrouped } from "./dashboards_form_values.js";

const SUGGESTED = 20;
const GROUPS_MAX = 4;
const INTERVALS = ["1m", "5m", "1h", "1d"];

async function metrics(text, abort) {
  const prefix = text ? `&prefix=${encodeURIComponent(text)}` : "";
  const { data, meta } = await get(`/metrics?limit=${SUGGESTED}${prefix}`, abort);
  return { options: data.map(({ name, type }) => ({ value: name, note: type })), total: meta.total };
}

/** Returns the metric of a name: its type and tags; null where there is none. */
async function metricNamed(name, abort) {
  if (!name) return null;
  const { data } = await get(`/metrics?limit=1&prefix=${encodeURIComponent(name)}`, abort);
  return data[0]?.name === name ? data[0] : null;
}

function Filters({ tags, keys, set }) {
  const change = (at, pair) => set({ tags: tags.map((one, i) => (i === at ? pair : one)) });
  return html`<fieldset class="field"><legend class="legend">Only where</legend>
    <ul class="pairs-edit">${tags.map(([key, value], at) => html`<li key=${at}>
      <input aria-label=${`Tag ${at + 1}`} list="widget-tag-keys" value=${key} placeholder="tag" autocomplete="off" spellcheck=${false} onInput=${(event) => change(at, [event.currentTarget.value, value])} />
      <input aria-label=${`Value of tag ${at + 1}`} value=${value} placeholder="a, b; !a; a*" autocomplete="off" spellcheck=${false} onInput=${(event) => change(at, [key, event.currentTarget.value])} />
      <${Button} kind="plain" label=${`Remove tag ${at + 1}`} work=${() => set({ tags: tags.filter((_, i) => i !== at) })}><${Icon} name="x" /><//></li>`)}</ul>
    <datalist id="widget-tag-keys">${keys.map((key) => html`<option key=${key} value=${key} />`)}</datalist>
    <div><${Button} kind="small" work=${() => set({ tags: [...tags, ["", ""]] })}><${Icon} name="plus" />Tag<//></div></fieldset>`;
}

function Groups({ fields, keys, set, failure }) {
  const chosen = fields.group_by.split(",").map((one) => one.trim()).filter(Boolean);
  const names = fields.source === "event" ? ["user_id", "name"] : keys.map((key) => `tags.${key}`);
  const toggle = (name) => set({ group_by: (chosen.includes(name) ? chosen.filter((one) => one !== name) : [...chosen, name].slice(-GROUPS_MAX)).join(",") });
  return html`<div class="stack-small"><${Field} id="widget-groups" name="query.group_by" label="Group by" failure=${failure} value=${fields.group_by} placeholder="tags.host"
      hint=${`Up to ${GROUPS_MAX} tags as tags.name, separated by commas`} autocomplete="off" spellcheck=${false} onInput=${(event) => set({ group_by: event.currentTarget.value })} />
    ${names.length > 0 && html`<div class="choices" role="group" aria-label="Tags to group by">${names.map((name) => html`<button key=${name} type="button" class="button small"
      aria-pressed=${chosen.includes(name) ? "true" : "false"} onClick=${() => toggle(name)}>${name.replace(/^tags\./, "")}</button>`)}</div>`}</div>`;
}

export function QueryFields({ fields, set, failure }) {
  const [state] = useLoaded((abort) => (fields.source === "metric" ? metricNamed(fields.metric, abort) : null), 0, `${fields.source} ${fields.metric}`);
  const metric = state.value.data ?? null;
  const text = (name) => ({ value: fields[name], failure, autocomplete: "off", spellcheck: false, onInput: (event) => set({ [name]: event.currentTarget.value }) });
  const aggregations = aggregationsOf(fields, metric?.type);
  const known = aggregations.includes(fields.aggregation) || !fields.aggregation ? aggregations : [...aggregations, fields.aggregation];
  const isMetric = fields.source === "metric";
  const wrong = failure && ["query", "query.metric"].includes(failure.field) ? failure.message : "";
  return html`<fieldset class="field"><legend class="legend">Of</legend><div class="choices">
      ${[["metric", "Metric"], ["event", "Events"]].map(([value, label]) => html`<label key=${value}><input type="radio" name="source" value=${value} checked=${fields.source === value}
        onChange=${() => set({ source: value, aggregation: "" })} />${label}</label>`)}</div></fieldset>
    ${isMetric
      ? html`<div class="field"><${Combobox} id="widget-metric" label="Metric" value=${fields.metric} load=${metrics} isFree onChoose=${(name) => set({ metric: name, aggregation: "" })} />
          <p class=${wrong ? "wrong" : "hint"}>${wrong || (metric ? `A ${metric.type}` : "It need not exist yet")}</p></div>`
      : html`<${Field} id="widget-event" name="query.event" label="Events" hint="A name, or the beginning of one and *" ...${text("event")} />`}
    <div class="pair">
      <${Select} id="widget-aggregation" label="Value" value=${fields.aggregation} options=${[{ value: "", label: "default" }, ...known.map((one) => ({ value: one, label: one }))]}
        onChange=${(event) => set({ aggregation: event.currentTarget.value })} />
      ${!isMetric && html`<${Field} id="widget-field" name="query.field" label="Field" hint="value, or a path in the properties" ...${text("field")} />`}
      ${fields.type === "graph" && html`<${Select} id="widget-interval" label="In steps of" value=${fields.interval}
        options=${[{ value: "", label: "as fine as fits" }, ...INTERVALS.map((one) => ({ value: one, label: one }))]} onChange=${(event) => set({ interval: event.currentTarget.value })} />`}
    </div>
    ${isGrouped(fields.type) && html`<${Groups} fields=${fields} keys=${metric?.tags ?? []} set=${set} failure=${failure} />`}
    <${Filters} tags=${fields.tags} keys=${metric?.tags ?? []} set=${set} />`;
}
