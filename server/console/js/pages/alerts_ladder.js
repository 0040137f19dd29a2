// An escalation policy as a ladder: its steps in the order of time, and what repeats.

import { count } from "../kit/format.js";
import { html } from "../kit/html.js";
import { href } from "../kit/router.js";
import { Icon } from "../parts/icon.js";

/** @import { EscalationPolicy, EscalationStep } from "telltale" */

/** Returns the steps by their delay: `[[minutes, steps], …]`. */
function rungsOf(steps) {
  const rungs = new Map();
  for (const step of [...steps].sort((a, b) => a.delay_minutes - b.delay_minutes)) {
    if (!rungs.has(step.delay_minutes)) rungs.set(step.delay_minutes, []);
    rungs.get(step.delay_minutes).push(step);
  }
  return [...rungs];
}

/** @param {Props<{step: EscalationStep}>} props */
function Receiver({ step }) {
  if (!step.channel_id) return html`<span class="quiet">no channel yet</span>`;
  return html`<a href=${href(`/alerts/channels/${encodeURIComponent(step.channel_id)}`)}>${step.channel_name ?? "a deleted channel"}</a>`;
}

/**
 * `policy` is as the API has it; in a form some of it may be missing.
 * @param {Props<{policy: Pick<EscalationPolicy, "steps" | "repeat" | "repeat_after_minutes" | "max_repeats">}>} props
 */
export function Ladder({ policy }) {
  const { steps, repeat, repeat_after_minutes: after, max_repeats: most } = policy;
  if (steps.length === 0) return html`<p class="quiet">It has no steps: nobody is notified.</p>`;
  return html`<ol class="ladder">
    ${rungsOf(steps).map(([minutes, all]) => html`<li key=${minutes}><span class="rung-when">${minutes === 0 ? "at once" : `after ${count(minutes, "minute")}`}</span>
      <ul class="rung">${all.map((step, i) => html`<li key=${i}><${Icon} name="send" /><${Receiver} step=${step} /></li>`)}</ul></li>`)}
    <li class="rung-end"><span class="rung-when">${repeat ? html`<${Icon} name="repeat" /> ${after ? `${count(after, "minute")} later` : "later"}` : "then"}</span>
      <span class="quiet">${repeat ? `from the top, ${most === null || most === undefined ? "" : "at most "}${count(most ?? 3, "time")}` : "nobody else is notified"}</span></li>
  </ol>
  <p class="quiet small">Until somebody acknowledges.</p>`;
}
