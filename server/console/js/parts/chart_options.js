// How uPlot draws a chart: colours of the scheme, axes in the zone, bands, levels and marks.

import uPlot from "uplot";
import { amount, clock, day, hour, withUnit } from "../kit/format.js";
import { currentZone } from "../kit/zone.js";
import { COLOURS } from "./chart_data.js";

const POINT_SPACE = 14;
const TICK_SPACE = 72;
const DASH = [6, 4];
const LABEL_MAX = 40;
const BAND_SHARE = 0.18;
/** With more series than this, lines are thin and not dashed, and nothing is marked: it would be slow. */
const MARKED_MAX = 100;
const FILL_SHARE = { areas: 0.16, stack: 0.6, bars: 1 };

const dark = matchMedia("(prefers-color-scheme: dark)");
/** The styles of the schemes in which charts were drawn. */
const styles = new Map();

/** Returns the colours and the font of the current scheme. */
function styleOf(element) {
  const scheme = `${document.documentElement.dataset.theme} ${dark.matches}`;
  if (!styles.has(scheme)) styles.set(scheme, readStyle(element));
  return styles.get(scheme);
}

function readStyle(element) {
  const style = getComputedStyle(element);
  const read = (name) => style.getPropertyValue(name).trim();
  // Resolved by the browser: a canvas does not know `light-dark`.
  const probe = element.appendChild(document.createElement("i"));
  const resolve = (name) => {
    probe.className = `probe ${name}`;
    return getComputedStyle(probe).color;
  };
  const colours = Array.from({ length: COLOURS }, (_, i) => resolve(`c${i}`));
  const found = { colours, ink: resolve("soft"), line: resolve("line"), bad: resolve("bad"), warn: resolve("warn"), good: resolve("good"), mark: resolve("accent"), font: `12px ${read("--sans")}` };
  probe.remove();
  return found;
}

/** Returns a colour that lets a part of what is below through. */
function faint(colour, share) {
  const [, r, g, b] = /(\d+)[, ]+(\d+)[, ]+(\d+)/.exec(colour) ?? [0, 128, 128, 128];
  return `rgb(${r} ${g} ${b} / ${share})`;
}

function pathsOf(kind) {
  if (kind === "bars") return uPlot.paths.bars?.({ size: [0.9, 64], align: 1 });
  return undefined;
}

/** Returns which colour a series has, and whether it is dashed. */
export function lookOf({ colour, isDashed }, index) {
  return { colour: (colour ?? index) % COLOURS, isDashed: isDashed ?? (colour ?? index) >= COLOURS };
}

/** Keeps the gaps between points that are farther apart than `join` seconds. */
function gapsOver(join) {
  return (plot, series, first, last, gaps) => {
    const { min, max } = plot.scales.x;
    const pixels = (join * plot.bbox.width) / (max - min);
    return gaps.filter(([from, to]) => to - from > pixels);
  };
}

/** Returns the positions of values without a neighbour within `join` seconds, which no line shows. */
function isolated(times, values, join) {
  const found = [];
  let before = /** @type {number | null} */ (null);
  let alone = false;
  // A loop, and no pairs: this runs over all values of all lines.
  for (let i = 0; i < values.length; i += 1) {
    if (values[i] === null || values[i] === undefined) continue;
    const isNear = before !== null && (join ? times[i] - times[before] <= join : before === i - 1);
    if (!isNear && alone) found.push(before);
    before = i;
    alone = !isNear;
  }
  if (alone) found.push(before);
  return found;
}

function pointsOf({ kind, times, roles, join }) {
  if (kind === "bars" || roles.length > MARKED_MAX) return { show: false };
  return {
    size: 5,
    show: (plot) => kind !== "stack" && plot.bbox.width / times.length > POINT_SPACE * devicePixelRatio,
    filter: (plot, series, isShown) => (isShown ? null : isolated(times, plot.data[series], join)),
  };
}

function seriesOf(chart, style) {
  const { series, kind, roles, hidden, join } = chart;
  const isMany = roles.length > MARKED_MAX;
  const isArea = kind === "areas" || kind === "stack" || kind === "bars";
  const common = { points: pointsOf(chart), paths: pathsOf(kind), ...(join && { gaps: gapsOver(join) }) };
  const band = { ...common, stroke: "transparent", width: 0, points: { show: false }, paths: undefined };
  const fills = isArea ? style.colours.map((colour) => faint(colour, FILL_SHARE[kind])) : [];
  const line = ({ index, part }) => {
    const show = !hidden.has(series[index].label);
    if (part !== "values") return { ...band, show };
    const { colour, isDashed } = lookOf(series[index], index);
    const drawn = { ...common, show, stroke: style.colours[colour], fill: fills[colour], width: kind === "bars" ? 0 : isMany ? 1 : 1.5 };
    if (isDashed && !isMany) drawn.dash = DASH;
    return drawn;
  };
  return [{}, ...roles.map(line)];
}

function bandsOf({ roles, kind, series }, style) {
  const fill = (index, share) => faint(style.colours[lookOf(series[index], index).colour], share);
  if (kind === "stack") {
    return roles.slice(1).map(({ index }, i) => ({ series: [i + 2, i + 1], fill: fill(index, FILL_SHARE.stack) }));
  }
  return roles.flatMap(({ index, part }, i) =>
    part === "high" ? [{ series: [i + 1, i + 2], fill: fill(index, BAND_SHARE) }] : []);
}

/** Draws levels as lines across, and marks as lines upright. */
function overlays({ levels = [], marks = [] }, style) {
  const line = (plot, colour, x0, y0, x1, y1) => {
    const { ctx } = plot;
    ctx.save();
    ctx.strokeStyle = colour;
    ctx.lineWidth = devicePixelRatio;
    ctx.setLineDash([4 * devicePixelRatio, 4 * devicePixelRatio]);
    ctx.beginPath();
    ctx.moveTo(x0, y0);
    ctx.lineTo(x1, y1);
    ctx.stroke();
    ctx.restore();
  };
  const text = (plot, colour, label, x, y) => {
    const { ctx } = plot;
    ctx.save();
    ctx.fillStyle = colour;
    ctx.font = style.font.replace(/^(\d+)px/, (_, size) => `${size * devicePixelRatio}px`);
    ctx.textAlign = "right";
    ctx.textBaseline = "bottom";
    ctx.fillText(label.slice(0, LABEL_MAX), x - 4 * devicePixelRatio, y - 2 * devicePixelRatio);
    ctx.restore();
  };
  return (plot) => {
    const { left, top, width, height } = plot.bbox;
    for (const { value, kind, label } of levels) {
      const y = plot.valToPos(value, "y", true);
      if (y < top || y > top + height) continue;
      const colour = { warning: style.warn, good: style.good }[kind] ?? style.bad;
      line(plot, colour, left, y, left + width, y);
      if (label) text(plot, colour, label, left + width, y);
    }
    for (const { at, colour } of marks) {
      const x = plot.valToPos(at / 1000, "x", true);
      if (x >= left && x <= left + width) line(plot, colour ?? style.mark, x, top, x, top + height);
    }
  };
}

/** Returns the nearest number that an axis can end at. */
function finite(value) {
  return Math.max(-Number.MAX_VALUE, Math.min(Number.MAX_VALUE, value));
}

/** The values of an axis never end at one number: a flat line is in the middle. */
function yRange(levels) {
  return (plot, low, high) => {
    if (low === null || high === null) return [0, 1];
    const values = levels.map(({ value }) => value);
    const [least, most] = [Math.min(low, ...values), Math.max(high, ...values)];
    if (least === most) return least === 0 ? [0, 1] : [Math.min(0, least * 2), Math.max(0, most * 2)].map(finite);
    return uPlot.rangeNum(least, most, { min: { pad: 0.05, soft: 0, mode: 2 }, max: { pad: 0.08, soft: 0, mode: 2 } }).map(finite);
  };
}

function sizeOfAxis(plot, values) {
  const longest = (values ?? []).reduce((most, text) => Math.max(most, text.length), 3);
  return Math.min(110, 24 + longest * 7);
}

/** Returns the texts of the axis of time: the day where it begins, and with the first time. */
function timesOf(plot, ticks, axis, space, step) {
  let before = "";
  return ticks.map((tick) => {
    const date = day(tick * 1000);
    const isNew = date !== before;
    before = date;
    if (step >= 86_400) return date;
    const time = step < 60 ? clock(tick * 1000).replace(/[.,]\d+/, "") : hour(tick * 1000);
    return isNew ? `${time}\n${date}` : time;
  });
}

/**
 * Moves what a chart shows along with the pointer, while its button and Shift are held. `moved.by` are the seconds so
 * far; `on.pan(seconds)` gets them at the end. The range stays between 1970 and now.
 */
function panning(chart, on, moved) {
  return (plot, event) => {
    const secondsPerPixel = (chart.to - chart.from) / 1000 / plot.over.clientWidth;
    const [least, most] = [-Math.max(0, chart.from) / 1000, Math.max(0, (Date.now() - chart.to) / 1000)];
    const show = ({ clientX }) => {
      moved.by = Math.max(least, Math.min(most, (event.clientX - clientX) * secondsPerPixel));
      plot.setScale("x", { min: chart.from / 1000 + moved.by, max: chart.to / 1000 + moved.by });
    };
    const end = (last) => {
      removeEventListener("mousemove", show);
      show(last);
      if (moved.by !== 0) on.pan(moved.by);
    };
    addEventListener("mousemove", show);
    addEventListener("mouseup", end, { once: true });
  };
}

/**
 * Returns the options of uPlot. `chart`: `{times, series, kind, unit, roles, levels, marks, hidden, sync, from, to}`;
 * `on`: `{cursor(position), zoom(from, to), pan(seconds)}`, of which the last may be absent.
 */
export function optionsOf(chart, element, size, on) {
  const style = styleOf(element);
  const axis = { stroke: style.ink, font: style.font, grid: { stroke: style.line, width: 1 }, ticks: { stroke: style.line, width: 1 } };
  const zone = currentZone();
  const levels = chart.levels ?? [];
  const isMany = chart.roles.length > MARKED_MAX;
  const moved = { by: 0 };
  const pan = panning(chart, on, moved);
  return {
    ...size,
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), zone),
    legend: { show: false },
    padding: [10, 24, 0, 0],
    cursor: {
      drag: { x: true, y: false, setScale: false, dist: 6 },
      bind: {
        mousedown: (plot, target, handle) => (event) => {
          if (event.button !== 0) return null;
          return event.shiftKey && on.pan ? pan(plot, event) : handle(event);
        },
      },
      focus: { prox: isMany ? -1 : 24 },
      sync: chart.sync ? { key: chart.sync, setSeries: false } : undefined,
      points: { size: 6, ...(isMany && { show: false }) },
    },
    scales: {
      x: { time: true, range: () => [chart.from / 1000 + moved.by, chart.to / 1000 + moved.by] },
      y: { range: yRange(levels) },
    },
    axes: [{ ...axis, values: timesOf, space: TICK_SPACE }, { ...axis, size: (plot, values) => sizeOfAxis(plot, values), values: (_, ticks) => ticks.map((tick) => (chart.unit ? withUnit(tick, chart.unit) : amount(tick))) }],
    series: seriesOf(chart, style),
    bands: bandsOf(chart, style),
    hooks: {
      draw: [overlays(chart, style)],
      setCursor: [(plot) => on.cursor(plot.cursor.idx ?? null)],
      setSelect: [(plot) => {
        const { left, width } = plot.select;
        if (width > 0) on.zoom(plot.posToVal(left, "x") * 1000, plot.posToVal(left + width, "x") * 1000);
        plot.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
      }],
    },
  };
}
