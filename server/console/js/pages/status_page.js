// One status page: its monitors, incidents, scheduled maintenance and subscribers.

import { useState } from "preact/hooks";
import { call, get } from "../api/client.js";
import { html } from "../kit/html.js";
import { useLoaded } from "../kit/loading.js";
import { go, href } from "../kit/router.js";
import { toast } from "../kit/toasts.js";
import { Button } from "../parts/button.js";
import { Confirm } from "../parts/confirm.js";
import { Facts } from "../parts/facts.js";
import { Head } from "../parts/head.js";
import { Icon } from "../parts/icon.js";
import { Failure, Loaded } from "../parts/loaded.js";
import { Tabs, viewOf } from "../parts/tabs.js";
import { Time } from "../parts/time.js";
import { PageIncidents } from "./status_incidents.js";
import { PageMaintenance } from "./status_maintenance.js";
import { PageMonitors } from "./status_page_monitors.js";
import { PageSubscribers } from "./status_subscribers.js";
import { PAGE_KIND } from "./status_words.js";

/** @import { StatusPage } from "telltale" */

const ABOVE = { path: "/status/pages", label: "Status pages" };
const REFRESH_MS = 30_000;
const SHOWN = { monitors: PageMonitors, incidents: PageIncidents, maintenance: PageMaintenance, subscribers: PageSubscribers };

/** Returns the address of a page, which the server may know as a path only. */
export const addressOf = ({ url }) => (url.startsWith("/") ? location.origin + url : url);

function Swatch({ colour }) {
  return html`<svg class="colour" viewBox="0 0 16 16" aria-hidden="true"><rect width="16" height="16" rx="3" fill=${colour} /></svg> <span class="mono">${colour}</span>`;
}

/** @param {StatusPage} page */
const factsOf = (page) => [
  ["Status", html`<span class=${`tag ${PAGE_KIND[page.status] ?? ""}`}>${page.status}</span>`],
  ["Address", html`<a href=${addressOf(page)} target="_blank" rel="noopener">${addressOf(page)}</a>`],
  ["Subdomain", html`<span class="mono">${page.subdomain}</span>`],
  page.custom_domain && ["Custom domain", html`<span class="mono">${page.custom_domain}</span>`],
  page.branding.primary_color && ["Colour", html`<${Swatch} colour=${page.branding.primary_color} />`],
  page.branding.logo_url && ["Logo", html`<span class="mono">${page.branding.logo_url}</span>`],
  ["Made", html`<${Time} at=${page.created_at} /> by ${page.created_by}`],
];

/** @param {Props<{page: StatusPage}>} props */
function Delete({ page, onClose }) {
  const work = async () => {
    await call("DELETE", `/status-pages/${encodeURIComponent(page.id)}`);
    toast("The status page is deleted.");
    go("/status/pages");
  };
  return html`<${Confirm} title="Delete the status page?" act="Delete" work=${work} onClose=${onClose}>
    <p>Visitors do not find <strong>${page.name}</strong> any more. Its incidents, maintenances and subscribers are deleted with it. The ${page.monitors.length} monitors stay. It cannot be undone.</p><//>`;
}

export function Page({ params }) {
  const [isDeleting, setDeleting] = useState(false);
  const [state, again] = useLoaded((abort) => get(`/status-pages/${encodeURIComponent(params.id)}`, abort), REFRESH_MS);
  const { data: page, failure } = state.value;
  if (!page) return html`<${Head} title="Status page" above=${ABOVE} />${failure ? html`<${Failure} failure=${failure} />` : html`<p class="quiet" role="status">Loading…</p>`}`;
  const views = [
    { name: "monitors", label: "Monitors", count: page.monitors.length },
    { name: "incidents", label: "Incidents", count: page.active_incidents.length },
    { name: "maintenance", label: "Maintenance" },
    { name: "subscribers", label: "Subscribers" },
  ];
  const View = SHOWN[viewOf(views)];
  return html`<${Head} title=${page.name} above=${ABOVE}>
      <a class="button first" href=${addressOf(page)} target="_blank" rel="noopener"><${Icon} name="external-link" />Public page</a>
      <a class="button" href=${href(`/status/pages/${encodeURIComponent(page.id)}/edit`)}><${Icon} name="pencil" />Edit</a>
      <${Button} kind="grave" work=${() => setDeleting(true)}><${Icon} name="trash-2" />Delete<//><//>
    <div class="sections"><section class="card"><${Facts} facts=${factsOf(page)} /></section>
      <div><${Tabs} label="Parts of the page" views=${views} /><${Loaded} state=${state} show=${() => html`<${View} page=${page} again=${again} />`} /></div></div>
    ${isDeleting && html`<${Delete} page=${page} onClose=${() => setDeleting(false)} />`}`;
}
