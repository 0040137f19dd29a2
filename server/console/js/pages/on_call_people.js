// People of a schedule: the colour and the initials by which the calendar shows them.

import { html } from "../kit/html.js";

const COLOURS = 9;
const GUEST = 9;

/** Returns the class of the colour of a person; those who are not members share one. */
export function colourOf(members, user) {
  const index = members.indexOf(user);
  return `c${index < 0 ? GUEST : index % COLOURS}`;
}

function initials(user) {
  const parts = user.split("@")[0].split(/[^\p{L}\p{N}]+/u).filter(Boolean);
  return parts.slice(0, 2).map((part) => [...part][0].toUpperCase()).join("") || "?";
}

/** A person with a disc of the initials, or that nobody is on call. */
export function Person({ members, user, isLarge = false }) {
  if (!user) return html`<span class="person nobody">Nobody</span>`;
  return html`<span class=${`person ${isLarge ? "large" : ""}`}><span class=${`disc ${colourOf(members, user)}`} aria-hidden="true"><span>${initials(user)}</span></span><span class="who-is">${user}</span></span>`;
}
