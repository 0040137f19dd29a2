// The messages about what was done, over the page.

import { html } from "../kit/html.js";
import { dismiss, toasts } from "../kit/toasts.js";
import { Button } from "./button.js";
import { Icon } from "./icon.js";

export function ToastList() {
  return html`<div class="toasts" role="status">${toasts.value.map(({ id, text, kind, undo }) => html`<p key=${id} class=${`toast ${kind}`}>
    <${Icon} name=${kind === "bad" ? "triangle-alert" : "circle-check"} /><span>${text}</span>
    ${undo && html`<${Button} kind="plain" work=${async () => { dismiss(id); await undo(); }}>Undo<//>`}
    <${Button} kind="plain" label="Dismiss" work=${() => dismiss(id)}><${Icon} name="x" /><//></p>`)}</div>`;
}
