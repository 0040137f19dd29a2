// Loads what a query of Explore draws: its groups, the band between minimum and maximum, and the
// same for an earlier time.

import { loadSeries } from "../api/series.js";
import { limits } from "../kit/range.js";
import { pathOf } from "../parts/metric_query.js";

const DAY_MS = 86_400_000;
const BANDS_MAX = 10;
const GROUPS_COMPARED_MAX = 10_000;
/** The largest groups of an earlier time may be others: so many times as many are loaded. */
const COMPARED_TIMES = 10;
const JOINED_BUCKETS = 2.5;
const WITH_BAND = { gauge: ["avg", "last"], distribution: ["avg", "p50", "p90", "p95", "p99"] };

/** Returns the parameters that limit the groups of a query. */
export function topOf({ groupBy, top, topBy }) {
  return groupBy.length > 0 ? { top: String(top), top_by: topBy } : {};
}

/** Returns whether a query leaves series out by its filters. */
export function isNarrowed({ tags }) {
  return Object.keys(tags).length > 0;
}

function wantsBand({ aggregations, groupBy, top, kind }, type) {
  const isLine = kind === "lines" || kind === "areas";
  return isLine && aggregations.length === 1 && (WITH_BAND[type] ?? []).includes(aggregations[0]) && (groupBy.length === 0 || top <= BANDS_MAX);
}

/** Returns how far back the earlier time begins: a whole number of buckets. */
function offsetOf(compare, length, width) {
  const wanted = { previous: length, day: DAY_MS, week: 7 * DAY_MS }[compare];
  return Math.ceil(wanted / (width * 1000)) * width * 1000;
}

function nameOf(tags, groupBy) {
  if (groupBy.length === 0) return "";
  if (groupBy.length === 1) return tags[groupBy[0]] || `without ${groupBy[0]}`;
  return groupBy.map((key) => `${key}=${tags[key]}`).join(", ");
}

/** Makes the series of groups, in their order; labels that would be the same get a number. */
function seriesOf(groups, query, hasBand) {
  const seen = new Map();
  const unique = (label) => {
    const times = (seen.get(label) ?? 0) + 1;
    seen.set(label, times);
    return times > 1 ? `${label} (${times})` : label;
  };
  const isMany = query.aggregations.length > 1;
  return groups.flatMap(({ tags, values }) => query.aggregations.map((aggregation) => {
    const name = nameOf(tags, query.groupBy);
    const label = unique(!name ? aggregation : isMany ? `${name} · ${aggregation}` : name);
    return { label, tags, aggregation, values: values[aggregation], ...(hasBand && { low: values.min, high: values.max }) };
  }));
}

const identity = ({ tags, aggregation }) => JSON.stringify([tags, aggregation]);

/** Returns the series of an earlier time at the times of now, dashed, in the colour of their group. */
function earlier(series, before, offset, times) {
  const position = new Map(before.times.map((time, i) => [time + offset / 1000, i]));
  const partners = new Map(series.map((one, i) => [identity(one), i]));
  return before.series.flatMap((one) => {
    const colour = partners.get(identity(one));
    if (colour === undefined) return [];
    const values = times.map((time) => one.values[position.get(time)] ?? null);
    return [{ ...one, label: `${series[colour].label}, before`, values, low: undefined, high: undefined, colour, isDashed: true, isEarlier: true }];
  });
}

/**
 * Loads a query, whose aggregations are filled in. Returns what charts take (`times`, `series`, `join`,
 * `between`), `meta` with the number of groups, and the `interval`.
 */
export async function loadCharted(query, { type }, { buckets, compare }, abort) {
  const { from, to } = limits();
  const hasBand = wantsBand(query, type);
  const asked = hasBand ? { ...query, aggregations: [...new Set([...query.aggregations, "min", "max"])] } : query;
  const of = (top) => (options) => pathOf(asked, { ...options, ...top });
  const now = await loadSeries(of(topOf(query)), { from, to, buckets, type }, abort);
  const series = seriesOf(now.groups, query, hasBand);
  const drawn = { times: now.times, series, join: JOINED_BUCKETS * now.width, between: { from, to }, meta: now.meta, interval: now.interval, hasBand };
  if (!compare) return drawn;
  const offset = offsetOf(compare, to - from, now.width);
  const top = query.groupBy.length > 0 ? { top: String(Math.min(GROUPS_COMPARED_MAX, COMPARED_TIMES * query.top)) } : {};
  const before = await loadSeries(of(top), { from: from - offset, to: to - offset, width: now.width }, abort);
  const compared = earlier(series, { times: before.times, series: seriesOf(before.groups, query, false) }, offset, now.times);
  return { ...drawn, series: [...series, ...compared], offset };
}
