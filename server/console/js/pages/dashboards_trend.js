// How the number of a widget went over its range, for the small line below it.

import { useEffect, useState } from "preact/hooks";
import { loadPreview } from "./dashboards_preview.js";

/** @type {[string, number][]} */
const INTERVALS = [["1m", 60], ["5m", 300], ["1h", 3_600], ["1d", 86_400]];
const POINTS_MAX = 80;
const POINTS_MIN = 3;

/** @param {Pick<import("telltale").Widget, "query" | "options">} widget */
function graphOf({ query, options = {} }, { from, to }) {
  const seconds = (to - from) / 1000;
  const [interval] = INTERVALS.find(([, step]) => seconds / step <= POINTS_MAX) ?? INTERVALS[INTERVALS.length - 1];
  return { type: "graph", query: { ...query, interval }, options: options.time_range ? { time_range: options.time_range } : {} };
}

/** Returns the values of the buckets of a number, or null. `declared` are the variables of the dashboard. */
export function useTrend(widget, { values, range, moment }, declared) {
  const [trend, setTrend] = useState(/** @type {number[] | null} */ (null));
  const key = JSON.stringify([widget.query, values.value, range.from, range.to]);
  useEffect(() => {
    if (!moment || values.value === null) return undefined;
    const abort = new AbortController();
    loadPreview(graphOf(widget, range), { ...moment, shared: range }, declared, abort.signal).then(
      ({ values: { series } }) => setTrend((series ?? []).map(({ value }) => value).filter(Number.isFinite)),
      // The number says what there is to say; its trend is an extra.
      () => undefined,
    );
    return () => abort.abort();
  }, [key]);
  return trend && trend.length >= POINTS_MIN ? trend : null;
}
