// Time series of a metric as columns, with buckets as wide as the chart needs them.

import { get } from "./client.js";

const WIDTHS = [1, 2, 5, 10, 15, 20, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 10_800, 21_600, 43_200, 86_400, 604_800, 2_592_000];
/** @type {[number, string][]} */
const UNITS = [[86_400, "d"], [3_600, "h"], [60, "m"]];
/** Distributions and sets are kept by the minute. */
const WIDTH_MIN = { distribution: 60, set: 60 };
/** Below this number of buckets a chart is not made coarser for the sake of its gaps. */
const BUCKETS_MIN = 20;
const GROUPS_EXAMINED_MAX = 20;

/** Returns the smallest usual width, in seconds, that divides `seconds` into at most `buckets`. */
export function widthFor(seconds, buckets, least = 1) {
  const width = Math.max(least, seconds / Math.max(1, buckets));
  return WIDTHS.find((one) => one >= width) ?? Math.ceil(width / 86_400) * 86_400;
}

/** Returns a width as the API takes it: `90s`, `15m`. */
export function intervalText(seconds) {
  const [size, unit] = UNITS.find(([size]) => seconds % size === 0) ?? [1, "s"];
  return `${seconds / size}${unit}`;
}

/** Returns the usual distance of two samples, in buckets; 1 if it is not known. */
function distanceOf({ times, groups }, width) {
  const distances = [];
  for (const { values } of groups.slice(0, GROUPS_EXAMINED_MAX)) {
    const [first] = Object.values(values);
    let before = null;
    first?.forEach((value, i) => {
      if (value === null) return;
      if (before !== null) distances.push((times[i] - before) / 1000 / width);
      before = times[i];
    });
  }
  distances.sort((a, b) => a - b);
  return distances[Math.floor(distances.length / 2)] ?? 1;
}

/**
 * Loads the columns of `pathOf(options)` over a range in milliseconds. Without `width` (seconds) the
 * buckets are as many as fit, but wide enough to have a sample each: a rate over buckets of which
 * most are empty would be too high in the others. `times` of the result are in seconds.
 * @param {(options: Record<string, string>) => string} pathOf
 * @param {{from: number, to: number, buckets?: number, type?: string, width?: number}} range
 * @param {AbortSignal} [abort]
 */
export async function loadSeries(pathOf, { from, to, buckets, type, width }, abort) {
  const range = { from: new Date(from).toISOString(), to: new Date(to).toISOString(), format: "columns" };
  const load = async (seconds) => (await get(pathOf({ ...range, interval: intervalText(seconds) }), abort)).data;
  const seconds = (to - from) / 1000;
  let chosen = width ?? widthFor(seconds, buckets, WIDTH_MIN[type]);
  let data = await load(chosen);
  if (!width) {
    const wanted = chosen * distanceOf(data, chosen);
    const wider = WIDTHS.find((one) => one >= wanted) ?? wanted;
    if (wider > chosen && wider <= seconds / BUCKETS_MIN) {
      chosen = wider;
      data = await load(chosen);
    }
  }
  return { ...data, width: chosen, times: data.times.map((time) => time / 1000) };
}
