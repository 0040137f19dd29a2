// One query of Explore: what it asks, and its chart or table.

import { useRef } from "preact/hooks";
import { get } from "../api/client.js";
import { html } from "../kit/html.js";
import { useLoaded } from "../kit/loading.js";
import { limitsOfQuery, rangeKey, refresh } from "../kit/range.js";
import { inQuery, setQuery } from "../kit/router.js";
import { Button } from "../parts/button.js";
import { Chart } from "../parts/chart.js";
import { CurlButton, curlOf } from "../parts/curl.js";
import { Icon } from "../parts/icon.js";
import { Loaded } from "../parts/loaded.js";
import { MetricField } from "../parts/metric_field.js";
import { pathOf } from "../parts/metric_query.js";
import { ToDashboard } from "./explore_dashboard.js";
import { Options, aggregationsOf } from "./explore_options.js";
import { isNarrowed, loadCharted, topOf } from "./explore_series.js";
import { SeriesTable } from "./explore_table.js";

const CHART_HEIGHT = 260;
const PIXELS_PER_BUCKET = 4;
const BUCKETS_MIN = 60;
/** So many lines are a matter of their number: each has fewer points. */
const BUCKETS_OF_MANY = 150;
const MANY = 1_000;

const letterOf = (index) => "ABCDEF"[index];

function bucketsFor(query) {
  const width = document.getElementById("content")?.clientWidth ?? innerWidth;
  const buckets = Math.max(BUCKETS_MIN, Math.floor(width / PIXELS_PER_BUCKET));
  return query.groupBy.length > 0 && query.top >= MANY ? Math.min(buckets, BUCKETS_OF_MANY) : buckets;
}

function summary({ meta, interval, hasBand }, query) {
  const parts = [`one point per ${interval}`];
  if (hasBand) parts.push("the band is from the minimum to the maximum");
  if (query.groupBy.length > 0) parts.unshift(`${meta.shown.toLocaleString()} of ${meta.groups.toLocaleString()} groups shown`);
  if (meta.resolution?.length > 0) parts.push(`older parts are kept only as ${meta.resolution[0].interval}`);
  const text = parts.join(" · ");
  return `${text[0].toUpperCase()}${text.slice(1)}.`;
}

function Drawn({ data, query, title }) {
  const at = Date.parse(inQuery("at"));
  const marks = useRef({ at: NaN, list: /** @type {{at: number, label: string}[] | undefined} */ (undefined) });
  if (!Object.is(marks.current.at, at)) marks.current = { at, list: Number.isNaN(at) ? undefined : [{ at, label: "" }] };
  const pick = (moment) => setQuery({ at: new Date(moment).toISOString() }, { replace: true });
  return html`<${Chart} label=${title} times=${data.times} series=${data.series} kind=${query.kind} join=${data.join} height=${CHART_HEIGHT} between=${data.between}
    sync="explore" marks=${marks.current.list} onPick=${pick} />`;
}

/** What the query finds. */
/** `onAsked` gets the range and the interval of what is shown. */
function Result({ query, definition, view, title, letter, onAsked }) {
  const compare = inQuery("compare");
  const asked = { ...query, aggregations: aggregationsOf(query, definition) };
  const load = async (abort) => {
    const data = await loadCharted(asked, definition, { buckets: bucketsFor(query), compare }, abort);
    const { from, to } = data.between;
    onAsked({ from: new Date(from).toISOString(), to: new Date(to).toISOString(), interval: data.interval });
    return data;
  };
  const key = JSON.stringify([asked, compare, rangeKey.value]);
  const [state] = useLoaded(load, refresh.value * 1000, key);
  const show = (data) => html`
    ${view === "table" ? html`<${SeriesTable} data=${data} name=${`rows${letter}`} title=${title} />` : html`<${Drawn} data=${data} query=${query} title=${title} />`}
    <p class="quiet small">${summary(data, query)}</p>`;
  const empty = {
    is: ({ series }) => series.length === 0 || series.every(({ values }) => values.every((value) => value === null)),
    text: isNarrowed(query) ? "No sample matches in this time." : "No samples in this time.",
  };
  return html`<${Loaded} state=${state} show=${show} empty=${empty} />`;
}

export function QueryCard({ index, query, view, onChange, onMetric, onCopy, onRemove }) {
  const path = /** @type {const} */ (`/metrics/${encodeURIComponent(query.metric)}`);
  const [state] = useLoaded((abort) => get(path, abort), 0, path);
  const letter = letterOf(index);
  const id = `metric-${letter}`;
  const title = `Query ${letter}, ${query.metric}`;
  const definition = state.value.data?.data;
  const shown = useRef(/** @type {{from: string, to: string, interval: string} | null} */ (null));
  const onAsked = (asked) => {
    shown.current = asked;
  };
  const command = () => {
    const asked = { ...query, aggregations: aggregationsOf(query, definition) };
    return curlOf(pathOf(asked, { ...(shown.current ?? limitsOfQuery()), ...topOf(query) }));
  };
  return html`<section class="card query" aria-label=${title}>
    <header><span class="tag letter" aria-hidden="true">${letter}</span>
      <${MetricField} id=${id} label=${`Metric of query ${letter}`} isLabelUnseen value=${query.metric}
        onChoose=${(metric) => metric && metric !== query.metric && onMetric(metric, id)} />
      ${definition && html`<span class="tag">${definition.type}</span>`}
      <div class="acts">
        ${definition && html`<${CurlButton} command=${command} label=${`Copy query ${letter} as curl`} />
          <${ToDashboard} query=${{ ...query, aggregations: aggregationsOf(query, definition) }} letter=${letter} />`}
        ${onCopy && html`<${Button} kind="plain small" label=${`Duplicate query ${letter}`} work=${onCopy}><${Icon} name="copy" /><//>`}
        <${Button} kind="plain small" label=${`Remove query ${letter}`} work=${onRemove}><${Icon} name="x" /><//>
      </div></header>
    <${Loaded} state=${state} show=${({ data }) => html`<${Options} letter=${letter} query=${query} definition=${data} onChange=${onChange} />
      <${Result} query=${query} definition=${data} view=${view} title=${title} letter=${letter} onAsked=${onAsked} />`} />
  </section>`;
}
