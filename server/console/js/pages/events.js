// Events.
import { html } from "../kit/html.js";
export function Page() { return html`<p />`; }
