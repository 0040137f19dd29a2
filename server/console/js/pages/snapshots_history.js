// The history of a page: its baselines, which can be restored, its comparisons and its snapshots.

import { useEffect, useState } from "preact/hooks";
import { call, get } from "../api/client.js";
import { may } from "../api/session.js";
import { html } from "../kit/html.js";
import { bind } from "../kit/keys.js";
import { useLoaded } from "../kit/loading.js";
import { loadAgain, loads, refresh } from "../kit/range.js";
import { href } from "../kit/router.js";
import { doing, toast } from "../kit/toasts.js";
import { Button } from "../parts/button.js";
import { Confirm } from "../parts/confirm.js";
import { Head } from "../parts/head.js";
import { Icon } from "../parts/icon.js";
import { Failure, Loaded } from "../parts/loaded.js";
import { Time } from "../parts/time.js";
import { Comparisons } from "./snapshots_cards.js";
import { NewSnapshot } from "./snapshots_new.js";
import { LIST_MAX, ORIGINS, pathOfUrl, placeOf, windowOf } from "./snapshots_words.js";

const COMPARISONS_SHOWN = 12;

/** @param {Baseline[]} baselines */
function groupsOf(baselines) {
  const groups = new Map();
  for (const one of baselines) groups.set(placeOf(one), [...(groups.get(placeOf(one)) ?? []), one]);
  return [...groups.values()];
}

/** @param {Props<{of: Baseline}>} props */
function Baseline({ of, onAsk }) {
  const path = pathOfUrl(of.image_url);
  const from = of.comparison_id && html`<a href=${href(`/snapshots/${encodeURIComponent(of.comparison_id)}`)}>the comparison</a>`;
  return html`<li class=${`card shot ${of.current ? "current" : ""}`}>
    <a href=${path} target="_blank" rel="noopener"><span class="thumb"><img src=${path} alt="" loading="lazy" decoding="async" /></span>
      <span class="unseen">The image of the baseline of </span><strong><${Time} at=${of.created_at} /></strong></a>
    <p class="line"><span class="small">${ORIGINS[of.origin] ?? of.origin}</span>${of.current && html`<span class="tag good">current</span>`}</p>
    <p class="quiet small">by ${of.created_by}${from && html`, ${from}`}, ${of.image_width} × ${of.image_height}</p>
    ${may("write") && html`<p class="acts">
      ${!of.current && html`<${Button} kind="small" label=${`Restore the baseline of ${of.created_at}`} work=${() => onAsk({ restored: of })}><${Icon} name="history" />Restore<//>`}
      <${Button} kind="plain small" label=${`Delete the baseline of ${of.created_at}`} work=${() => onAsk({ deleted: of })}><${Icon} name="trash-2" />Delete<//></p>`}
  </li>`;
}

function Questions({ asked, current, onClose, onDone }) {
  const { restored, deleted } = asked;
  if (restored) {
    const undo = () => doing(async () => {
      await call("POST", `/baselines/${encodeURIComponent(current.id)}/restore`);
      onDone();
    }, "The baseline is the one before again.");
    const restore = async () => {
      await call("POST", `/baselines/${encodeURIComponent(restored.id)}/restore`);
      toast("The baseline is restored.", { undo: current && undo });
      onDone();
    };
    return html`<${Confirm} title="Restore the baseline?" act="Restore" work=${restore} onClose=${onClose}>
      <p>New snapshots (${windowOf(restored)}) are compared with the image of <${Time} at=${restored.created_at} /> again. The baseline of now stays in the history.</p><//>`;
  }
  const remove = async () => {
    await call("DELETE", `/baselines/${encodeURIComponent(deleted.id)}`);
    onDone();
  };
  return html`<${Confirm} title="Delete the baseline?" act="Delete" work=${remove} onClose=${onClose}>
    <p>One baseline (${windowOf(deleted)}) of <strong class="wrap">${deleted.url}</strong> is deleted. It cannot be undone.</p>
    ${deleted.current && html`<p class="wrong">It is the current one: the one before it is used then. Without any, the next snapshot becomes the baseline.</p>`}<//>`;
}

function Groups({ baselines, onAsk }) {
  return groupsOf(baselines).map((group) => html`<section key=${placeOf(group[0])} aria-label=${`Baselines, ${windowOf(group[0])}`}>
    <h2>${windowOf(group[0])}</h2>
    <ul class="shots" aria-label="Baselines, newest first">${group.map((of) => html`<${Baseline} key=${of.id} of=${of} onAsk=${onAsk} />`)}</ul></section>`);
}

function Recent({ id }) {
  const path = /** @type {const} */ (`/comparisons?page_id=${encodeURIComponent(id)}&limit=${COMPARISONS_SHOWN}`);
  const [state] = useLoaded((abort) => get(path, abort), refresh.value * 1000, loads.value);
  const empty = { is: ({ comparisons }) => comparisons.length === 0, text: "No comparisons yet." };
  return html`<section aria-label="Comparisons"><h2>Newest comparisons</h2>
    <${Loaded} state=${state} empty=${empty} show=${({ comparisons }) => html`<${Comparisons} rows=${comparisons} label="Newest comparisons" />`} /></section>`;
}

/** @import { Baseline } from "telltale" */

export function Page({ params }) {
  const [asked, setAsked] = useState(/** @type {{isNew?: boolean, restored?: Baseline, deleted?: Baseline}} */ ({}));
  const path = /** @type {const} */ (`/baselines?page_id=${encodeURIComponent(params.id)}&limit=${LIST_MAX}`);
  const [state, again] = useLoaded((abort) => get(path, abort), refresh.value * 1000, loads.value);
  useEffect(() => bind("r", "Refresh", loadAgain), []);
  const { data, failure } = state.value;
  const baselines = data?.baselines ?? [];
  const close = () => setAsked({});
  const restored = asked.restored ?? asked.deleted;
  const current = restored && baselines.find((one) => one.current && placeOf(one) === placeOf(restored));
  const newest = baselines[0];
  const like = newest && { ...newest, wait_for: "network_idle", hide_selectors: [], mask_selectors: [], header_names: [], cookie_names: [] };
  return html`<${Head} title=${newest?.url ?? "A page"} above=${{ path: "/snapshots?view=baselines", label: "Baselines" }}>
      <${Button} work=${loadAgain}><${Icon} name="refresh-cw" />Refresh<//>
      ${may("write") && like && html`<${Button} work=${() => setAsked({ isNew: true })}><${Icon} name="camera" />Take a snapshot<//>`}<//>
    <div class="sections">
      ${failure && !data ? html`<${Failure} failure=${failure} />` : !data ? html`<p class="quiet">Loading…</p>`
        : baselines.length === 0 ? html`<p class="none"><${Icon} name="image" />This page has no baselines: its next snapshot becomes one.</p>`
        : html`<${Groups} baselines=${baselines} onAsk=${setAsked} />`}
      <${Recent} id=${params.id} />
    </div>
    ${restored && html`<${Questions} asked=${asked} current=${current} onClose=${close} onDone=${again} />`}
    ${asked.isNew && html`<${NewSnapshot} like=${like} onClose=${close} />`}`;
}
