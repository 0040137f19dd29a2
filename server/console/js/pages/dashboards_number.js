// A widget of one number, with what it was before, and how it went.

import { html } from "../kit/html.js";
import { share } from "../kit/format.js";
import { Icon } from "../parts/icon.js";
import { exact, formatterOf } from "./dashboards_format.js";
import { levelAt } from "./dashboards_levels.js";
import { useTrend } from "./dashboards_trend.js";

const WIDTH = 100;
const HEIGHT = 30;
const ICONS = { good: "circle-check", warning: "triangle-alert", critical: "circle-x" };

/** Returns the line and the area below it as paths. */
function pathsOf(values) {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const span = high - low || 1;
  const points = values.map((value, i) => {
    const x = (i / (values.length - 1)) * WIDTH;
    const y = HEIGHT - 1 - ((value - low) / span) * (HEIGHT - 3);
    return `${x.toFixed(2)} ${y.toFixed(2)}`;
  });
  const line = `M${points.join("L")}`;
  return { line, area: `${line}L${WIDTH} ${HEIGHT}L0 ${HEIGHT}Z` };
}

function Trend({ values }) {
  const { line, area } = pathsOf(values);
  return html`<svg class="trend" viewBox=${`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
    <path class="area" d=${area} /><path class="line" d=${line} vector-effect="non-scaling-stroke" /></svg>`;
}

function Change({ values, format }) {
  const { previous_value: previous, change_percent: change } = values;
  if (previous === null) return html`<p class="change quiet">nothing before</p>`;
  const sign = change > 0 ? "+" : "";
  return html`<p class="change quiet">${typeof change === "number" ? html`<strong>${sign}${share(change / 100)}</strong> from ` : "before: "}<span
    title=${exact(previous)}>${format(previous)}</span></p>`;
}

export function NumberWidget({ widget, state, levels, declared }) {
  const { values } = state;
  const trend = useTrend(widget, state, declared);
  const format = formatterOf(widget.options, { isWhole: true });
  const level = levelAt(values.value, levels);
  return html`<div class=${`figure ${level}`}>
    <p class="value" title=${exact(values.value)}>${format(values.value)}${ICONS[level] && html` <${Icon} name=${ICONS[level]} />`}${level && html`<span class="unseen">, ${level}</span>`}</p>
    ${values.previous_value !== undefined && html`<${Change} values=${values} format=${format} />`}
    ${trend && html`<${Trend} values=${trend} />`}
  </div>`;
}
