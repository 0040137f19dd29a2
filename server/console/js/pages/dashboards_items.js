// Widgets of labelled numbers: bars, and parts of a whole.

import { share } from "../kit/format.js";
import { html } from "../kit/html.js";
import { COLOURS } from "../parts/chart_data.js";
import { exact, formatterOf } from "./dashboards_format.js";
import { levelAt } from "./dashboards_levels.js";

const nameOf = (label) => label || "(none)";
const NoItems = () => html`<p class="none-here quiet">No data in this range.</p>`;

/** Returns where a bar begins and how long it is, in percent of what all bars have. */
function extents(items) {
  const low = Math.min(0, ...items.map(({ value }) => value));
  const high = Math.max(0, ...items.map(({ value }) => value));
  // Halves: the span of two very large numbers is not a number.
  const span = high / 2 - low / 2 || 1;
  const at = (value) => ((value / 2 - low / 2) / span) * 100;
  return items.map(({ value }) => ({ from: Math.min(at(0), at(value)), size: Math.abs(at(value) - at(0)) }));
}

export function Bars({ widget, state, levels }) {
  const { items } = state.values;
  const format = formatterOf(widget.options);
  const isVertical = widget.options?.orientation === "vertical";
  if (items.length === 0) return html`<${NoItems} />`;
  const bars = extents(items);
  const rect = ({ from, size }) => isVertical
    ? html`<rect x="0" width="100%" y=${`${100 - from - size}%`} height=${`${size}%`} />`
    : html`<rect y="0" height="100%" x=${`${from}%`} width=${`${size}%`} />`;
  return html`<ul class=${isVertical ? "bars upright" : "bars"} tabindex="0" aria-label=${widget.title}>${items.map(({ label, value }, i) => html`<li key=${label} class=${levelAt(value, levels)}>
    <span class="name" title=${label}>${nameOf(label)}</span>
    <svg aria-hidden="true">${rect(bars[i])}</svg>
    <span class="number" title=${exact(value)}>${format(value)}</span></li>`)}</ul>`;
}

const CENTRE = 50;
const RADIUS = 49;
const HOLE = 30;

const point = (part, radius) => {
  const angle = part * 2 * Math.PI - Math.PI / 2;
  return `${(CENTRE + radius * Math.cos(angle)).toFixed(3)} ${(CENTRE + radius * Math.sin(angle)).toFixed(3)}`;
};

/** Returns the outline of a slice from one part of the circle to another. */
function slice(from, to) {
  // A whole circle has no arc: both ends are the same point.
  const end = Math.min(to, from + 0.9999);
  const large = end - from > 0.5 ? 1 : 0;
  return `M${point(from, RADIUS)}A${RADIUS} ${RADIUS} 0 ${large} 1 ${point(end, RADIUS)}L${point(end, HOLE)}A${HOLE} ${HOLE} 0 ${large} 0 ${point(from, HOLE)}Z`;
}

/** Returns the parts of the whole that items are; those that are not above zero are none. */
function partsOf(items) {
  const most = Math.max(...items.map(({ value }) => value), 0);
  if (most === 0) return items.map(() => 0);
  // Divided first: the sum of very large numbers is not a number.
  const scaled = items.map(({ value }) => Math.max(0, value / most));
  const total = scaled.reduce((sum, value) => sum + value, 0);
  return scaled.map((value) => value / total);
}

export function Pie({ widget, state }) {
  const { items } = state.values;
  const format = formatterOf(widget.options);
  if (items.length === 0) return html`<${NoItems} />`;
  const parts = partsOf(items);
  const hasLegend = widget.options?.show_legend !== false;
  const words = items.map(({ label, value }, i) => `${nameOf(label)} ${format(value)}, ${share(parts[i])}`);
  let from = 0;
  return html`<div class="pie">
    <svg viewBox="0 0 100 100" role="img" aria-label=${`${widget.title}: ${words.join("; ")}`}>${items.map(({ label }, i) => {
      const begin = from;
      from += parts[i];
      return parts[i] > 0 && html`<path key=${label} class=${`c${i % COLOURS}`} d=${slice(begin, from)}><title>${words[i]}</title></path>`;
    })}</svg>
    ${hasLegend && html`<ul class="slices" tabindex="0" aria-label=${`${widget.title}, parts`}>${items.map(({ label, value }, i) => html`<li key=${label}>
      <span class=${`swatch c${i % COLOURS}`}></span><span class="name" title=${label}>${nameOf(label)}</span>
      <span class="number" title=${exact(value)}>${format(value)}</span><span class="number quiet">${share(parts[i])}</span></li>`)}</ul>`}
  </div>`;
}
