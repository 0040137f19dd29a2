// A chart over time, for the eye, the keyboard and the ear: lines, areas, stacked areas or bars;
// dragging over it, or two times Enter, chooses a range, dragging with Shift moves it.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import { loadStyle } from "../api/styles.js";
import { useElement } from "../kit/element.js";
import { withUnit } from "../kit/format.js";
import { html } from "../kit/html.js";
import { limits, showBetween } from "../kit/range.js";
import { theme } from "../kit/theme.js";
import { zone } from "../kit/zone.js";
import { columnsOf, pointOf, summaryOf } from "./chart_data.js";
import { lookOf, optionsOf } from "./chart_options.js";
import { ChartTable } from "./chart_table.js";
import { Icon } from "./icon.js";

const STYLE = "vendor/uplot.css";
const HEIGHT = 220;
const NAMED_MAX = 40;
const STEP_MANY = 10;
const PICKED_PIXELS = 4;

/** Shows the values at the cursor without rendering anything again. */
function showValues(legend, { series, unit }, position) {
  for (const output of legend?.querySelectorAll("output") ?? []) {
    const value = position === null ? undefined : series[Number(output.dataset.index)]?.values[position];
    output.textContent = position === null ? "" : withUnit(value, unit);
  }
}

function Legend({ chart, legend, onToggle }) {
  const named = chart.series.slice(0, NAMED_MAX);
  const rest = chart.series.length - named.length;
  const swatch = ({ colour, isDashed }) => `swatch c${colour} ${isDashed ? "dashed" : ""}`;
  return html`<ul class="legend" ref=${legend}>${named.map((one, index) => html`<li key=${one.label}>
      <button type="button" aria-pressed=${chart.hidden.has(one.label) ? "false" : "true"} onClick=${() => onToggle(one.label)}>
        <span class=${swatch(lookOf(one, index))}></span><span class="name">${one.label}</span></button>
      <output data-index=${index}></output></li>`)}
    ${rest > 0 && html`<li class="quiet">and ${rest} more</li>`}</ul>`;
}

/** Moves the cursor by keys; Enter begins and ends a range, the space bar picks a moment. */
function useKeys(plot, chart, say) {
  const at = useRef(/** @type {number | null} */ (null));
  const begin = useRef(/** @type {number | null} */ (null));
  return (event) => {
    const end = chart.times.length - 1;
    const now = at.current ?? end;
    const by = event.shiftKey ? STEP_MANY : 1;
    const target = { ArrowLeft: now - by, ArrowRight: now + by, Home: 0, End: end }[event.key];
    if (target !== undefined) {
      event.preventDefault();
      at.current = Math.max(0, Math.min(end, target));
      const left = plot.current.valToPos(chart.times[at.current], "x");
      plot.current.setCursor({ left, top: plot.current.over.clientHeight / 2 });
      say(pointOf(chart, at.current));
    } else if (event.key === "Enter" && at.current !== null) {
      event.preventDefault();
      if (begin.current === null) {
        begin.current = at.current;
        say("The range begins here; Enter ends it.");
      } else {
        const ends = [chart.times[begin.current] * 1000, chart.times[at.current] * 1000];
        begin.current = null;
        chart.onZoom(Math.min(...ends), Math.max(...ends));
      }
    } else if (event.key === " " && chart.onPick && at.current !== null) {
      event.preventDefault();
      chart.onPick(chart.times[at.current] * 1000);
    } else if (event.key === "Escape") {
      begin.current = null;
      say("");
    }
  };
}

/** Tells which moment is clicked, but not where somebody drags. */
function usePicking(plot, onPick) {
  const pressed = useRef(0);
  if (!onPick) return {};
  return {
    onPointerDown: (event) => {
      pressed.current = event.clientX;
    },
    onClick: (event) => {
      const { over } = plot.current;
      if (!over.contains(event.target) || Math.abs(event.clientX - pressed.current) > PICKED_PIXELS) return;
      onPick(Math.round(plot.current.posToVal(event.clientX - over.getBoundingClientRect().left, "x") * 1000));
    },
  };
}

/**
 * Returns the chart as it was when the pointer was pressed on it, until it is released, and what is called when it
 * is pressed: a chart drawn anew would lose what is being dragged or clicked.
 */
function useHeld(chart) {
  const [isPressed, setPressed] = useState(false);
  const held = useRef(chart);
  if (!isPressed) held.current = chart;
  const hold = () => {
    setPressed(true);
    const released = new AbortController();
    // The click follows the release in the same task.
    const release = () => {
      released.abort();
      setTimeout(() => setPressed(false));
    };
    for (const type of ["pointerup", "pointercancel", "blur"]) addEventListener(type, release, { signal: released.signal });
    // Of a release over a menu or another window the page is not told.
    addEventListener("pointermove", (event) => event.buttons === 0 && release(), { signal: released.signal });
  };
  return [held.current, hold];
}

/** Draws, and draws again when data, size, scheme or zone change. */
function usePlot(chart, box, legend) {
  const plot = useRef(/** @type {uPlot | null} */ (null));
  const seen = { scheme: theme.value, zone: zone.value };
  useEffect(() => {
    const element = box.current;
    const size = () => ({ width: Math.max(1, element.clientWidth), height: chart.height || Math.max(1, element.clientHeight) });
    let isShown = true;
    const draw = (measured) => {
      if (!isShown) return;
      plot.current?.destroy();
      const { columns, roles } = columnsOf(chart);
      const pan = (seconds) => chart.onZoom(chart.from + seconds * 1000, chart.to + seconds * 1000);
      // Other charts show a range of their own.
      const on = { cursor: (position) => showValues(legend.current, chart, position), zoom: chart.onZoom, pan: chart.onZoom === showBetween ? pan : undefined };
      plot.current = new uPlot(optionsOf({ ...chart, roles }, element, measured, on), columns, element);
    };
    const drawAgain = () => draw(size());
    // Without its style a chart is in a wrong place, where clicks miss it. Charts that are shown at once are all
    // measured before the first is drawn, which would have the page laid out again for each.
    loadStyle(STYLE).then(() => {
      const measured = size();
      queueMicrotask(() => draw(measured));
    });
    const sizes = new ResizeObserver(() => {
      const { width, height } = size();
      // It is also told the size that a chart has had from the start.
      if (element.clientWidth && plot.current && (plot.current.width !== width || plot.current.height !== height)) plot.current.setSize({ width, height });
    });
    sizes.observe(element);
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    scheme.addEventListener("change", drawAgain);
    return () => {
      isShown = false;
      sizes.disconnect();
      scheme.removeEventListener("change", drawAgain);
      plot.current?.destroy();
      plot.current = null;
    };
  }, [chart.times, chart.series, chart.kind, chart.unit, chart.marks, chart.levels, chart.hidden, chart.height, chart.join, seen.scheme, seen.zone]);
  return plot;
}

/**
 * `times` in seconds, rising; `series`: `[{label, values, low, high, colour, isDashed}]`, as long as `times`,
 * null where there is nothing, but lines join points up to `join` seconds apart; `kind`: `lines`, `areas`,
 * `stack`, `bars`; `marks`: `[{at, label, colour}]` in milliseconds; `levels`: `[{value, kind, label}]`; charts with one
 * `sync` share the cursor; `onPick` gets the moment that is clicked, in milliseconds. `times` and `series`
 * are compared by identity: new data is a new list. A chart with a `height` of 0 fills what is around it.
 */
export function Chart({
  label, times, series, kind = "lines", unit = "", marks, levels, sync, height = HEIGHT, onZoom = showBetween, onPick, join, between, hasLegend = true, hasTable = true,
}) {
  const box = /** @type {ElementRef<HTMLDivElement>} */ (useElement());
  const legend = /** @type {ElementRef<HTMLUListElement>} */ (useElement());
  const said = /** @type {ElementRef<HTMLParagraphElement>} */ (useElement());
  const [hidden, setHidden] = useState(() => new Set());
  const [isTable, setTable] = useState(false);
  const range = useMemo(() => between ?? limits(), [times, series]);
  const [chart, hold] = useHeld({ label, times, series, kind, unit, marks, levels, sync, height, hidden, onZoom, onPick, join, ...range });
  const plot = usePlot(chart, box, legend);
  const picking = usePicking(plot, onPick);
  const onKeyDown = useKeys(plot, chart, (text) => {
    said.current.textContent = text;
  });
  const toggle = (name) => {
    const changed = new Set(hidden);
    if (!changed.delete(name)) changed.add(name);
    setHidden(changed);
  };
  return html`<figure class=${height ? "chart" : "chart fills"}>
    <div class="plot" ref=${box} tabindex="0" role="group" aria-roledescription="chart" aria-label=${summaryOf(chart)}
      onPointerDownCapture=${hold} onKeyDown=${onKeyDown} ...${picking}></div>
    <p class="unseen" aria-live="polite" ref=${said}></p>
    <figcaption>${hasLegend && html`<${Legend} chart=${chart} legend=${legend} onToggle=${toggle} />`}
      ${hasTable && html`<button type="button" class="button plain small" aria-pressed=${isTable ? "true" : "false"} aria-label=${`${label} as a table`}
        onClick=${() => setTable(!isTable)}><${Icon} name="table" /></button>`}</figcaption>
    ${isTable && html`<${ChartTable} chart=${chart} />`}
  </figure>`;
}
