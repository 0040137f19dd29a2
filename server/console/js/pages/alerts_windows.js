// Maintenance windows: when notifications are muted, and for which rules.

import { useState } from "preact/hooks";
import { call, get } from "../api/client.js";
import { instant, minute } from "../kit/format.js";
import { html } from "../kit/html.js";
import { useLoaded } from "../kit/loading.js";
import { href, inQuery } from "../kit/router.js";
import { toast } from "../kit/toasts.js";
import { Button } from "../parts/button.js";
import { Confirm } from "../parts/confirm.js";
import { QuerySelect } from "../parts/fields.js";
import { Head } from "../parts/head.js";
import { Icon } from "../parts/icon.js";
import { Loaded } from "../parts/loaded.js";
import { PAGE_ROWS, Pager, offsetOf } from "../parts/pager.js";
import { Table } from "../parts/table.js";
import { Time } from "../parts/time.js";
import { AlertsNav } from "./alerts_nav.js";

/** @import { MaintenanceWindow, MaintenanceWindowSummary } from "telltale" */

const CURRENT = [{ value: "", label: "All" }, { value: "true", label: "muting now" }, { value: "false", label: "not muting now" }];
const REFRESH_MS = 30_000;

function load(abort) {
  const query = new URLSearchParams({ limit: String(PAGE_ROWS), offset: String(offsetOf()) });
  if (inQuery("current")) query.set("current", inQuery("current"));
  return get(`/maintenance_windows?${query}`, abort);
}

/**
 * Whether a window is over, muting, to come, or switched off.
 * @param {MaintenanceWindowSummary} window
 */
function stateOf({ active, currently_active: isCurrent, recurring, starts_at: starts, ends_at: ends }) {
  if (!active) return ["switched off", ""];
  if (isCurrent) return ["muting now", "warn"];
  if (recurring) return ["recurring", "good"];
  if (Date.parse(ends) < Date.now()) return ["over", ""];
  return Date.parse(starts) > Date.now() ? ["planned", "good"] : ["active", ""];
}

/** @returns {Column<MaintenanceWindowSummary>[]} */
function columns(onEnd) {
  return [
    { label: "Name", cell: (one) => html`<a class="name" href=${href(`/alerts/windows/${encodeURIComponent(one.id)}`)}>${one.name}</a>` },
    { label: "State", cell: (one) => html`<span class=${`tag ${stateOf(one)[1]}`}>${stateOf(one)[0]}</span>` },
    { label: "From", cell: (one) => html`<span title=${instant(one.starts_at)}>${minute(one.starts_at)}</span>` },
    { label: "To", cell: (one) => html`<span title=${instant(one.ends_at)}>${minute(one.ends_at)}</span>` },
    { label: "Made", cell: (one) => html`<${Time} at=${one.created_at} />` },
    { label: "Actions", isUnseen: true, isEnd: true, cell: (one) => one.currently_active && html`<${Button} label=${`End now: ${one.name}`} work=${() => onEnd(one)}>End now<//>` },
  ];
}

/**
 * Ends a window now: one that recurs is switched off, another one gets an end.
 * @param {Props<{window: MaintenanceWindowSummary | MaintenanceWindow}>} props
 */
export function EndWindow({ window, onDone, onClose }) {
  const { id, name, recurring } = window;
  const work = async () => {
    const body = recurring ? { active: false } : { ends_at: new Date().toISOString() };
    await call("PATCH", `/maintenance_windows/${encodeURIComponent(id)}`, { body });
    toast("The window has ended.");
    onDone();
  };
  return html`<${Confirm} title="End the window now?" act="End it" kind="first" work=${work} onClose=${onClose}>
    <p>Alerts that <strong>${name}</strong> mutes and that still fire unacknowledged are notified.${recurring ? " It recurs: it is switched off until somebody switches it on again." : ""}</p><//>`;
}

export function Page() {
  const [ending, setEnding] = useState(/** @type {import("telltale").MaintenanceWindowSummary | null} */ (null));
  const [state, again] = useLoaded(load, REFRESH_MS, `${inQuery("current")} ${inQuery("offset")}`);
  const show = ({ data, meta }) => html`<section class="card"><${Table} label="Maintenance windows" columns=${columns(setEnding)} rows=${data} keyOf=${({ id }) => id} /><${Pager} meta=${meta} /></section>`;
  return html`<${Head} title="Maintenance windows"><a class="button first" href=${href("/alerts/windows/new")}><${Icon} name="plus" />New window</a><${Button} label="Refresh" work=${again}><${Icon} name="refresh-cw" /><//><//>
    <${AlertsNav} />
    <div class="filters"><${QuerySelect} name="current" label="Which windows" options=${CURRENT} /></div>
    <${Loaded} state=${state} show=${show} empty=${{ is: ({ meta }) => meta.total === 0, text: inQuery("current") ? "No window is like this." : "No maintenance windows. A window mutes notifications; rules are still evaluated." }} />
    ${ending && html`<${EndWindow} window=${ending} onDone=${again} onClose=${() => setEnding(null)} />`}`;
}
