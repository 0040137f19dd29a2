// Where the series come from: the metrics, tags and values that have the most.

import { get } from "../api/client.js";
import { amount, count, share } from "../kit/format.js";
import { html } from "../kit/html.js";
import { useLoaded } from "../kit/loading.js";
import { href, inQuery, place } from "../kit/router.js";
import { QuerySearch } from "../parts/fields.js";
import { Icon } from "../parts/icon.js";
import { Loaded } from "../parts/loaded.js";
import { conditionOf, exploreHref, queryOf } from "../parts/metric_query.js";
import { PAGE_ROWS, Pager, offsetOf } from "../parts/pager.js";
import { ShareBar } from "../parts/share_bar.js";
import { Table } from "../parts/table.js";

/** @import { CardinalityRow } from "telltale" */

const NOUNS = { metric: ["metric", "metrics"], tag: ["tag", "tags"], value: ["value", "values"] };

/** Returns what is counted: `{by, metric, key}`. */
function asked() {
  const [metric, key] = [inQuery("of"), inQuery("key")];
  const by = inQuery("by") === "value" && key ? "value" : inQuery("by") === "tag" ? "tag" : "metric";
  return { by, metric, key: by === "tag" ? "" : key };
}

/** Returns a link to another count; what is explored stays in the address. */
function linkTo(changes) {
  const { query } = place.value;
  const kept = Object.fromEntries([...new Set(query.keys())].map((name) => [name, query.getAll(name)]));
  return href("/explore", { ...kept, by: null, of: null, key: null, search: null, offset: null, ...changes });
}

/** Returns the row's way down: a metric has tags, a tag has values, a value is explored. */
function downFrom({ by, metric, key }, { name }) {
  if (by === "metric") return linkTo({ by: "tag", of: name });
  if (by === "tag") return linkTo({ by: "value", of: metric, key: name });
  return metric ? exploreHref([queryOf(metric, { tags: { [key]: conditionOf(name) } })]) : null;
}

/** @returns {Column<CardinalityRow>[]} */
function columnsFor(question, meta) {
  const { by, metric } = question;
  const name = (row) => {
    const link = downFrom(question, row);
    const text = row.name === "" ? html`<span class="quiet">empty</span>` : row.name;
    return link ? html`<a class="mono" href=${link}>${text}</a>` : html`<span class="mono">${text}</span>`;
  };
  const part = ({ series }) => html`<span class="part"><${ShareBar} part=${series / Math.max(1, meta.series)} />
    <span>${share(series / Math.max(1, meta.series))}</span></span>`;
  return [
    { label: { metric: "Metric", tag: "Tag", value: "Value" }[by], cell: name },
    { label: "Series", isNumber: true, cell: (row) => amount(row.series) },
    ...(by === "tag" ? [] : [{ label: "Share", isNumber: true, cell: part }]),
    ...(by === "tag" ? [{ label: "Values", isNumber: true, cell: (row) => amount(row.values) }] : []),
    ...(metric || by === "metric" ? [] : [{ label: "Metrics", isNumber: true, cell: (row) => amount(row.metrics) }]),
    ...(by === "metric" ? [{ label: "Explore", isUnseen: true, isEnd: true, cell: (row) => html`<a class="button small" href=${exploreHref([queryOf(row.name)])}>
      <${Icon} name="chart-line" />Explore<span class="unseen"> ${row.name}</span></a>` }] : []),
  ];
}

/** Where the count is: all metrics, one of them, one of its tags. */
function Trail({ by, metric, key }) {
  /** @type {{label: string, link: string | null}[]} */
  const steps = [{ label: by === "metric" ? "All metrics" : metric ? "All metrics" : "All tags", link: linkTo(metric || by === "metric" ? {} : { by: "tag" }) }];
  if (metric) steps.push({ label: metric, link: linkTo({ by: "tag", of: metric }) });
  if (key) steps.push({ label: key, link: null });
  return html`<nav class="trail" aria-label="Where"><ol>${steps.map(({ label, link }, i) => html`<li key=${label}>${link && i < steps.length - 1
    ? html`<a href=${link}>${label}</a>` : html`<span>${label}</span>`}</li>`)}</ol></nav>`;
}

export function Cardinality() {
  const question = asked();
  const { by, metric, key } = question;
  const search = inQuery("search");
  const parameters = new URLSearchParams({ by, limit: String(PAGE_ROWS), offset: String(offsetOf()) });
  for (const [name, value] of Object.entries({ metric, key, search })) if (value) parameters.set(name, value);
  const path = /** @type {const} */ (`/cardinality?${parameters}`);
  const [state] = useLoaded((abort) => get(path, abort), 0, path);
  const [noun, nouns] = NOUNS[by];
  const show = ({ data, meta }) => html`<p class="quiet">${by === "tag" ? count(meta.total, noun, nouns) : `${count(meta.series, "series", "series")} in ${count(meta.total, noun, nouns)}`}, the largest first.</p>
    <${Table} label="Cardinality" columns=${columnsFor(question, meta)} rows=${data} keyOf=${({ name }) => name} /><${Pager} meta=${meta} />`;
  const empty = { is: ({ meta }) => meta.total === 0, text: search ? "Nothing matches." : by === "tag" ? "No series has tags." : "No series yet." };
  return html`<div class="filters">
      <div class="picker" role="group" aria-label="Count by">
        <a class="button" href=${linkTo({})} aria-current=${!metric && by === "metric" ? "true" : null}>By metric</a>
        <a class="button" href=${linkTo({ by: "tag" })} aria-current=${!metric && by !== "metric" ? "true" : null}>By tag</a></div>
      <${QuerySearch} key=${`${by} ${metric} ${key}`} name="search" label=${`Search for a ${noun}`} /></div>
    <section class="card"><header><${Icon} name="layers" /><h2 class="unseen">Cardinality</h2><${Trail} ...${question} /></header>
      <${Loaded} state=${state} show=${show} empty=${empty} /></section>`;
}
