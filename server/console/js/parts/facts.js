// Facts about one thing: names with values.

import { html } from "../kit/html.js";

/** `facts`: `[[name, value], …]`; what is false is left out. */
export function Facts({ facts }) {
  return html`<dl class="facts">${facts.filter(Boolean).map(([name, value]) => html`<div key=${name}><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
}
