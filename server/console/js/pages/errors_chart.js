// The occurrences of an error over time.

import { useMemo } from "preact/hooks";
import { get } from "../api/client.js";
import { count } from "../kit/format.js";
import { html } from "../kit/html.js";
import { useLoaded } from "../kit/loading.js";
import { limits, rangeKey, refresh } from "../kit/range.js";
import { Chart } from "../parts/chart.js";
import { Icon } from "../parts/icon.js";
import { Loaded } from "../parts/loaded.js";
import { apiPath } from "./errors_common.js";

/** @import { ErrorGroupDetail } from "telltale" */

const BARS_MAX = 180;
/** @type {[string, number][]} */
const WIDTHS = [["1m", 60], ["5m", 300], ["1h", 3_600], ["1d", 86_400]];
const HEIGHT = 150;

/** Returns the smallest width of buckets with few enough bars. */
function widthFor({ from, to }) {
  return WIDTHS.find(([, seconds]) => (to - from) / 1000 / seconds <= BARS_MAX) ?? WIDTHS[WIDTHS.length - 1];
}

/** Adds the buckets without occurrences, which the API leaves out. */
function filled(series, { from, to }, seconds) {
  const counts = new Map(series.map(({ timestamp, count: number }) => [Date.parse(timestamp) / 1000, number]));
  const times = [];
  for (let at = Math.floor(from / 1000 / seconds) * seconds; at * 1000 < to; at += seconds) times.push(at);
  return { times, values: times.map((at) => counts.get(at) ?? 0) };
}

async function load(id, abort) {
  const range = limits();
  const [interval, seconds] = widthFor(range);
  const query = new URLSearchParams({ from: new Date(range.from).toISOString(), to: new Date(range.to).toISOString(), interval });
  const { data } = await get(apiPath(id, `/series?${query}`), abort);
  return { ...filled(data.series, range, seconds), range, total: data.total };
}

/** @param {Props<{error: ErrorGroupDetail}>} props */
function Plot({ data, error }) {
  const series = useMemo(() => [{ label: "Occurrences", values: data.values }], [data]);
  const marks = useMemo(
    () => [["resolved", error.resolved_at], ["regressed", error.regressed_at]].flatMap(([label, at]) => (at ? [{ at: Date.parse(at), label }] : [])),
    [error.resolved_at, error.regressed_at],
  );
  return html`<p class="quiet small">${count(data.total, "occurrence")} in this time${marks.length > 0 ? `; a line where it was ${marks.map(({ label }) => label).join(" and ")}` : ""}</p>
    <${Chart} label="Occurrences over time" kind="bars" times=${data.times} series=${series} marks=${marks} between=${data.range} height=${HEIGHT} hasLegend=${false} />`;
}

/** @param {Props<{error: ErrorGroupDetail}>} props */
export function Series({ error }) {
  const [state] = useLoaded((abort) => load(error.id, abort), refresh.value * 1000, rangeKey.value);
  return html`<section class="card"><header><${Icon} name="chart-line" /><h2>Occurrences</h2></header><${Loaded} state=${state} show=${(data) => html`<${Plot} data=${data} error=${error} />`} /></section>`;
}
