// The views of status, as links.

import { areas } from "../api/session.js";
import { html } from "../kit/html.js";
import { href, path } from "../kit/router.js";

const VIEWS = [
  ["/status", "Monitors", "monitors"],
  ["/status/pages", "Status pages", "status_pages"],
];

export function StatusNav() {
  return html`<nav class="tabs" aria-label="Status"><ul>${VIEWS.filter(([, , area]) => areas.value.includes(area)).map(([to, label]) => html`<li key=${to}>
    <a href=${href(to)} aria-current=${path.value === to ? "page" : null}>${label}</a></li>`)}</ul></nav>`;
}
