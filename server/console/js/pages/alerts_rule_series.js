// The values that a rule looks at, over time. A rule computes its query over a window that ends at each
// evaluation; here the same is computed from buckets, as far as buckets allow.

import { get } from "../api/client.js";
import { secondsOf } from "../kit/range.js";
import { conditionOf } from "../parts/metric_query.js";

/** @type {[string, number][]} */
const INTERVALS = [["1m", 60], ["5m", 300], ["1h", 3_600], ["1d", 86_400]];
const POINTS_MAX = 1_500;
const SERIES_MAX = 20;

/** Returns the width of buckets: not wider than the window, and few enough. */
function intervalOf(window, seconds) {
  const enough = INTERVALS.filter(([, width]) => (seconds + window) / width <= POINTS_MAX);
  const within = enough.filter(([, width]) => width <= window);
  return within[within.length - 1] ?? enough[0] ?? INTERVALS[3];
}

function addTags(query, tags, labels) {
  for (const [key, value] of Object.entries(tags ?? {})) query.append(`tags[${key}]`, value);
  for (const [key, value] of Object.entries(labels ?? {})) {
    if (key === "user_id" || key === "name") continue;
    query.delete(`tags[${key}]`);
    query.append(`tags[${key}]`, conditionOf(value));
  }
}

/** Returns the definition of a metric, or null: the names are sorted, and its own comes first. */
async function definitionOf(name, abort) {
  const { data } = await get(`/metrics?${new URLSearchParams({ prefix: name, limit: "1" })}`, abort);
  return data[0]?.name === name ? data[0] : null;
}

/**
 * The values of groups by time, in seconds.
 * @typedef {{aggregation?: string, groups: [string, Map<number, number | null>][], isUnknown?: boolean, isZeroFilled?: boolean}} Found
 */

/** @returns {Promise<Found>} */
async function metricGroups(query, params, labels, abort) {
  const definition = await definitionOf(query.metric, abort);
  if (!definition) return { isUnknown: true, aggregation: "", groups: [] };
  addTags(params, query.tags, labels);
  if (query.aggregation) params.set("aggregation", query.aggregation);
  const { groups, series, aggregation } = (await get(`/metrics/${encodeURIComponent(query.metric)}/query?${params}`, abort)).data;
  const read = (points) => new Map(points.map(({ timestamp, value }) => [Date.parse(timestamp) / 1000, value]));
  return {
    aggregation: definition.type === "set" ? "distinct" : aggregation,
    groups: groups ? Object.entries(groups).map(([name, points]) => [name, read(points)]) : [[query.metric, read(series)]],
  };
}

/** @returns {Promise<Found>} */
async function eventGroups(query, params, labels, abort) {
  addTags(params, query.tags, labels);
  params.set("name", labels?.name ?? query.event);
  if (labels?.user_id) params.set("user_id", labels.user_id);
  const { data } = await get(`/events/count?${params}`, abort);
  const read = (points) => new Map(points.map(({ timestamp, count }) => [Date.parse(timestamp) / 1000, count]));
  const groups = data.groups ? Object.entries(data.series ?? {}) : [[query.event, data.series ?? []]];
  return { aggregation: "count", isZeroFilled: true, groups: groups.map(([name, points]) => [name, read(points)]) };
}

const sum = (values) => values.reduce((total, value) => total + value, 0);
/** How the values of several buckets are those of a window; other aggregations show the last bucket. */
const JOINED = {
  sum, count: sum,
  min: (values) => Math.min(...values),
  max: (values) => Math.max(...values),
  avg: (values) => sum(values) / values.length,
  rate: (values) => sum(values) / values.length,
};

function windowed(buckets, joined, { first, last, width, length, isZeroFilled }) {
  const values = [];
  for (let at = first; at <= last; at += width) {
    const found = [];
    for (let i = length - 1; i >= 0; i--) {
      const value = buckets.get(at - i * width) ?? (isZeroFilled ? 0 : null);
      if (value !== null) found.push(value);
    }
    values.push(found.length === 0 ? null : joined ? joined(found) : found[found.length - 1]);
  }
  return values;
}

/** Returns whether the values of a query over time can be had. */
export function hasSeries({ metric, event, aggregation }) {
  return Boolean(metric) || (Boolean(event) && (!aggregation || aggregation === "count"));
}

/**
 * Loads the values of a rule between two times in milliseconds: `{times, series, interval, total, aggregation}`.
 * With `labels` they are those of one group.
 */
export async function loadSeries({ query, window, group_by: groupBy }, { from, to }, labels, abort) {
  const seconds = secondsOf(window ?? "5m") ?? 300;
  const [interval, width] = intervalOf(seconds, (to - from) / 1000);
  const length = Math.max(1, Math.round(seconds / width));
  const first = Math.floor(from / 1000 / width) * width;
  const last = Math.floor(to / 1000 / width) * width;
  const params = new URLSearchParams({ from: new Date((first - length * width) * 1000).toISOString(), to: new Date(to).toISOString(), interval });
  const group = groupBy ?? query.group_by;
  if (group && !labels) params.set("group_by", group);
  const found = await (query.metric ? metricGroups : eventGroups)(query, params, labels, abort);
  const options = { first, last, width, length, isZeroFilled: found.isZeroFilled };
  const all = found.groups.map(([label, buckets]) => ({ label: label || "(none)", values: windowed(buckets, JOINED[found.aggregation ?? ""], options) }));
  const peak = (one) => one.values.reduce((most, value) => (value !== null && value > most ? value : most), -Infinity);
  const series = all.length > SERIES_MAX ? all.sort((a, b) => peak(b) - peak(a)).slice(0, SERIES_MAX) : all;
  const times = [];
  // A value is that of the window that ends with its bucket.
  for (let at = first; at <= last; at += width) times.push(Math.min(at + width, to / 1000));
  return { times, series, interval, total: all.length, aggregation: found.aggregation, isUnknown: found.isUnknown, isEmpty: all.every((one) => one.values.every((value) => value === null)) };
}
