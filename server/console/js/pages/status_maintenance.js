// Scheduled maintenances of a status page: schedule, change, end, delete.

import { useState } from "preact/hooks";
import { call, etagOf, get } from "../api/client.js";
import { instant, minute } from "../kit/format.js";
import { html } from "../kit/html.js";
import { useLoaded } from "../kit/loading.js";
import { href, inQuery } from "../kit/router.js";
import { toast } from "../kit/toasts.js";
import { Button } from "../parts/button.js";
import { Confirm } from "../parts/confirm.js";
import { Icon } from "../parts/icon.js";
import { Loaded } from "../parts/loaded.js";
import { offsetOf, PAGE_ROWS, Steps, stepsQuery } from "../parts/pager.js";
import { Table } from "../parts/table.js";
import { MaintenanceForm } from "./status_maintenance_form.js";
import { MAINTENANCE_KIND } from "./status_words.js";

/** @import { ScheduledMaintenanceSummary, StatusPage } from "telltale" */

const basePath = (page) => /** @type {const} */ (`/status-pages/${encodeURIComponent(page.id)}/maintenance`);
const pathOf = (one) => /** @type {const} */ (`/status-pages/${encodeURIComponent(one.page_id)}/maintenance/${encodeURIComponent(one.id)}`);

const load = (page, abort) => get(`${basePath(page)}?${stepsQuery()}`, abort);

/** @returns {Column<ScheduledMaintenanceSummary>[]} */
function columns(page, act) {
  const names = new Map(page.monitors.map((one) => [one.id, one.display_name ?? one.name]));
  return [
    { label: "Title", cell: (one) => html`<span><strong class="name">${one.title}</strong>${one.description && html`<span class="quiet small block">${one.description}</span>`}</span>` },
    { label: "Status", cell: (one) => html`<span class=${`tag ${MAINTENANCE_KIND[one.status]}`}>${one.status}</span>` },
    { label: "From", cell: (one) => html`<span title=${instant(one.starts_at)}>${minute(one.starts_at)}</span>` },
    { label: "To", cell: (one) => html`<span title=${instant(one.ends_at)}>${minute(one.ends_at)}</span>` },
    { label: "Monitors", cell: (one) => one.monitors.map((id) => names.get(id) ?? id).join(", ") || "none" },
    { label: "Alerts", cell: (one) => (one.mute_alerts ? html`<a href=${href(`/alerts/windows/${encodeURIComponent(one.window_id ?? "")}`)}>muted</a>` : "notified") },
    { label: "Actions", isUnseen: true, isEnd: true, cell: (one) => html`<span class="row-acts">
      ${one.status === "in_progress" && html`<${Button} kind="plain" label=${`End now: ${one.title}`} work=${() => act("ended", one)}>End now<//>`}
      ${one.status !== "completed" && html`<${Button} kind="plain" label=${`Edit ${one.title}`} work=${() => act("edited", one)}><${Icon} name="pencil" /><//>`}
      <${Button} kind="plain" label=${`Delete ${one.title}`} work=${() => act("deleted", one)}><${Icon} name="trash-2" /><//></span>` },
  ];
}

/** Loads what the form needs of a maintenance that exists. */
async function whole(one) {
  const answer = await get(pathOf(one));
  return { maintenance: answer, etag: etagOf(answer) };
}

function Dialogs({ open, page, done, close }) {
  const { isNew, edited, ended, deleted } = open;
  if (isNew || edited) return html`<${MaintenanceForm} page=${page} edited=${edited} whole=${whole} path=${edited ? pathOf(edited.maintenance) : basePath(page)} onDone=${done} onClose=${close} />`;
  const end = async () => {
    await call("PATCH", pathOf(ended), { body: { ends_at: new Date().toISOString() } });
    toast("The maintenance has ended.");
    done();
  };
  if (ended) return html`<${Confirm} title="End the maintenance now?" act="End it" kind="first" work=${end} onClose=${close}><p><strong>${ended.title}</strong> ends now. Its monitors count again.</p><//>`;
  const remove = async () => {
    await call("DELETE", pathOf(deleted));
    toast("The maintenance is deleted.");
    done();
  };
  return deleted ? html`<${Confirm} title="Delete the maintenance?" act="Delete" work=${remove} onClose=${close}>
    <p>The page shows <strong>${deleted.title}</strong> no more, as if it never was${deleted.window_id ? "; its maintenance window is deleted with it" : ""}. To end one in progress, end it. It cannot be undone.</p><//>` : null;
}

/** @param {Props<{page: StatusPage}>} props */
export function PageMaintenance({ page, again }) {
  const [open, setOpen] = useState(/** @type {Record<string, any>} */ ({}));
  const [state, reload] = useLoaded((abort) => load(page, abort), 0, inQuery("offset"));
  const act = async (name, one) => setOpen(name === "edited" ? { edited: await whole(one) } : { [name]: one });
  const done = () => {
    reload();
    again();
  };
  const show = ({ maintenances: rows }) => html`<${Table} label="Scheduled maintenances" columns=${columns(page, act)} rows=${rows.slice(0, PAGE_ROWS)} keyOf=${({ id }) => id} /><${Steps} rows=${rows} />`;
  return html`<section class="card"><header><h2>Scheduled maintenance</h2><${Button} kind="first" work=${() => setOpen({ isNew: true })}><${Icon} name="wrench" />Schedule maintenance<//></header>
    <${Loaded} state=${state} show=${show} empty=${{ is: ({ maintenances: rows }) => rows.length === 0 && offsetOf() === 0, text: "No maintenance is scheduled." }} />
    <${Dialogs} open=${open} page=${page} done=${done} close=${() => setOpen({})} /></section>`;
}
