// What the pages of errors share: their filters in the address, their states, their links.

import { signal } from "@preact/signals";
import { caller } from "../api/session.js";
import { readAhead } from "../api/ahead.js";
import { html } from "../kit/html.js";
import { chosen } from "../kit/range.js";
import { href, place } from "../kit/router.js";

const TEXTS = ["level", "environment", "release", "search"];

/** The list as it was last shown, for the way back. */
export const listPath = signal("/errors");

/**
 * The path of the API for an error.
 * @template {string} [R=""]
 * @param {string} id
 * @param {R} [rest]
 */
export const apiPath = (id, rest) =>
  /** @type {`/errors/${string}${R}`} */ (`/errors/${encodeURIComponent(id)}${rest ?? ""}`);

/** The address of an error; `query` as `{name: value}`. */
export const errorHref = (id, query) => href(`/errors/${encodeURIComponent(id)}`, query);

/** What the page of an error loads first: the newest occurrence and the one before it. */
export const NEWEST = "/events?limit=2";

/** Reads the page of an error ahead. */
export function readErrorAhead(id) {
  readAhead(apiPath(id));
  readAhead(apiPath(id, NEWEST));
}

/** Returns the tags that the address filters by: `{key: value}`. */
export function tagsOf(query = place.value.query) {
  const tags = {};
  for (const [name, value] of query) {
    const [, key] = /^tags\[(.+)\]$/s.exec(name) ?? [];
    if (key) tags[key] = value;
  }
  return tags;
}

/** Returns the conditions of the address, as the API takes them in bodies. */
export function filterOf(query = place.value.query) {
  const filter = {};
  const status = query.get("status") ?? "unresolved";
  if (status !== "all") filter.status = status;
  for (const name of TEXTS) if (query.get(name)) filter[name] = query.get(name);
  const assignee = query.get("assignee");
  if (assignee) filter.assignee = assignee === "none" ? "" : assignee === "me" ? (caller.value?.user ?? "") : assignee;
  const { last, from, to } = chosen.value;
  // Whatever occurred in a range that ends now was last seen in it.
  if (last !== undefined) filter.since = last;
  else Object.assign(filter, { from: new Date(from).toISOString(), to: new Date(to).toISOString() });
  const tags = tagsOf(query);
  if (Object.keys(tags).length > 0) filter.tags = tags;
  return filter;
}

/** Returns the same conditions as a query. */
export function queryOf({ tags = {}, ...filter }) {
  const query = new URLSearchParams(filter);
  for (const [key, value] of Object.entries(tags)) query.set(`tags[${key}]`, value);
  return query;
}

const levels = { fatal: "bad", error: "bad", warning: "warn" };
const statuses = { resolved: "good", ignored: "", unresolved: "warn" };

export function Level({ of }) {
  return of ? html`<span class=${`tag ${levels[of] ?? ""}`}>${of}</span>` : null;
}

export function Status({ of }) {
  return html`<span class=${`tag ${statuses[of] ?? ""}`}>${of}</span>`;
}
