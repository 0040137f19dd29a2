// The views of a page, as links: each has an address.

import { html } from "../kit/html.js";
import { href, place } from "../kit/router.js";

/** Returns the view that the address names, or the first. */
export function viewOf(views, name = "view") {
  const wanted = place.value.query.get(name);
  return (views.find((view) => view.name === wanted) ?? views[0]).name;
}

/** `views`: `{name, label, count}`; the first is the one without a name in the address. */
export function Tabs({ label, views, name = "view", keep = [] }) {
  const current = viewOf(views, name);
  const linkTo = (view) => {
    const query = Object.fromEntries(["last", "from", "to", ...keep].map((one) => [one, place.value.query.getAll(one)]));
    return href(place.value.path, { ...query, [name]: view === views[0] ? null : view.name });
  };
  return html`<nav class="tabs" aria-label=${label}><ul>${views.map((view) => html`<li key=${view.name}>
    <a href=${linkTo(view)} aria-current=${view.name === current ? "page" : null}>${view.label}${view.count === undefined ? null
      : html` <span class="tag">${view.count}</span>`}</a></li>`)}</ul></nav>`;
}
