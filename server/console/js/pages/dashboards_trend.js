// How the number of a widget went over its range, for the small line below it.

import { useEffect, useState } from "preact/hooks";
import { get } from "../api/client.js";

const INTERVALS = [["1m", 60], ["5m", 300], ["1h", 3_600], ["1d", 86_400]];
const POINTS_MAX = 80;
const POINTS_MIN = 3;

function pathOf({ query }, { from, to }) {
  const seconds = (to - from) / 1000;
  const [interval] = INTERVALS.find(([, step]) => seconds / step <= POINTS_MAX) ?? INTERVALS[INTERVALS.length - 1];
  const params = new URLSearchParams({ from: new Date(from).toISOString(), to: new Date(to).toISOString(), interval });
  if (query.aggregation) params.set("aggregation", query.aggregation);
  for (const [key, value] of Object.entries(query.tags ?? {})) params.append(`tags[${key}]`, value);
  return `/metrics/${encodeURIComponent(query.metric)}/query?${params}`;
}

/** Returns the values of the buckets of a number that is of a metric, or null. */
export function useTrend(widget, { values, range }) {
  const [trend, setTrend] = useState(null);
  const key = JSON.stringify([widget.query, values.value, range.from, range.to]);
  useEffect(() => {
    if (!widget.query.metric || values.value === null) return undefined;
    const abort = new AbortController();
    get(pathOf(widget, range), abort.signal).then(
      ({ data }) => setTrend((data.series ?? []).map(({ value }) => value).filter(Number.isFinite)),
      // The number says what there is to say; its trend is an extra.
      () => undefined,
    );
    return () => abort.abort();
  }, [key]);
  return trend && trend.length >= POINTS_MIN ? trend : null;
}
