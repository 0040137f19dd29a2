// What the pages of jobs share: states, addresses, arguments, filters in the address.

import { html } from "../kit/html.js";
import { href, hrefHere, inQuery } from "../kit/router.js";

const statuses = { healthy: "good", degraded: "bad", paused: "warn", ready: "", scheduled: "", running: "good", retrying: "warn", completed: "good", dead: "bad", active: "good", quiet: "warn", stopping: "warn" };
const ARGUMENTS_SHOWN = 300;

export function Status({ of }) {
  return html`<span class=${`tag ${statuses[of] ?? ""}`}>${of}</span>`;
}

/** The address of a job, also of a dead one. */
export const jobHref = (id) => href(`/jobs/${encodeURIComponent(id)}`);

/** The address of a queue in the view of queues. */
export const queueHref = (name) => href("/jobs", { queue: name, ...(inQuery("internal") === "true" && { internal: "true" }) });

/** Returns whether the server's own queues are shown. */
export const isInternal = () => inQuery("internal") === "true";

/** Returns values of the address as a query of the API; empty ones are left out. */
export function queryOf(names, further = {}) {
  const query = new URLSearchParams();
  for (const name of names) if (inQuery(name)) query.set(name, inQuery(name));
  if (isInternal()) query.set("internal", "true");
  for (const [name, value] of Object.entries(further)) query.set(name, String(value));
  return query;
}

/** Returns the address of the page with another value in its query. */
export const linkWith = (name, value) => hrefHere({ [name]: value });

/** Arguments in a line or two. */
export function Arguments({ of }) {
  const text = JSON.stringify(of) ?? "";
  const shown = text.length > ARGUMENTS_SHOWN ? `${text.slice(0, ARGUMENTS_SHOWN)}…` : text;
  return html`<bdi class="mono cut">${shown}</bdi>`;
}

/** Names that fields offer. */
export function Names({ id, names }) {
  return html`<datalist id=${id}>${names.map((name) => html`<option key=${name} value=${name} />`)}</datalist>`;
}
