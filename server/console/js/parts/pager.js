// The way through a long list: which part is shown, and links to the parts before and after it.

import { amount } from "../kit/format.js";
import { html } from "../kit/html.js";
import { href, place } from "../kit/router.js";
import { Icon } from "./icon.js";

/** Rows of a page of a list. */
export const PAGE_ROWS = 50;

/** Returns where the list begins that the address names. */
export function offsetOf(name = "offset") {
  const offset = Number(place.value.query.get(name));
  return Number.isSafeInteger(offset) && offset > 0 ? offset : 0;
}

function linkTo(name, offset) {
  const query = new URLSearchParams(place.value.query);
  query.delete(name);
  if (offset > 0) query.set(name, String(offset));
  const text = query.toString();
  return href(place.value.path) + (text && `?${text}`);
}

/** Returns the position of a list without a total, of which one row more than a part was asked for. */
export function metaOf(rows, offset, limit = PAGE_ROWS) {
  return { total: null, limit, offset, isMore: rows.length > limit };
}

function textOf({ total, limit, offset }, last) {
  if (total === null) return `${amount(offset + 1)} to ${amount(offset + limit)}`;
  return total === 0 || offset >= total ? `none of ${amount(total)}` : `${amount(offset + 1)} to ${amount(last)} of ${amount(total)}`;
}

/** `meta` is `{total, limit, offset}` of the API, or that of `metaOf`. */
export function Pager({ meta, name = "offset" }) {
  const { total, limit, offset, isMore } = meta;
  const last = total === null ? offset + limit : Math.min(total, offset + limit);
  const hasAfter = total === null ? isMore : last < total;
  if (!hasAfter && offset === 0) return null;
  return html`<nav class="pager" aria-label="Parts of the list">
    <span>${textOf(meta, last)}</span>
    ${offset > 0 && html`<a class="button" href=${linkTo(name, Math.max(0, offset - limit))} rel="prev"><${Icon} name="chevron-left" />Before</a>`}
    ${hasAfter && html`<a class="button" href=${linkTo(name, offset + limit)} rel="next">After<${Icon} name="chevron-right" /></a>`}
  </nav>`;
}
