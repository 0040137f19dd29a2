// Metrics over time: up to six queries, each with its chart or table, and where the series come from.

import { instant } from "../kit/format.js";
import { html } from "../kit/html.js";
import { inQuery, place, setQuery } from "../kit/router.js";
import { Around } from "../parts/around.js";
import { Button } from "../parts/button.js";
import { QuerySelect } from "../parts/fields.js";
import { Head } from "../parts/head.js";
import { Icon } from "../parts/icon.js";
import { MetricField } from "../parts/metric_field.js";
import { QUERIES_MAX, parametersOf, queriesOf, queryOf } from "../parts/metric_query.js";
import { Tabs, viewOf } from "../parts/tabs.js";
import { TimePicker } from "../parts/time_picker.js";
import { Cardinality } from "./explore_cardinality.js";
import { Metrics } from "./explore_metrics.js";
import { QueryCard } from "./explore_query.js";

const VIEWS = [
  { name: "chart", label: "Charts" },
  { name: "table", label: "Table" },
  { name: "series", label: "Cardinality" },
];
/** The field that adds a query. */
const ADD = "add-metric";
const COMPARED = [
  { value: "", label: "Compare with nothing" },
  { value: "previous", label: "Compare with the time before" },
  { value: "day", label: "Compare with the day before" },
  { value: "week", label: "Compare with the week before" },
];

function show(queries) {
  setQuery({ ...parametersOf(queries), offset: null });
}

/** What was used may be gone or new after a change: the focus goes to what takes its place. */
function focusSoon(id) {
  setTimeout(() => document.getElementById(id)?.focus());
}

/** The moment that was clicked in a chart. */
function Moment() {
  const at = Date.parse(inQuery("at"));
  if (Number.isNaN(at)) return null;
  return html`<div class="notice moment"><${Icon} name="clock" /><span>${instant(at)}</span>
    <${Button} kind="plain small" label="Forget this moment" work=${() => setQuery({ at: null })}><${Icon} name="x" /><//><${Around} at=${at} /></div>`;
}

function Toolbar({ queries }) {
  const isFull = queries.length >= QUERIES_MAX;
  const add = (metric) => show([...queries, queryOf(metric)]);
  return html`<div class="filters">
    ${isFull ? html`<p class="quiet small">${QUERIES_MAX} queries are the most that a page shows.</p>`
      : html`<${MetricField} id=${ADD} isCleared label="Add a metric" isLabelUnseen placeholder=${queries.length ? "Add another metric" : "Search for a metric"} icon="plus"
          onChoose=${(metric) => metric && add(metric)} isFocused=${queries.length === 0} />`}
    ${queries.length > 0 && html`<${QuerySelect} name="compare" label="Compare" options=${COMPARED} />`}
  </div>`;
}

function Queries({ queries, view }) {
  const replace = (index, ...changed) => show(queries.toSpliced(index, 1, ...changed));
  const isFull = queries.length >= QUERIES_MAX;
  return html`<div class="sections">${queries.map((query, index) => html`<${QueryCard} key=${`${index} ${query.metric}`} index=${index} query=${query} view=${view}
    onChange=${(changes) => replace(index, { ...query, ...changes })}
    onMetric=${(metric, id) => { replace(index, queryOf(metric)); focusSoon(id); }}
    onCopy=${isFull ? null : () => replace(index, query, { ...query })}
    onRemove=${() => { replace(index); focusSoon(ADD); }} />`)}</div>`;
}

export function Page() {
  const queries = queriesOf(place.value.query);
  const view = viewOf(VIEWS);
  const kept = [...new Set(place.value.query.keys())].filter((name) => /^q[1-6](\.|$)/.test(name));
  return html`<${Head} title="Explore">${view !== "series" && html`<${TimePicker} />`}<//>
    <${Tabs} label="Views" views=${VIEWS} keep=${[...kept, "compare", "at"]} />
    ${view === "series" ? html`<${Cardinality} />` : html`<${Toolbar} queries=${queries} /><${Moment} />
      ${queries.length > 0 ? html`<${Queries} queries=${queries} view=${view} />` : html`<${Metrics} />`}`}`;
}
