// The head of a page: its heading, which names the document too, where it is, and its controls.

import { useEffect } from "preact/hooks";
import { html } from "../kit/html.js";
import { href } from "../kit/router.js";

/** `above` is the page that this one is below: `{path, label}`. */
export function Head({ title, above, children }) {
  useEffect(() => {
    document.title = `${title} · Telltale`;
  }, [title]);
  return html`<div class="head">
    <div class="titles">${above && html`<p class="above"><a href=${href(above.path)}>${above.label}</a></p>`}<h1 tabindex="-1">${title}</h1></div>
    ${children && html`<div class="controls">${children}</div>`}
  </div>`;
}
