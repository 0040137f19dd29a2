// The views of alerting, as links.

import { html } from "../kit/html.js";
import { href, path } from "../kit/router.js";

const VIEWS = [
  ["/alerts", "Alerts"],
  ["/alerts/rules", "Rules"],
  ["/alerts/windows", "Maintenance"],
  ["/alerts/channels", "Channels"],
  ["/alerts/policies", "Escalation"],
];

export function AlertsNav() {
  return html`<nav class="tabs" aria-label="Alerting"><ul>${VIEWS.map(([to, label]) => html`<li key=${to}>
    <a href=${href(to)} aria-current=${path.value === to ? "page" : null}>${label}</a></li>`)}</ul></nav>`;
}
