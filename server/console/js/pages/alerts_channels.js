// The channels that notifications go to, with how often they succeeded.

import { get } from "../api/client.js";
import { amount } from "../kit/format.js";
import { html } from "../kit/html.js";
import { useLoaded } from "../kit/loading.js";
import { href, inQuery } from "../kit/router.js";
import { Button } from "../parts/button.js";
import { QuerySelect } from "../parts/fields.js";
import { Head } from "../parts/head.js";
import { Icon } from "../parts/icon.js";
import { Loaded } from "../parts/loaded.js";
import { PAGE_ROWS, Pager, offsetOf } from "../parts/pager.js";
import { Table } from "../parts/table.js";
import { Time } from "../parts/time.js";
import { CHANNEL_TYPES } from "./alerts_channel_types.js";
import { TestChannel } from "./alerts_channel_test.js";
import { AlertsNav } from "./alerts_nav.js";

/** @import { ChannelSummary } from "telltale" */

const TYPES = [{ value: "", label: "Any type" }, ...Object.keys(CHANNEL_TYPES).map((value) => ({ value, label: value }))];

function load(abort) {
  const query = new URLSearchParams({ limit: String(PAGE_ROWS), offset: String(offsetOf()) });
  if (inQuery("channel_type")) query.set("channel_type", inQuery("channel_type"));
  return get(`/channels?${query}`, abort);
}

/** @returns {Column<ChannelSummary>[]} */
function columns(again) {
  return [
    { label: "Name", cell: (one) => html`<a class="name" href=${href(`/alerts/channels/${encodeURIComponent(one.id)}`)}>${one.name}</a>` },
    { label: "Type", cell: (one) => html`<span class="typed"><${Icon} name=${CHANNEL_TYPES[one.channel_type]?.icon ?? "send"} />${one.channel_type}</span>` },
    { label: "State", cell: (one) => html`<span class="tags">${one.enabled ? null : html`<span class="tag">disabled</span>`}${one.verified ? html`<span class="tag good">verified</span>` : html`<span class="tag warn">not verified</span>`}</span>` },
    { label: "Delivered", isNumber: true, cell: (one) => amount(one.success_count) },
    { label: "Failed", isNumber: true, cell: (one) => html`<span class=${one.failure_count > 0 ? "wrong" : ""}>${amount(one.failure_count)}</span>` },
    { label: "Last used", cell: (one) => html`<${Time} at=${one.last_used_at} />` },
    { label: "Test", isUnseen: true, isEnd: true, cell: (one) => html`<${TestChannel} channel=${one} onDone=${again} />` },
  ];
}

export function Page() {
  const [state, again] = useLoaded(load, 30_000, `${inQuery("channel_type")} ${inQuery("offset")}`);
  const show = ({ data, meta }) => html`<section class="card"><${Table} label="Notification channels" columns=${columns(again)} rows=${data} keyOf=${({ id }) => id} /><${Pager} meta=${meta} /></section>`;
  return html`<${Head} title="Notification channels"><a class="button first" href=${href("/alerts/channels/new")}><${Icon} name="plus" />New channel</a><${Button} label="Refresh" work=${again}><${Icon} name="refresh-cw" /><//><//>
    <${AlertsNav} />
    <div class="filters"><${QuerySelect} name="channel_type" label="Type" options=${TYPES} /></div>
    <${Loaded} state=${state} show=${show} empty=${{ is: ({ meta }) => meta.total === 0, text: inQuery("channel_type") ? "No channel is of this type." : "No channels yet. Rules and escalation policies notify channels." }} />`;
}
