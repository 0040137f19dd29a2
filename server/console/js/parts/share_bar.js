// A bar that shows a part of a whole; a text beside it says which, unless it has a label.

import { html } from "../kit/html.js";

/** `part` is from 0 to 1. */
export function ShareBar({ part, label = null }) {
  const width = 100 * Math.min(1, Math.max(0, part || 0));
  return html`<svg class="share-bar" viewBox="0 0 100 1" preserveAspectRatio="none" role=${label ? "img" : null} aria-label=${label} aria-hidden=${label ? null : "true"}>
    <rect width=${width} height="1" /></svg>`;
}
