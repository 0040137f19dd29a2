// Links to what else happened around a moment: five minutes before and after it.

import { areas } from "../api/session.js";
import { html } from "../kit/html.js";
import { href, place } from "../kit/router.js";
import { Icon } from "./icon.js";

const AROUND_MS = 5 * 60_000;
const PLACES = [
  { area: "metrics", path: "/explore", label: "Metrics", icon: "chart-line" },
  { area: "events", path: "/events", label: "Events", icon: "zap" },
  { area: "errors", path: "/errors", label: "Errors", icon: "circle-alert" },
];

/** Returns the range around a moment in milliseconds, as pages have it in their address. */
function rangeAround(at) {
  return { last: null, from: new Date(at - AROUND_MS).toISOString(), to: new Date(at + AROUND_MS).toISOString() };
}

/** `at` is in milliseconds. The page that is shown keeps what else is in its address. */
export function Around({ at }) {
  const { path, query } = place.value;
  const kept = Object.fromEntries([...new Set(query.keys())].map((name) => [name, query.getAll(name)]));
  const linkTo = (page) => href(page, { ...(page === path ? { ...kept, offset: null, at: null } : {}), ...rangeAround(at) });
  return html`<nav class="around" aria-label="Around this moment"><span class="quiet small">5 minutes before and after:</span>
    ${PLACES.filter(({ area }) => areas.value.includes(area)).map((one) => html`<a key=${one.path} class="button small" href=${linkTo(one.path)}>
      <${Icon} name=${one.icon} />${one.path === path ? "This page" : one.label}</a>`)}</nav>`;
}
