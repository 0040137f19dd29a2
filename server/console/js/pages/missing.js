// What a path without a page shows.

import { html } from "../kit/html.js";
import { href } from "../kit/router.js";

export function Page() {
  return html`<div class="head"><h1 tabindex="-1">Nothing here</h1></div>
    <p>There is no page at this address. <a href=${href("/")}>Home</a></p>`;
}
