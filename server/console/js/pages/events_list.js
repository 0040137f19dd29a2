// Events, newest first; each opens to show all it has.

import { useState } from "preact/hooks";
import { amount, clock, day, instant } from "../kit/format.js";
import { html } from "../kit/html.js";
import { json } from "../kit/json.js";
import { Around } from "../parts/around.js";
import { Icon } from "../parts/icon.js";
import { Json } from "../parts/json.js";
import { filters, isChosen, toggle } from "./events_filters.js";

/** @typedef {import("telltale").EventList["data"][number]} TrackedEvent */

const TAGS_SHOWN_MAX = 4;

function Only({ field, value, text }) {
  const isOn = isChosen(field, value, filters());
  return html`<button type="button" class="button small" aria-pressed=${isOn ? "true" : "false"} onClick=${() => toggle(field, value)}>
    <${Icon} name="filter" /><span class="long">${text}</span></button>`;
}

/** All that an event has. */
function Detail({ event }) {
  const { id, name, timestamp, user_id: user, value, tags, properties } = event;
  return html`<div class="event-detail">
    <dl class="pairs"><dt>Time</dt><dd>${instant(timestamp)} <span class="quiet small mono">${timestamp}</span></dd>
      <dt>Id</dt><dd class="mono">${id}</dd>
      ${value !== null && html`<dt>Value</dt><dd>${json(value)}</dd>`}</dl>
    <div class="toggles" role="group" aria-label="Show only events with"><${Only} field="name" value=${name} text=${name} />
      ${user !== null && html`<${Only} field="user_id" value=${user} text=${`user ${user}`} />`}
      ${Object.entries(tags).map(([key, text]) => html`<${Only} key=${key} field=${`tags.${key}`} value=${text} text=${`${key} = ${text}`} />`)}</div>
    <${Json} value=${properties} label="properties" />
    <${Around} at=${Date.parse(timestamp)} />
  </div>`;
}

/**
 * A row; `hasDay` writes the day above the time.
 * @param {Props<{event: TrackedEvent}>} props
 */
export function EventRow({ event, hasDay = true }) {
  const [isOpen, setOpen] = useState(false);
  const tags = Object.entries(event.tags);
  const rest = tags.length - TAGS_SHOWN_MAX;
  return html`<details class="event" open=${isOpen} onToggle=${(toggled) => setOpen(toggled.currentTarget.open)}>
    <summary><time datetime=${event.timestamp}>${hasDay && html`<span class="quiet day">${day(event.timestamp)} </span>`}${clock(event.timestamp)}</time>
      <span class="what">${event.name}</span>
      <span class="who-did">${event.user_id ?? ""}</span>
      <span class="number">${event.value === null ? "" : amount(Number(json(event.value)))}</span>
      <span class="tags">${tags.slice(0, TAGS_SHOWN_MAX).map(([key, text]) => html`<span class="tag long" key=${key}>${`${key} = ${text}`}</span>`)}
        ${rest > 0 && html`<span class="quiet small">and ${rest} more</span>`}</span></summary>
    ${isOpen && html`<${Detail} event=${event} />`}</details>`;
}

export function EventList({ events }) {
  return html`<div>${events.map((event, i) => html`<${EventRow} key=${event.id} event=${event}
    hasDay=${i === 0 || day(event.timestamp) !== day(events[i - 1].timestamp)} />`)}</div>`;
}
