// Chooses several of a list: boxes to tick, with a field that narrows a long list down.

import { useState } from "preact/hooks";
import { html } from "../kit/html.js";
import { concerns } from "./fields.js";

const FILTERED_FROM = 10;
const SHOWN_MAX = 100;

/** `items`: `[{id, label, about}]`; `chosen` are ids; what is chosen and not in the list stays chosen. */
export function Pick({ name, label, items, chosen, onChange, failure, hint = "", none }) {
  const [wanted, setWanted] = useState("");
  const known = new Set(items.map(({ id }) => id));
  const all = [...items, ...chosen.filter((id) => !known.has(id)).map((id) => ({ id, label: id, about: "not in the list" }))];
  const fits = (item) => item.label.toLowerCase().includes(wanted.toLowerCase());
  const found = wanted ? all.filter(fits) : [...all].sort((a, b) => chosen.includes(b.id) - chosen.includes(a.id));
  const toggle = (id) => onChange(chosen.includes(id) ? chosen.filter((one) => one !== id) : [...chosen, id]);
  const isWrong = concerns(failure, name);
  const note = isWrong ? failure.message : hint;
  return html`<fieldset class="field pick" aria-describedby=${note ? `pick-${name}-hint` : null}><legend class="legend">${label}${chosen.length > 0 ? ` (${chosen.length})` : ""}</legend>
    ${all.length === 0 && html`<p class="quiet">${none}</p>`}
    ${all.length > FILTERED_FROM && html`<input type="search" aria-label=${`Find in: ${label}`} placeholder="Find" value=${wanted} onInput=${(event) => setWanted(event.currentTarget.value)} />`}
    ${all.length > 0 && html`<div class="pick-list" tabindex="0" role="group" aria-label=${label}>
      ${found.slice(0, SHOWN_MAX).map((item) => html`<label class="check" key=${item.id}><input type="checkbox" checked=${chosen.includes(item.id)} aria-invalid=${isWrong ? "true" : null}
        onChange=${() => toggle(item.id)} /><span>${item.label}${item.about && html` <span class="quiet small">${item.about}</span>`}</span></label>`)}
      ${found.length === 0 && html`<p class="quiet">Nothing has “${wanted}” in its name.</p>`}
      ${found.length > SHOWN_MAX && html`<p class="quiet small">And ${found.length - SHOWN_MAX} more: type a part of the name.</p>`}</div>`}
    ${note && html`<p id=${`pick-${name}-hint`} class=${isWrong ? "wrong" : "hint"}>${note}</p>`}</fieldset>`;
}
