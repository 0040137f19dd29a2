// The values of graphs as columns: one list of times for all lines, with gaps where data is missing.

const GAP_STEPS = 3;
const STEPS = [60, 300, 3_600, 86_400];
const NAMED = { "1m": 60, "5m": 300, "1h": 3_600, "1d": 86_400 };
const BUCKETS_MAX = 1_500;
const FILLED_MAX = 5_000;

/** Returns the width of the buckets that the server takes, in seconds. */
function stepOf(interval, from, to) {
  const seconds = (to - from) / 1000;
  return NAMED[interval] ?? STEPS.find((step) => seconds / step <= BUCKETS_MAX) ?? STEPS[STEPS.length - 1];
}

/** Whether a bucket without data is a zero: what counts events has counted none. */
function countsEvents({ event, aggregation = "count" }) {
  return Boolean(event) && ["count", "sum", "unique_users"].includes(aggregation);
}

function median(times) {
  const steps = times.slice(1).map((time, i) => time - times[i]).sort((a, b) => a - b);
  return steps[Math.floor(steps.length / 2)] ?? 0;
}

/** Returns the times and values of each line. */
function fromPoints(lines) {
  return lines.map(([label, points]) => (
    { label: label || "(none)", times: points.map(({ timestamp }) => Date.parse(timestamp) / 1000), values: points.map(({ value }) => value) }));
}

/** Returns the same of what the server has as columns. */
function fromColumns({ times, lines }, title) {
  const seconds = times.map((time) => time / 1000);
  // In the order of an object's names, as lines have it that are no columns: they keep their colours.
  const named = Object.fromEntries(lines.map(({ label, values }) => [label ?? title, values]));
  return Object.entries(named).map(([label, values]) => ({ label: label || "(none)", times: seconds, values }));
}

/** Whether values have lines for groups. */
export function hasGroups({ groups, columns }) {
  return groups !== undefined || columns?.lines.some(({ label }) => label !== undefined) === true;
}

/** Returns the times at which a line has a value. */
function ownTimes({ times, values }) {
  return values.includes(null) ? times.filter((_, i) => values[i] !== null) : times;
}

/** Returns all times of the buckets of a range that can be drawn one by one. */
function allTimes(step, from, to) {
  const times = [];
  for (let time = Math.floor(from / 1000 / step) * step; time < to / 1000; time += step) times.push(time);
  return times;
}

/**
 * Returns `{times, series, join}` of a widget's values; `from` and `to` in milliseconds. Lines join points up
 * to `join` seconds apart: what is farther apart than samples usually are is a gap.
 */
export function columnsOf({ series, groups, columns }, { title, query }, { from, to }) {
  const parsed = columns ? fromColumns(columns, title) : fromPoints(groups ? Object.entries(groups) : [[title, series ?? []]]);
  const step = stepOf(query.interval, from, to);
  const lists = [...new Set(parsed.map((line) => line.times))];
  const found = lists.length === 1 ? lists[0] : [...new Set(lists.flat())].sort((a, b) => a - b);
  const isFilled = countsEvents(query) && found.length > 0 && (to - from) / 1000 / step <= FILLED_MAX;
  const times = isFilled ? [...new Set([...found, ...allTimes(step, from, to)])].sort((a, b) => a - b) : found;
  const join = GAP_STEPS * Math.max(step, ...[...new Set(parsed.map(ownTimes))].map(median));
  const index = new Map(times.map((time, i) => [time, i]));
  const aligned = (line) => {
    if (line.times === times) return isFilled ? line.values.map((value) => value ?? 0) : line.values;
    const values = new Array(times.length).fill(isFilled ? 0 : null);
    line.times.forEach((time, i) => {
      values[Number(index.get(time))] = line.values[i] ?? (isFilled ? 0 : null);
    });
    return values;
  };
  return { times, join, series: parsed.map((line) => ({ label: line.label, values: aligned(line) })) };
}
