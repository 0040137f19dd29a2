// What a chart draws: aligned columns of its series, stacked if it is so, and what it shows in words.

import { instant, withUnit } from "../kit/format.js";

/** How many colours there are; further series have them again, dashed. */
export const COLOURS = 12;

/** Returns the columns of uPlot and which series each of them is: values, and the limits of bands. */
export function columnsOf({ times, series, kind }) {
  const columns = [times];
  const roles = [];
  const push = (values, role) => {
    columns.push(values);
    roles.push(role);
  };
  if (kind === "stack" || kind === "bars") {
    const sums = sumsOf(times, series);
    const order = series.map((_, index) => index);
    // Bars hide what is below them: the highest is drawn first.
    if (kind === "bars") order.reverse();
    for (const index of order) push(sums[index], { index, part: "values" });
    return { columns, roles };
  }
  series.forEach((one, index) => {
    push(one.values, { index, part: "values" });
    if (!one.low || !one.high) return;
    push(one.high, { index, part: "high" });
    push(one.low, { index, part: "low" });
  });
  return { columns, roles };
}

/** Returns each series with those before it added; null where no series has a value. */
function sumsOf(times, series) {
  const isEmpty = times.map((_, i) => series.every((one) => one.values[i] === null || one.values[i] === undefined));
  let below = times.map(() => 0);
  return series.map((one) => {
    below = below.map((sum, i) => sum + (one.values[i] ?? 0));
    return below.map((sum, i) => (isEmpty[i] ? null : sum));
  });
}

function extremes(series) {
  /** @type {{value: number, label: string} | null} */
  let low = null;
  /** @type {{value: number, label: string} | null} */
  let high = null;
  for (const one of series) {
    for (const value of one.values) {
      if (value === null || value === undefined) continue;
      if (!low || value < low.value) low = { value, label: one.label };
      if (!high || value > high.value) high = { value, label: one.label };
    }
  }
  return { low, high };
}

/** Returns a chart in a sentence or two, for those who do not see it. */
export function summaryOf({ label, times, series, unit }) {
  const { low, high } = extremes(series);
  if (!low || !high) return `${label}: no data.`;
  const many = series.length > 1;
  const of = (one) => (many ? ` (${one.label})` : "");
  const range = `${instant(times[0] * 1000)} to ${instant(times[times.length - 1] * 1000)}`;
  return `${label}: ${many ? `${series.length} series, ` : ""}${range}. Lowest ${withUnit(low.value, unit)}${of(low)}, highest ${withUnit(high.value, unit)}${of(high)}.`;
}

/** Returns what a chart has at a position, in words. */
export function pointOf({ times, series, unit }, position) {
  const values = series.slice(0, 8).map((one) => `${one.label} ${withUnit(one.values[position], unit)}`);
  const rest = series.length > values.length ? `, and ${series.length - values.length} more` : "";
  return `${instant(times[position] * 1000)}: ${values.join(", ")}${rest}`;
}
