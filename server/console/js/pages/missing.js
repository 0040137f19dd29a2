// What a path without a page shows.

import { html } from "../kit/html.js";
import { href } from "../kit/router.js";
import { Head } from "../parts/head.js";

export function Page() {
  return html`<${Head} title="Nothing here" />
    <p>There is no page at this address. <a href=${href("/")}>Home</a></p>`;
}
