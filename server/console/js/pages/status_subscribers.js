// Who is notified by email of incidents and maintenances of a status page.

import { useState } from "preact/hooks";
import { call, get } from "../api/client.js";
import { html } from "../kit/html.js";
import { useLoaded } from "../kit/loading.js";
import { inQuery } from "../kit/router.js";
import { toast } from "../kit/toasts.js";
import { Button } from "../parts/button.js";
import { Confirm } from "../parts/confirm.js";
import { Icon } from "../parts/icon.js";
import { Loaded } from "../parts/loaded.js";
import { offsetOf, PAGE_ROWS, Steps, stepsQuery } from "../parts/pager.js";
import { Table } from "../parts/table.js";
import { Time } from "../parts/time.js";

/** @import { StatusPage } from "telltale" */

const load = (page, abort) => get(`/status-pages/${encodeURIComponent(page.id)}/subscribers?${stepsQuery()}`, abort);

const columns = (onRemove) => [
  { label: "Address", cell: (one) => html`<span class="name">${one.email}</span>` },
  { label: "State", cell: (one) => (one.confirmed ? html`<span class="tag good">confirmed</span>` : html`<span class="tag">not confirmed</span>`) },
  { label: "Confirmed", cell: (one) => html`<${Time} at=${one.confirmed_at} />` },
  { label: "Subscribed", cell: (one) => html`<${Time} at=${one.created_at} />` },
  { label: "Actions", isUnseen: true, isEnd: true, cell: (one) => html`<${Button} kind="plain" label=${`Delete ${one.email}`} work=${() => onRemove(one)}><${Icon} name="trash-2" /><//>` },
];

/** @param {Props<{page: StatusPage}>} props */
export function PageSubscribers({ page }) {
  const [removed, setRemoved] = useState(/** @type {import("telltale").Subscriber | null} */ (null));
  const [state, again] = useLoaded((abort) => load(page, abort), 0, inQuery("offset"));
  const work = async () => {
    if (!removed) return;
    await call("DELETE", `/status-pages/${encodeURIComponent(page.id)}/subscribers/${encodeURIComponent(removed.id)}`);
    toast("The subscriber is deleted.");
    again();
  };
  const show = ({ subscribers: rows }) => html`<${Table} label="Subscribers" columns=${columns(setRemoved)} rows=${rows.slice(0, PAGE_ROWS)} keyOf=${({ id }) => id} /><${Steps} rows=${rows} />`;
  return html`<section class="card"><header><h2>Subscribers</h2></header>
    <p class="quiet small">Visitors subscribe on the public page. An address that is not confirmed within 48 hours is deleted.</p>
    <${Loaded} state=${state} show=${show} empty=${{ is: ({ subscribers: rows }) => rows.length === 0 && offsetOf() === 0, text: "Nobody has subscribed yet." }} />
    ${removed && html`<${Confirm} title="Delete the subscriber?" act="Delete" work=${work} onClose=${() => setRemoved(null)}><p><strong>${removed.email}</strong> is notified no more.</p><//>`}</section>`;
}
