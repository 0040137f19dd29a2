// Comparisons as cards, with a small image of what differs.

import { html } from "../kit/html.js";
import { href } from "../kit/router.js";
import { Time } from "../parts/time.js";
import { Address, Difference, imageOf, regionsOf, State, windowOf } from "./snapshots_words.js";

/** @import { Comparison } from "telltale" */

/** @param {Props<{of: Comparison}>} props */
function Card({ of }) {
  const which = of.diff_pixels > 0 ? "diff" : "snapshot";
  return html`<li class="card shot">
    <a href=${href(`/snapshots/${encodeURIComponent(of.id)}`)}>
      <span class="thumb"><img src=${imageOf(of, which)} alt="" loading="lazy" decoding="async" /></span>
      <${Address} url=${of.url} /></a>
    <p class="line"><${Difference} of=${of} /><${State} name=${of.status} /></p>
    <p class="quiet small">${regionsOf(of)}, ${windowOf(of)}, <${Time} at=${of.created_at} /></p>
    ${of.reason && html`<p class="small wrap">“${of.reason}”</p>`}
  </li>`;
}

export function Comparisons({ rows, label }) {
  return html`<ul class="shots" aria-label=${label}>${rows.map((of) => html`<${Card} key=${of.id} of=${of} />`)}</ul>`;
}
