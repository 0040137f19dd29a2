// The status pages: their state now, and where visitors find them.

import { get } from "../api/client.js";
import { amount } from "../kit/format.js";
import { html } from "../kit/html.js";
import { useLoaded } from "../kit/loading.js";
import { href, inQuery } from "../kit/router.js";
import { Button } from "../parts/button.js";
import { Head } from "../parts/head.js";
import { Icon } from "../parts/icon.js";
import { Loaded } from "../parts/loaded.js";
import { offsetOf, PAGE_ROWS, Steps, stepsQuery } from "../parts/pager.js";
import { Table } from "../parts/table.js";
import { StatusNav } from "./status_nav.js";
import { PAGE_KIND } from "./status_words.js";

/** @import { StatusPageSummary } from "telltale" */

const REFRESH_MS = 30_000;

const load = (abort) => get(`/status-pages?${stepsQuery()}`, abort);

/** @type {Column<StatusPageSummary>[]} */
const COLUMNS = [
  { label: "Name", cell: (page) => html`<a class="name" href=${href(`/status/pages/${encodeURIComponent(page.id)}`)}>${page.name}</a>` },
  { label: "Status", cell: (page) => html`<span class=${`tag ${PAGE_KIND[page.status] ?? ""}`}>${page.status}</span>` },
  { label: "Address", isMono: true, cell: (page) => page.custom_domain ?? page.subdomain },
  { label: "Monitors", isNumber: true, cell: (page) => amount(page.monitors_count) },
  { label: "Public page", isUnseen: true, isEnd: true, cell: (page) => html`<a class="button plain" href=${`/status/${encodeURIComponent(page.subdomain)}`} target="_blank" rel="noopener" aria-label=${`Public page of ${page.name}`}><${Icon} name="external-link" /></a>` },
];

export function Page() {
  const [state, again] = useLoaded(load, REFRESH_MS, inQuery("offset"));
  const show = ({ status_pages: pages }) => html`<section class="card"><${Table} label="Status pages" columns=${COLUMNS} rows=${pages.slice(0, PAGE_ROWS)} keyOf=${({ id }) => id} /><${Steps} rows=${pages} /></section>`;
  return html`<${Head} title="Status pages"><a class="button first" href=${href("/status/pages/new/edit")}><${Icon} name="plus" />New page</a><${Button} label="Refresh" work=${again}><${Icon} name="refresh-cw" /><//><//>
    <${StatusNav} />
    <${Loaded} state=${state} show=${show} empty=${{ is: ({ status_pages: pages }) => pages.length === 0 && offsetOf() === 0, text: "No status pages. A page shows visitors the state of monitors, incidents and maintenance." }} />`;
}
