// A time, relative to now; in full where the pointer rests and for screen readers.

import { html } from "../kit/html.js";
import { ago, instant } from "../kit/format.js";

export function Time({ at, none = "never" }) {
  if (!at) return html`<span class="quiet">${none}</span>`;
  return html`<time datetime=${at} title=${instant(at)}>${ago(at)}</time>`;
}
