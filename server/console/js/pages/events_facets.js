// The values that events have, by field: choosing one shows only the events with it.

import { useState } from "preact/hooks";
import { amount } from "../kit/format.js";
import { html } from "../kit/html.js";
import { useLoaded } from "../kit/loading.js";
import { rangeKey } from "../kit/range.js";
import { Loaded } from "../parts/loaded.js";
import { ShareBar } from "../parts/share_bar.js";
import { filters, isChosen, toggle, valuesOf } from "./events_filters.js";

const SHOWN = 10;
const MORE = 100;
/** Beside the list there is room for the first field; above it the list would be out of sight. */
const BESIDE = "(min-width: 72rem)";

/** Returns a field in words. */
export function fieldName(field) {
  if (field === "name") return "Name";
  return field === "user_id" ? "User" : field.slice(5);
}

function Values({ field }) {
  const [limit, setLimit] = useState(SHOWN);
  const now = filters();
  const [state] = useLoaded((abort) => valuesOf(field, now, { limit }, abort), 0, JSON.stringify([field, now, limit, rangeKey.value]));
  const show = ({ data, meta }) => {
    const rest = meta.total - data.length;
    return html`<ul>${data.map(({ value, count }) => html`<li key=${value}>
        <button type="button" aria-pressed=${isChosen(field, value, now) ? "true" : "false"} onClick=${() => toggle(field, value)}>
          <span class="what">${value}</span><span class="number">${amount(count)}</span>
          <${ShareBar} part=${count / data[0].count} /></button></li>`)}</ul>
      ${rest > 0 && (limit === SHOWN ? html`<button type="button" class="button plain small" onClick=${() => setLimit(MORE)}>More: ${amount(rest)}</button>`
        : html`<p class="quiet small">and ${amount(rest)} more</p>`)}
      ${meta.events_read < meta.events_matched && html`<p class="quiet small">In the newest ${amount(meta.events_read)} events.</p>`}`;
  };
  return html`<${Loaded} state=${state} show=${show} empty=${{ is: ({ data }) => data.length === 0, text: "None." }} />`;
}

/** A field loads its values while it is open. */
function Facet({ field, isOpenFirst }) {
  const [isOpen, setOpen] = useState(isOpenFirst);
  return html`<details open=${isOpen} onToggle=${(event) => setOpen(event.currentTarget.open)}><summary>${fieldName(field)}</summary>
    ${isOpen && html`<${Values} field=${field} />`}</details>`;
}

/** `keys` are those of tags. */
export function Facets({ keys }) {
  const fields = ["name", ...keys.map((key) => `tags.${key}`), "user_id"];
  return html`<section class="card facets" aria-label="Filter by value">${fields.map((field, i) => html`<${Facet} key=${field} field=${field} isOpenFirst=${i === 0 && matchMedia(BESIDE).matches} />`)}</section>`;
}
