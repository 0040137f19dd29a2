// One snapshot: its image, or why there is none, how it was taken, and what can be done with it.

import { useEffect, useState } from "preact/hooks";
import { call, get } from "../api/client.js";
import { may } from "../api/session.js";
import { bytes, count, duration, instant } from "../kit/format.js";
import { html } from "../kit/html.js";
import { bind } from "../kit/keys.js";
import { useEvery, useLoaded } from "../kit/loading.js";
import { loadAgain, loads } from "../kit/range.js";
import { go, href } from "../kit/router.js";
import { doing, toast } from "../kit/toasts.js";
import { Button } from "../parts/button.js";
import { Confirm } from "../parts/confirm.js";
import { Facts } from "../parts/facts.js";
import { Head } from "../parts/head.js";
import { Icon } from "../parts/icon.js";
import { Loaded } from "../parts/loaded.js";
import { Time } from "../parts/time.js";
import { Comparisons } from "./snapshots_cards.js";
import { NewSnapshot } from "./snapshots_new.js";
import { pathOfUrl, State, toCompare, windowOf } from "./snapshots_words.js";

/** @import { Snapshot } from "telltale" */

const RUNNING_MS = 1_000;
const isRunning = ({ status }) => status === "pending" || status === "capturing";

/**
 * @template {string} [R=""]
 * @param {string} id
 * @param {R} [rest]
 */
const pathOf = (id, rest) =>
  /** @type {`/snapshots/${string}${R}`} */ (`/snapshots/${encodeURIComponent(id)}${rest ?? ""}`);

/** Compares with the baseline, and goes to the comparison. */
async function compare(id, replace = false) {
  const made = await call("POST", pathOf(id, "/compare"));
  go(`/snapshots/${encodeURIComponent(made.comparison_id)}`, { replace });
}

/** @param {Snapshot} of */
const factsOf = (of) => [
  ["State", html`<${State} name=${of.status} />`],
  ["Window", windowOf(of)],
  ["Captured when", of.wait_for],
  of.captured_at && ["Captured", html`${instant(of.captured_at)} (in ${duration((of.duration_ms ?? 0) / 1000)})`],
  of.image_width && ["Image", `${of.image_width} × ${of.image_height}, ${bytes(of.image_size_bytes)}`],
  of.http_status && ["Response", `HTTP ${of.http_status}`],
  of.final_url && of.final_url !== of.url && ["Redirected to", of.final_url],
  of.hide_selectors.length > 0 && ["Hidden", of.hide_selectors.join(", ")],
  of.mask_selectors.length > 0 && ["Masked", of.mask_selectors.join(", ")],
  of.header_names.length > 0 && ["Headers", of.header_names.join(", ")],
  of.cookie_names.length > 0 && ["Cookies", of.cookie_names.join(", ")],
  ["Taken by", html`${of.created_by}, <${Time} at=${of.created_at} />`],
];

/**
 * What makes an image less than it seems.
 * @param {Props<{of: Snapshot}>} props
 */
function Warnings({ of }) {
  const left = of.refused_requests_total - of.refused_requests.length;
  return html`
    ${of.http_status !== null && of.http_status >= 400 && html`<p class="notice warn"><${Icon} name="triangle-alert" /><span>The page is the response HTTP ${of.http_status}.</span></p>`}
    ${of.truncated && html`<p class="notice warn"><${Icon} name="triangle-alert" /><span>The page is higher than its image.</span></p>`}
    ${of.unstable && html`<p class="notice warn"><${Icon} name="triangle-alert" /><span>The page went on changing: two snapshots of it may differ.</span></p>`}
    ${of.refused_requests_total > 0 && html`<div class="notice warn"><${Icon} name="triangle-alert" /><div>
      <p>${count(of.refused_requests_total, "request")} of the page ${of.refused_requests_total === 1 ? "was" : "were"} refused:</p>
      <ul>${of.refused_requests.map((one, i) => html`<li key=${i} class="wrap small">${one.host}:${one.port}: ${one.reason}</li>`)}
        ${left > 0 && html`<li class="small">and ${left} more</li>`}</ul></div></div>`}`;
}

function Made({ id }) {
  const [state] = useLoaded((abort) => get(`/comparisons?snapshot_id=${encodeURIComponent(id)}&limit=12`, abort), 0, loads.value);
  const rows = state.value.data?.comparisons ?? [];
  if (rows.length === 0) return null;
  return html`<section aria-label="Comparisons"><h2>Comparisons of this snapshot</h2><${Comparisons} rows=${rows} label="Comparisons of this snapshot" /></section>`;
}

/** @param {Props<{of: Snapshot}>} props */
function Image({ of }) {
  if (of.status === "failed") {
    return html`<p class="notice bad"><${Icon} name="circle-x" /><span>The page was not captured: ${of.error?.message ?? "no reason is known"}. <span class="mono">${of.error?.code}</span></span></p>`;
  }
  if (isRunning(of)) return html`<p class="notice" role="status"><${Icon} name="clock" /><span>${of.status === "pending" ? "The snapshot waits for its turn." : "The page is being captured."}</span></p>`;
  return html`<a class="shown" href=${pathOfUrl(of.image_url)} target="_blank" rel="noopener"><img src=${pathOfUrl(of.image_url)} width=${of.image_width} height=${of.image_height} alt="The page as it was captured" /></a>`;
}

/** @param {Props<{of: Snapshot}>} props */
function Shown({ of }) {
  return html`<div class="sections">
    <${Warnings} of=${of} />
    <div class="beside"><${Image} of=${of} />
      <section class="card" aria-label="How it was taken"><${Facts} facts=${factsOf(of)} />
        <a href=${href(`/snapshots/pages/${encodeURIComponent(of.page_id)}`)}>Baselines and history of the page</a></section></div>
    <${Made} id=${of.id} />
  </div>`;
}

export function Page({ params }) {
  const [asked, setAsked] = useState("");
  const [state, again] = useLoaded((abort) => get(pathOf(params.id), abort), 0, loads.value);
  const of = state.value.data;
  useEvery(again, of && isRunning(of) ? RUNNING_MS : 0);
  useEffect(() => bind("r", "Refresh", loadAgain), []);
  useEffect(() => {
    if (of?.status === "completed" && toCompare.delete(of.id)) doing(() => compare(of.id, true));
  }, [of?.status]);
  const makeBaseline = async () => {
    await call("POST", pathOf(params.id, "/baseline"));
    toast("The snapshot is the baseline of its page. The one before it can be restored.");
    if (of) go(`/snapshots/pages/${encodeURIComponent(of.page_id)}`);
  };
  const remove = async () => {
    await call("DELETE", pathOf(params.id));
    go("/snapshots?view=captures");
  };
  const close = () => setAsked("");
  const isDone = of?.status === "completed";
  return html`<${Head} title=${of?.url ?? "A snapshot"} above=${{ path: "/snapshots?view=captures", label: "Snapshots" }}>
      ${may("write") && of && html`
        ${isDone && html`<${Button} kind="first" work=${() => doing(() => compare(of.id))}><${Icon} name="blend" />Compare with the baseline<//>
          <${Button} work=${() => setAsked("baseline")}><${Icon} name="star" />Make it the baseline<//>`}
        <${Button} work=${() => setAsked("again")}><${Icon} name="camera" />Take it again<//>
        <${Button} kind="plain" work=${() => setAsked("delete")}><${Icon} name="trash-2" />Delete<//>`}<//>
    <${Loaded} state=${state} show=${(data) => html`<${Shown} of=${data} />`} />
    ${asked === "again" && html`<${NewSnapshot} like=${of} onClose=${close} />`}
    ${of && asked === "baseline" && html`<${Confirm} title="Make it the baseline?" act="Make it the baseline" work=${makeBaseline} onClose=${close}>
      <p>New snapshots of the page (${windowOf(of)}) are compared with this one. The baseline of now stays in the history and can be restored.</p><//>`}
    ${of && asked === "delete" && html`<${Confirm} title="Delete the snapshot?" act="Delete" work=${remove} onClose=${close}>
      <p>One snapshot of <strong class="wrap">${of.url}</strong> is deleted. Baselines and comparisons that were made of it keep its image. It cannot be undone.</p><//>`}`;
}
