// The way through a long list: which part is shown, and links to the parts before and after it.

import { whole } from "../kit/format.js";
import { html } from "../kit/html.js";
import { hrefHere, place } from "../kit/router.js";
import { Icon } from "./icon.js";

/** Rows of a page of a list. */
export const PAGE_ROWS = 50;

/** Returns where the list begins that the address names. */
export function offsetOf(name = "offset") {
  const offset = Number(place.value.query.get(name));
  return Number.isSafeInteger(offset) && offset > 0 ? offset : 0;
}

const linkTo = (name, offset) => hrefHere({ [name]: offset > 0 ? offset : null });

/** `meta` is `{total, limit, offset}` of the API. */
export function Pager({ meta, name = "offset" }) {
  const { total, limit, offset } = meta;
  if (total <= limit && offset === 0) return null;
  const last = Math.min(total, offset + limit);
  return html`<nav class="pager" aria-label="Parts of the list">
    <span>${total === 0 || offset >= total ? `none of ${whole(total)}` : `${whole(offset + 1)} to ${whole(last)} of ${whole(total)}`}</span>
    ${offset > 0 && html`<a class="button" href=${linkTo(name, Math.max(0, offset - limit))} rel="prev"><${Icon} name="chevron-left" />Before</a>`}
    ${last < total && html`<a class="button" href=${linkTo(name, offset + limit)} rel="next">After<${Icon} name="chevron-right" /></a>`}
  </nav>`;
}

/** Returns the query of a list whose length the API does not say: a row more than is shown tells whether there are further ones. */
export function stepsQuery(name) {
  return `limit=${PAGE_ROWS + 1}&offset=${offsetOf(name)}`;
}

/** `rows` is what such a query found. */
export function Steps({ rows, name = "offset" }) {
  const offset = offsetOf(name);
  const hasMore = rows.length > PAGE_ROWS;
  if (!hasMore && offset === 0) return null;
  const last = offset + Math.min(rows.length, PAGE_ROWS);
  return html`<nav class="pager" aria-label="Parts of the list">
    <span>${last > offset ? `${whole(offset + 1)} to ${whole(last)}` : "nothing further"}</span>
    ${offset > 0 && html`<a class="button" href=${linkTo(name, Math.max(0, offset - PAGE_ROWS))} rel="prev"><${Icon} name="chevron-left" />Before</a>`}
    ${hasMore && html`<a class="button" href=${linkTo(name, offset + PAGE_ROWS)} rel="next">After<${Icon} name="chevron-right" /></a>`}
  </nav>`;
}
