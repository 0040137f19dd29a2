// The baselines that new snapshots are compared with.

import { get } from "../api/client.js";
import { html } from "../kit/html.js";
import { useLoaded } from "../kit/loading.js";
import { loads, refresh } from "../kit/range.js";
import { href, inQuery } from "../kit/router.js";
import { Loaded } from "../parts/loaded.js";
import { PAGE_ROWS, Steps, stepsQuery } from "../parts/pager.js";
import { Time } from "../parts/time.js";
import { Address, ORIGINS, pathOfUrl, windowOf } from "./snapshots_words.js";

/** @import { Baseline } from "telltale" */

/** @param {Props<{of: Baseline}>} props */
function Card({ of }) {
  return html`<li class="card shot">
    <a href=${href(`/snapshots/pages/${encodeURIComponent(of.page_id)}`)}>
      <span class="thumb"><img src=${pathOfUrl(of.image_url)} alt="" loading="lazy" decoding="async" /></span>
      <${Address} url=${of.url} /></a>
    <p class="small">${windowOf(of)}</p>
    <p class="quiet small">${ORIGINS[of.origin] ?? of.origin}, by ${of.created_by}, <${Time} at=${of.created_at} /></p>
  </li>`;
}

export function Baselines() {
  const path = /** @type {const} */ (`/baselines?current=true&${stepsQuery()}`);
  const [loaded] = useLoaded((abort) => get(path, abort), refresh.value * 1000, `${path} ${loads.value}`);
  const empty = { is: ({ baselines }) => baselines.length === 0 && !inQuery("offset"), text: "No baselines yet: the first snapshot of a page becomes one." };
  const show = ({ baselines }) => html`<ul class="shots" aria-label="Baselines">${baselines.slice(0, PAGE_ROWS).map((of) => html`<${Card} key=${of.id} of=${of} />`)}</ul>
    <${Steps} rows=${baselines} />`;
  return html`<${Loaded} state=${loaded} show=${show} empty=${empty} />`;
}
