// Names with values of any type, as a list; values that are objects or lists are shown as JSON.

import { html } from "../kit/html.js";
import { isExact, json, text } from "../kit/json.js";

const SHORT = 60;
const LONG = 1_500;

/** Returns the pairs of an object, or of a list of pairs, as SDKs send headers: there names may be of any type. */
export function pairsOf(value) {
  const isOfPairs = Array.isArray(value) && value.every((pair) => Array.isArray(pair) && pair.length === 2);
  if (isOfPairs) return value.map(([name, one]) => [text(name), one]);
  if (Array.isArray(value)) return value.map((one, i) => [String(i), one]);
  return value && typeof value === "object" && !isExact(value) ? Object.entries(value) : [];
}

function Value({ of }) {
  if (of === null || of === undefined) return html`<span class="quiet">null</span>`;
  if (typeof of === "string") return of === "" ? html`<span class="quiet">empty</span>` : html`<bdi>${of}</bdi>`;
  if (typeof of === "object" && !isExact(of)) {
    const flat = JSON.stringify(of);
    return html`<bdi>${flat.length > SHORT ? json(of) : flat}</bdi>`;
  }
  return html`<bdi>${json(of)}</bdi>`;
}

/** A long value scrolls by itself, also by keyboard. */
function Cell({ name, value, children }) {
  const isLong = typeof value === "string" ? value.length > LONG : value && typeof value === "object" && JSON.stringify(value).length > LONG;
  return isLong ? html`<dd class="long" tabindex="0" aria-label=${name}>${children}</dd>` : html`<dd>${children}</dd>`;
}

/**
 * `link(name, value)` may give a value an address.
 * @param {{pairs: [string, unknown][], link?: ((name: string, value: unknown) => string) | null}} props
 */
export function Pairs({ pairs, link = null }) {
  return html`<dl class="pairs">${pairs.map(([name, value], i) => html`<div key=${i}><dt><bdi>${name}</bdi></dt>
    <${Cell} name=${name} value=${value}>${link ? html`<a href=${link(name, value)}><${Value} of=${value} /></a>` : html`<${Value} of=${value} />`}<//></div>`)}</dl>`;
}
