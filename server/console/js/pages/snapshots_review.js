// The review of a comparison: what differs, and the decision about it.

import { useEffect, useRef, useState } from "preact/hooks";
import { call, get } from "../api/client.js";
import { may } from "../api/session.js";
import { useElement } from "../kit/element.js";
import { instant, whole } from "../kit/format.js";
import { html } from "../kit/html.js";
import { bind } from "../kit/keys.js";
import { useLoaded } from "../kit/loading.js";
import { go, href, inQuery, setQuery } from "../kit/router.js";
import { doing, toast } from "../kit/toasts.js";
import { Button } from "../parts/button.js";
import { Confirm } from "../parts/confirm.js";
import { Head } from "../parts/head.js";
import { Icon } from "../parts/icon.js";
import { Loaded } from "../parts/loaded.js";
import { nudge, Stage, Tools, useSizes, VIEWS } from "./snapshots_stage.js";
import { Difference, LIST_MAX, percent, placeOf, regionsOf, State, windowOf } from "./snapshots_words.js";

/** @import { Comparison } from "telltale" */

/**
 * @template {string} [R=""]
 * @param {string} id
 * @param {R} [rest]
 */
const pathOf = (id, rest) =>
  /** @type {`/comparisons/${string}${R}`} */ (`/comparisons/${encodeURIComponent(id)}${rest ?? ""}`);

/** @param {Props<{of: Comparison}>} props */
function Facts({ of }) {
  return html`<div class="line facts-line"><${Difference} of=${of} />
    <span>${whole(of.diff_pixels)} of ${whole(of.total_pixels)} pixels</span>
    <span>${regionsOf(of)}</span><span>${windowOf(of)}</span>
    ${of.sizes_differ && html`<span class="tag warn">the sizes differ</span>`}
    ${of.ignore_regions.length > 0 && html`<span>${of.ignore_regions.length} ignored</span>`}
    <${State} name=${of.status} /></div>`;
}

/**
 * Who decided what, and what can be done about it.
 * @param {Props<{of: Comparison}>} props
 */
function Decided({ of, current, onAsk }) {
  const [by, at] = of.status === "approved" ? [of.approved_by, of.approved_at] : [of.rejected_by, of.rejected_at];
  const isBaseline = current?.snapshot_id === of.snapshot_id;
  return html`<section class="card" aria-label="Decision"><p><strong>${of.status === "approved" ? "Approved" : "Rejected"}</strong> by ${by}, ${instant(at)}.
      ${of.reason && html` <span class="wrap">“${of.reason}”</span>`}</p>
    <p class="small quiet">${isBaseline ? "The snapshot is the baseline of its page now." : "The baseline of the page is another image now."}</p>
    ${may("write") && html`<div class="acts">
      ${of.status === "approved" && isBaseline && current.id !== of.baseline_id && html`<${Button} work=${() => onAsk("restore")}><${Icon} name="undo-2" />Restore the baseline before it<//>`}
      ${of.status === "rejected" && !isBaseline && html`<${Button} work=${() => onAsk("update")}><${Icon} name="star" />Make the snapshot the baseline<//>`}
    </div>`}</section>`;
}

function Decide({ reason, onDecide }) {
  return html`<section class="card decide" aria-label="Decision">
    <div class="field"><label for="reason">Reason <span class="quiet">(optional)</span></label><input id="reason" ref=${reason} maxlength="2000" autocomplete="off" /></div>
    <${Button} kind="first" work=${() => onDecide("approve")}><${Icon} name="check" />Approve <kbd aria-hidden="true">a</kbd><//>
    <${Button} kind="grave" work=${() => onDecide("reject")}><${Icon} name="x" />Reject <kbd aria-hidden="true">r</kbd><//>
  </section>`;
}

/** @param {Props<{of: Comparison}>} props */
function Regions({ of, current, onChoose }) {
  if (of.regions.length === 0) return null;
  const left = of.regions_total - of.regions.length;
  return html`<section class="card" aria-label="Changed regions"><header><h2>Changed regions</h2><span class="quiet small"><kbd>j</kbd> <kbd>k</kbd></span></header>
    <ol class="regions">${of.regions.map((one, i) => html`<li key=${i}><button type="button" class="button small" aria-pressed=${i === current ? "true" : "false"} onClick=${() => onChoose(i)}>
      ${one.width} × ${one.height} <span class="quiet">at ${one.x}, ${one.y}</span></button></li>`)}</ol>
    ${left > 0 && html`<p class="quiet small">The largest ${of.regions.length} of ${whole(of.regions_total)}.</p>`}</section>`;
}

/** Goes to the next comparison that is to be reviewed: the one below in the list, or else the first. */
async function goToNext(id) {
  const { comparisons } = await get(`/comparisons?status=pending_review&limit=${LIST_MAX}`);
  const others = comparisons.filter((one) => one.id !== id);
  const next = others.find((one) => one.id < id) ?? others[0];
  const kept = new URLSearchParams(["view", "zoom"].map((name) => [name, inQuery(name)]).filter(([, value]) => value)).toString();
  if (next) go(`/snapshots/${encodeURIComponent(next.id)}${kept && `?${kept}`}`);
  else toast("Nothing else is to be reviewed.");
}

/** @param {Props<{of: Comparison}>} props */
function Questions({ asked, of, onClose, onRestore, onUpdate, onDelete }) {
  if (asked === "restore") return html`<${Confirm} title="Restore the baseline?" act="Restore" work=${onRestore} onClose=${onClose}>
    <p>New snapshots are compared again with the image that this one was compared with. The comparison stays approved.</p><//>`;
  if (asked === "update") return html`<${Confirm} title="Make the snapshot the baseline?" act="Make it the baseline" work=${onUpdate} onClose=${onClose}>
    <p>New snapshots are compared with it. The comparison stays rejected, and the baseline of now can be restored.</p><//>`;
  return html`<${Confirm} title="Delete the comparison?" act="Delete" work=${onDelete} onClose=${onClose}>
    <p>One comparison of <strong class="wrap">${of.url}</strong> is deleted, with its difference. The snapshot and the baseline stay. It cannot be undone.</p><//>`;
}

/** @param {Props<{of: Comparison}>} props */
function Review({ of, again, asked, onAsk }) {
  const reason = /** @type {ElementRef<HTMLInputElement>} */ (useElement());
  const running = useRef(false);
  const sizes = useSizes(of);
  const [isShown, setShown] = useState(true);
  const [baselines, readBaselines] = useLoaded((abort) => get(`/baselines?page_id=${encodeURIComponent(of.page_id)}&current=true&limit=${LIST_MAX}`, abort), 0, of.status);
  const here = (baselines.value.data?.baselines ?? []).filter((one) => placeOf(one) === placeOf(of));
  // Windows of other pixel ratios are other places, which comparisons do not name.
  const current = here.find((one) => one.id === of.baseline_id || one.id === of.new_baseline_id || one.snapshot_id === of.snapshot_id) ?? (here.length === 1 ? here[0] : undefined);
  const wanted = Number.parseInt(inQuery("region"), 10);
  const region = wanted > 0 && wanted <= of.regions.length ? wanted - 1 : -1;
  const choose = (i) => setQuery({ region: String(i + 1) }, { replace: true });
  const restore = async () => {
    await call("POST", `/baselines/${encodeURIComponent(of.baseline_id)}/restore`);
    readBaselines();
    toast("The baseline is the one before again.");
  };
  const update = async () => {
    await call("POST", pathOf(of.id, "/update_baseline"));
    readBaselines();
    toast("The snapshot is the baseline of its page.");
  };
  const remove = async () => {
    await call("DELETE", pathOf(of.id));
    go("/snapshots");
  };
  const decideOnce = async (verb) => {
    if (of.status !== "pending_review") return toast(`The comparison is ${of.status} already.`, { kind: "bad" });
    const body = reason.current?.value.trim() ? { reason: reason.current.value.trim() } : {};
    const isDone = await doing(() => call("POST", pathOf(of.id, `/${verb}`), { body }));
    await again();
    if (!isDone) return undefined;
    // A rejection changed no baseline, so there is none to take back.
    return verb === "approve"
      ? toast("Approved: the snapshot is the baseline of its page.", { undo: () => doing(restore) })
      : toast("Rejected: the baseline stays.");
  };
  // The buttons and the keys share it: one decision at a time.
  const decide = async (verb) => {
    if (running.current) return;
    running.current = true;
    await decideOnce(verb).finally(() => (running.current = false));
  };
  const act = useRef({ decide, isShown, region });
  act.current = { decide, isShown, region };
  useEffect(() => {
    const step = (by) => choose(Math.max(0, Math.min(of.regions.length - 1, act.current.region + by)));
    const undo = [
      ...VIEWS.map(({ name, label }, i) => bind(String(i + 1), label, () => setQuery({ view: i === 0 ? null : name }))),
      bind("b", "Show or hide the boxes around changes", () => setShown(!act.current.isShown)),
      bind(",", "Move the slider to the left", () => nudge(-1), { isRepeated: true }),
      bind(".", "Move the slider to the right", () => nudge(1), { isRepeated: true }),
      bind("n", "Next comparison to review", () => doing(() => goToNext(of.id))),
      ...(of.regions.length > 0 ? [bind("j", "Next region", () => step(1), { isRepeated: true }), bind("k", "Region before", () => step(-1), { isRepeated: true })] : []),
      ...(may("write") ? [bind("a", "Approve", () => act.current.decide("approve")), bind("r", "Reject", () => act.current.decide("reject"))] : []),
    ];
    return () => undo.forEach((one) => one());
  }, [of.id]);
  const regions = { isShown, current: region };
  return html`<div class="sections review"><${Facts} of=${of} />
    ${of.status === "pending_review" ? may("write") && html`<${Decide} reason=${reason} onDecide=${decide} />` : html`<${Decided} of=${of} current=${current} onAsk=${onAsk} />`}
    <div><${Tools} regions=${regions} onRegions=${() => setShown(!isShown)} />
      ${sizes ? html`<${Stage} of=${of} sizes=${sizes} regions=${regions} />` : html`<p class="quiet" role="status">The images are loading…</p>`}</div>
    <${Regions} of=${of} current=${region} onChoose=${choose} />
    <p class="small quiet">Threshold ${percent(of.threshold)}. Compared by ${of.created_by}, ${instant(of.created_at)}.
      ${" "}<a href=${href(`/snapshots/captures/${encodeURIComponent(of.snapshot_id)}`)}>The snapshot</a>${" · "}<a href=${href(`/snapshots/pages/${encodeURIComponent(of.page_id)}`)}>Baselines and history of the page</a></p>
    ${asked && html`<${Questions} asked=${asked} of=${of} onClose=${() => onAsk("")} onRestore=${restore} onUpdate=${update} onDelete=${remove} />`}
  </div>`;
}

export function Page({ params }) {
  const [asked, setAsked] = useState("");
  const [state, again] = useLoaded((abort) => get(pathOf(params.id), abort));
  return html`<${Head} title=${state.value.data?.url ?? "A comparison"} above=${{ path: "/snapshots", label: "Comparisons" }}>
      <${Button} work=${() => doing(() => goToNext(params.id))}>Next <kbd aria-hidden="true">n</kbd><${Icon} name="chevron-right" /><//>
      ${may("write") && state.value.data && html`<${Button} kind="plain" work=${() => setAsked("delete")}><${Icon} name="trash-2" />Delete<//>`}<//>
    <${Loaded} state=${state} show=${(of) => html`<${Review} of=${of} again=${again} asked=${asked} onAsk=${setAsked} />`} />`;
}
