// What an occurrence carries beside its stack trace: breadcrumbs, request, user, tags, contexts.

import { useState } from "preact/hooks";
import { amount, clock, instant, isTime } from "../kit/format.js";
import { html } from "../kit/html.js";
import { json, text } from "../kit/json.js";
import { href } from "../kit/router.js";
import { Button } from "../parts/button.js";
import { CopyButton } from "../parts/copy.js";
import { shellWord } from "../parts/curl.js";
import { Icon } from "../parts/icon.js";
import { Pairs, pairsOf } from "../parts/pairs.js";

/** @import { ErrorOccurrence } from "telltale" */

const CRUMBS_SHOWN = 25;
const kinds = new Map([["fatal", "bad"], ["error", "bad"], ["critical", "bad"], ["warning", "warn"]]);

/** SDKs send seconds or texts. */
const timeOf = ({ timestamp }) =>
  typeof timestamp === "string" ? Date.parse(timestamp) : Number(json(timestamp) || NaN) * 1000;

/** Any part of a breadcrumb may be of any type: what it is, its SDK alone decides. */
function crumbLine(crumb) {
  const time = isTime(timeOf(crumb)) ? new Date(timeOf(crumb)).toISOString() : "";
  const flat = (part) => (part === null ? "" : typeof part === "object" ? JSON.stringify(part) : text(part));
  return [time, crumb.level, crumb.category ?? crumb.type, crumb.message, crumb.data].map(flat).filter(Boolean).join("  ");
}

function Crumb({ crumb }) {
  const hasMessage = crumb.message !== null && crumb.message !== undefined && crumb.message !== "";
  const data = pairsOf(crumb.data);
  const time = timeOf(crumb);
  return html`<li><time class="mono quiet" title=${instant(time)}>${clock(time)}</time>
    <span class=${`tag ${kinds.get(crumb.level) ?? ""}`}>${text(crumb.category ?? crumb.type ?? "default")}</span>
    <div>${hasMessage && html`<p><bdi>${text(crumb.message)}</bdi></p>`}${data.length > 0 && html`<${Pairs} pairs=${data} />`}</div></li>`;
}

/** @param {Props<{details?: Record<string, any>}>} props */
export function Breadcrumbs({ details }) {
  const [isWhole, setWhole] = useState(false);
  const crumbs = Array.isArray(details?.breadcrumbs) ? details.breadcrumbs.filter((one) => one && typeof one === "object") : [];
  if (crumbs.length === 0) return null;
  const shown = isWhole ? crumbs : crumbs.slice(-CRUMBS_SHOWN);
  return html`<section class="card"><header><${Icon} name="list" /><h2>Breadcrumbs</h2><div class="acts">
      <${CopyButton} text=${() => crumbs.map(crumbLine).join("\n")} label="the breadcrumbs as text">Copy as text<//></div></header>
    ${shown.length < crumbs.length && html`<div><${Button} kind="small" work=${() => setWhole(true)}>Show the ${amount(crumbs.length - shown.length)} before<//></div>`}
    <ol class="crumbs">${shown.map((crumb, i) => html`<${Crumb} key=${i} crumb=${crumb} />`)}</ol>
  </section>`;
}

/** Returns the request as a command; what the server removed from it is left out. */
function curlOf({ method, url, query_string: query, headers, data }) {
  const address = query && !text(url).includes("?") ? `${text(url)}?${text(query)}` : text(url);
  // An address that begins like an option is none.
  const parts = [`curl --url ${shellWord(address)}`];
  if (method && method !== "GET") parts.push(`-X ${shellWord(text(method))}`);
  for (const [name, value] of pairsOf(headers)) if (value !== "[Filtered]") parts.push(`-H ${shellWord(`${name}: ${text(value)}`)}`);
  if (data !== undefined && data !== null) parts.push(`--data-raw ${shellWord(typeof data === "string" ? data : JSON.stringify(data))}`);
  return parts.join(" \\\n  ");
}

/** @param {Props<{details?: Record<string, any>}>} props */
export function Request({ details }) {
  const request = details?.request;
  if (!request || typeof request !== "object") return null;
  const { method, url, headers, ...rest } = request;
  return html`<section class="card"><header><${Icon} name="globe" /><h2>Request</h2>${url && html`<div class="acts">
      <${CopyButton} text=${() => curlOf(request)} label="the request as a curl command">Copy as curl<//></div>`}</header>
    ${(method || url) && html`<p class="mono"><strong>${method && text(method)}</strong> <bdi>${url && text(url)}</bdi></p>`}
    <${Pairs} pairs=${pairsOf(rest)} />
    ${pairsOf(headers).length > 0 && html`<h3>Headers</h3><${Pairs} pairs=${pairsOf(headers)} />`}
  </section>`;
}

/** @param {Props<{occurrence: ErrorOccurrence}>} props */
export function TagsAndUser({ occurrence }) {
  const { tags, user, environment, release, details } = occurrence;
  const own = [["environment", environment], ["release", release]].filter(([, value]) => value !== null);
  const link = (name, value) => href("/errors", { [name === "environment" || name === "release" ? name : `tags[${name}]`]: value, status: "all" });
  const facts = ["transaction", "server_name", "logger", "platform", "dist"].map((name) => [name, details?.[name]]).filter(([, value]) => value !== undefined);
  return html`<section class="card"><header><${Icon} name="tag" /><h2>Tags</h2></header>
    ${own.length + Object.keys(tags).length > 0 ? html`<${Pairs} pairs=${own} link=${link} /><${Pairs} pairs=${Object.entries(tags)} link=${(name, value) => href("/errors", { [`tags[${name}]`]: value, status: "all" })} />`
      : html`<p class="quiet">No tags were sent.</p>`}
    ${user && html`<h3>User</h3><${Pairs} pairs=${pairsOf(user)} />`}
    ${facts.length > 0 && html`<h3>Where</h3><${Pairs} pairs=${facts} />`}
  </section>`;
}

function Section({ icon, title, children }) {
  return html`<section class="card"><details><summary><${Icon} name=${icon} /><h2>${title}</h2></summary>${children}</details></section>`;
}

/** @param {Props<{details?: Record<string, any>}>} props */
export function Contexts({ details }) {
  const contexts = pairsOf(details?.contexts).filter(([, value]) => value !== null);
  const extra = pairsOf(details?.extra);
  const modules = pairsOf(details?.modules);
  const sdk = pairsOf(details?.sdk);
  return html`
    ${contexts.length > 0 && html`<section class="card"><header><${Icon} name="monitor" /><h2>Contexts</h2></header>
      <div class="contexts">${contexts.map(([name, value], i) => html`<section key=${i}><h3><bdi>${name}</bdi></h3><${Pairs} pairs=${pairsOf(value).length > 0 ? pairsOf(value) : [[name, value]]} /></section>`)}</div></section>`}
    ${extra.length > 0 && html`<section class="card"><header><${Icon} name="file-text" /><h2>Additional data</h2><div class="acts">
      <${CopyButton} text=${() => json(details?.extra)} label="the additional data as JSON">Copy as JSON<//></div></header><${Pairs} pairs=${extra} /></section>`}
    ${modules.length > 0 && html`<${Section} icon="code" title="Modules"><${Pairs} pairs=${modules} /><//>`}
    ${sdk.length > 0 && html`<${Section} icon="send" title="SDK"><${Pairs} pairs=${sdk} /><//>`}`;
}
