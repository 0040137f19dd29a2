// Comparisons to review, the snapshots that were taken, and the baselines that they are compared with.

import { useEffect, useState } from "preact/hooks";
import { get } from "../api/client.js";
import { may } from "../api/session.js";
import { html } from "../kit/html.js";
import { bind } from "../kit/keys.js";
import { useLoaded } from "../kit/loading.js";
import { loadAgain, loads, refresh } from "../kit/range.js";
import { inQuery, place } from "../kit/router.js";
import { Button } from "../parts/button.js";
import { QuerySelect } from "../parts/fields.js";
import { Head } from "../parts/head.js";
import { Icon } from "../parts/icon.js";
import { Loaded } from "../parts/loaded.js";
import { PAGE_ROWS, Steps, stepsQuery } from "../parts/pager.js";
import { Tabs, viewOf } from "../parts/tabs.js";
import { Baselines } from "./snapshots_baselines.js";
import { Captures } from "./snapshots_captures.js";
import { Comparisons } from "./snapshots_cards.js";
import { NewSnapshot } from "./snapshots_new.js";

const VIEWS = [
  { name: "comparisons", label: "Comparisons" },
  { name: "captures", label: "Snapshots" },
  { name: "baselines", label: "Baselines" },
];
const STATES = [
  { value: "pending_review", label: "To review" },
  { value: "approved", label: "Approved" },
  { value: "rejected", label: "Rejected" },
  { value: "all", label: "All comparisons" },
];
const EMPTY = {
  pending_review: "Nothing is to be reviewed.",
  approved: "No comparison is approved.",
  rejected: "No comparison is rejected.",
  all: "No comparisons yet: take a snapshot of a page that has a baseline, and compare them.",
};

function Reviews() {
  const state = inQuery("status", "pending_review");
  const filter = state === "all" ? "" : `&status=${encodeURIComponent(state)}`;
  const path = /** @type {const} */ (`/comparisons?${stepsQuery()}${filter}`);
  const [loaded] = useLoaded((abort) => get(path, abort), refresh.value * 1000, `${path} ${loads.value}`);
  const empty = { is: ({ comparisons }) => comparisons.length === 0 && !inQuery("offset"), text: EMPTY[state] ?? "Nothing found." };
  const show = ({ comparisons }) => html`<${Comparisons} rows=${comparisons.slice(0, PAGE_ROWS)} label="Comparisons" /><${Steps} rows=${comparisons} />`;
  return html`<div class="filters"><${QuerySelect} name="status" label="State" options=${STATES} /></div>
    <${Loaded} key=${state} state=${loaded} show=${show} empty=${empty} />`;
}

const SHOWN = { comparisons: Reviews, captures: Captures, baselines: Baselines };

export function Page() {
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    const undo = [bind("r", "Refresh", loadAgain), bind("c", "Take a snapshot", () => may("write") && setOpen(true))];
    return () => undo.forEach((one) => one());
  }, []);
  const view = viewOf(VIEWS);
  const View = SHOWN[view];
  return html`<${Head} title="Snapshots">
      <${Button} work=${loadAgain}><${Icon} name="refresh-cw" />Refresh<//>
      ${may("write") && html`<${Button} kind="first" work=${() => setOpen(true)}><${Icon} name="camera" />Take a snapshot<//>`}<//>
    <${Tabs} label="Views" views=${VIEWS} />
    <${View} key=${`${view} ${place.value.query.get("status")}`} />
    ${isOpen && html`<${NewSnapshot} onClose=${() => setOpen(false)} />`}`;
}
