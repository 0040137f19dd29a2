// Loads a page again, now or every while, where no range of time is chosen.

import { useEffect } from "preact/hooks";
import { html } from "../kit/html.js";
import { bind } from "../kit/keys.js";
import { loadAgain, refresh, refreshEvery, REFRESHES } from "../kit/range.js";
import { Button } from "./button.js";
import { Icon } from "./icon.js";

/** Returns how often something is loaded, in words. */
export const refreshName = (seconds) => (seconds === 0 ? "Off" : seconds < 60 ? `${seconds} s` : `${seconds / 60} min`);

export function Refresher() {
  useEffect(() => bind("r", "Refresh", loadAgain), []);
  return html`<div class="picker" role="group" aria-label="Refresh">
    <${Button} label="Refresh" work=${loadAgain}><${Icon} name="refresh-cw" /><//>
    <label class="unseen" for="refresh-every">Load again every</label>
    <select id="refresh-every" class="button" value=${refresh.value} onChange=${(event) => refreshEvery(Number(event.currentTarget.value))}>
      ${REFRESHES.map((seconds) => html`<option key=${seconds} value=${seconds}>${refreshName(seconds)}</option>`)}</select></div>`;
}
