// An icon of the sprite, for the eye only: what it means is in a text beside it.

import { build } from "../api/session.js";
import { html } from "../kit/html.js";

export function Icon({ name }) {
  return html`<svg class="icon" aria-hidden="true"><use href=${`/console/-/${build}/icons.svg#${name}`} /></svg>`;
}
