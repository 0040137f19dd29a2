// Statistics of a number that events have: their value, or one of their properties.

import { get } from "../api/client.js";
import { amount, count } from "../kit/format.js";
import { html } from "../kit/html.js";
import { useLoaded } from "../kit/loading.js";
import { rangeKey, refresh } from "../kit/range.js";
import { inQuery } from "../kit/router.js";
import { QuerySelect } from "../parts/fields.js";
import { Icon } from "../parts/icon.js";
import { Loaded } from "../parts/loaded.js";
import { filters, parametersOf } from "./events_filters.js";

const SHOWN = [["sum", "Sum"], ["avg", "Mean"], ["min", "Lowest"], ["p50", "Median"], ["p95", "95 %"], ["p99", "99 %"], ["max", "Highest"]];

function numbers(data) {
  return html`<p class="quiet small">${count(data.count, "event")} with this number.</p>
    <dl class="numbers">${SHOWN.map(([key, label]) => html`<div key=${key}><dt>${label}</dt><dd title=${data[key]}>${amount(data[key])}</dd></div>`)}</dl>`;
}

/** `paths` are those that are offered, besides the value. */
export function Statistics({ paths }) {
  const field = inQuery("field", "value");
  const load = (abort) => {
    const parameters = parametersOf(filters());
    parameters.set("field", field === "value" ? field : `properties.${field}`);
    return get(`/events/stats?${parameters}`, abort);
  };
  const [state] = useLoaded(load, refresh.value * 1000, JSON.stringify([field, filters(), rangeKey.value]));
  const all = [...new Set(["value", ...paths, field])];
  const options = all.map((path) => ({ value: path, label: path === "value" ? "Value" : path }));
  return html`<section class="card"><header><${Icon} name="list" /><h2>Numbers</h2><${QuerySelect} name="field" label="Number" options=${options} /></header>
    <${Loaded} state=${state} show=${({ data }) => numbers(data)} empty=${{ is: ({ data }) => data.count === 0, text: "No event has this number." }} /></section>`;
}
