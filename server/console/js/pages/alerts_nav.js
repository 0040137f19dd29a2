// The views of alerting, as links.

import { useEffect } from "preact/hooks";
import { useElement } from "../kit/element.js";
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
  const nav = /** @type {ElementRef<HTMLElement>} */ (useElement());
  // On narrow screens the views are wider than the page.
  useEffect(() => {
    /** @type {HTMLElement | null} */
    const chosen = nav.current.querySelector("[aria-current]");
    if (chosen) nav.current.scrollLeft = chosen.offsetLeft + chosen.offsetWidth - nav.current.clientWidth;
  }, []);
  return html`<nav class="tabs" aria-label="Alerting" ref=${nav}><ul>${VIEWS.map(([to, label]) => html`<li key=${to}>
    <a href=${href(to)} aria-current=${path.value === to ? "page" : null}>${label}</a></li>`)}</ul></nav>`;
}
