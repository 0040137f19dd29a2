// Which events are shown: by name, user and tags, all in the address.

import { get } from "../api/client.js";
import { html } from "../kit/html.js";
import { limitsOfQuery } from "../kit/range.js";
import { inQuery, place, setQuery } from "../kit/router.js";
import { amount } from "../kit/format.js";
import { Combobox } from "../parts/combobox.js";
import { Icon } from "../parts/icon.js";
import { conditionInWords, conditionOf, tagsOf, textsOfTags } from "../parts/metric_query.js";

const SUGGESTED = 20;

/** Returns the filters of the address: `{name, user, tags}`. */
export function filters() {
  return { name: inQuery("name"), user: inQuery("user"), tags: tagsOf(place.value.query.getAll("tag")) };
}

/** Shows events by changed filters. */
function setFilters({ name, user, tags }) {
  setQuery({ name, user, tag: textsOfTags(tags), offset: null });
}

/**
 * Returns the parameters of the API for filters, the range included.
 * @param {{name: string, user: string, tags: Record<string, string>}} filters
 * @param {Record<string, string>} [range]
 */
export function parametersOf({ name, user, tags }, range = limitsOfQuery()) {
  const parameters = new URLSearchParams(range);
  if (name) parameters.set("name", name);
  if (user) parameters.set("user_id", user);
  for (const [key, condition] of Object.entries(tags)) parameters.append(`tags[${key}]`, condition);
  return parameters;
}

/** Returns the filters without that of a field: `name`, `user_id` or `tags.<key>`. */
function without(field, { name, user, tags }) {
  if (field === "name") return { name: "", user, tags };
  if (field === "user_id") return { name, user: "", tags };
  return { name, user, tags: Object.fromEntries(Object.entries(tags).filter(([key]) => `tags.${key}` !== field)) };
}

/** Returns whether the filters show only this value of a field. */
export function isChosen(field, value, { name, user, tags }) {
  if (field === "name") return name === value;
  if (field === "user_id") return user === value;
  return tags[field.slice(5)] === conditionOf(value);
}

/** Shows only the events with a value in a field, or no longer only these. */
export function toggle(field, value) {
  const now = filters();
  const cleared = without(field, now);
  if (isChosen(field, value, now)) return setFilters(cleared);
  if (field === "name") return setFilters({ ...cleared, name: value });
  if (field === "user_id") return setFilters({ ...cleared, user: value });
  return setFilters({ ...cleared, tags: { ...cleared.tags, [field.slice(5)]: conditionOf(value) } });
}

/**
 * Returns the most frequent values of a field under the filters of the others, as the API has them:
 * `{data: [{value, count}], meta: {total, events_read, events_matched}}`.
 * @param {string} field
 * @param {{name: string, user: string, tags: Record<string, string>}} now
 * @param {{search?: string, limit: number, range?: Record<string, string>}} options
 * @param {AbortSignal} [abort]
 */
export function valuesOf(field, now, { search = "", limit, range }, abort) {
  const parameters = parametersOf(without(field, now), range);
  parameters.set("field", field);
  parameters.set("limit", String(limit));
  if (search) parameters.set("search", search);
  return get(`/events/values?${parameters}`, abort);
}

/**
 * Returns a function that suggests values of a field.
 * @param {string} field
 * @param {{name: string, user: string, tags: Record<string, string>} | null} [now]
 */
export function suggest(field, now = null) {
  return async (search, abort) => {
    const { data, meta } = await valuesOf(field, now ?? filters(), { search, limit: SUGGESTED }, abort);
    return { options: data.map(({ value, count }) => ({ value, note: amount(count) })), total: meta.total };
  };
}

function Chip({ text, onRemove }) {
  return html`<span class="tag long chip">${text}<button type="button" aria-label=${`Remove the filter ${text}`} onClick=${onRemove}><${Icon} name="x" /></button></span>`;
}

/** The fields for name and user, and what else narrows the list. */
export function Filters() {
  const now = filters();
  const removeTag = (key) => {
    setFilters(without(`tags.${key}`, now));
    document.getElementById("event-name")?.focus();
  };
  return html`<div class="filters">
    <${Combobox} id="event-name" label="Name of the events" isLabelUnseen placeholder="All names; order.* for those that begin so" value=${now.name} load=${suggest("name")}
      isFree onChoose=${(name) => setFilters({ ...now, name: name.trim() })} />
    <${Combobox} id="event-user" label="User" isLabelUnseen placeholder="All users" icon="user" value=${now.user} load=${suggest("user_id")}
      isFree onChoose=${(user) => setFilters({ ...now, user: user.trim() })} />
    ${Object.entries(now.tags).map(([key, condition]) => html`<${Chip} key=${key} text=${conditionInWords(key, condition)} onRemove=${() => removeTag(key)} />`)}
  </div>`;
}
