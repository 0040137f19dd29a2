// Escalation policies, each drawn as a ladder: who is notified when.

import { get } from "../api/client.js";
import { html } from "../kit/html.js";
import { useLoaded } from "../kit/loading.js";
import { href, inQuery } from "../kit/router.js";
import { Button } from "../parts/button.js";
import { Head } from "../parts/head.js";
import { Icon } from "../parts/icon.js";
import { Loaded } from "../parts/loaded.js";
import { Pager, offsetOf } from "../parts/pager.js";
import { Ladder } from "./alerts_ladder.js";
import { AlertsNav } from "./alerts_nav.js";

/** @import { EscalationPolicy } from "telltale" */

/** Fewer than in other lists: each is loaded with its steps. */
const ROWS = 20;

async function load(abort) {
  const found = await get(`/escalation_policies?limit=${ROWS}&offset=${offsetOf()}`, abort);
  const whole = await Promise.all(found.data.map(({ id }) => get(`/escalation_policies/${encodeURIComponent(id)}`, abort)));
  return { data: whole.map(({ data }) => data), meta: found.meta };
}

/** @param {Props<{policy: EscalationPolicy}>} props */
function Policy({ policy }) {
  return html`<section class="card"><header><h2><a href=${href(`/alerts/policies/${encodeURIComponent(policy.id)}`)}>${policy.name}</a></h2>
      ${!policy.enabled && html`<span class="tag">disabled</span>`}</header>
    ${policy.description && html`<p class="quiet">${policy.description}</p>`}<${Ladder} policy=${policy} /></section>`;
}

export function Page() {
  const [state, again] = useLoaded(load, 0, inQuery("offset"));
  const show = ({ data, meta }) => html`<div class="grid two">${data.map((policy) => html`<${Policy} key=${policy.id} policy=${policy} />`)}</div><${Pager} meta=${meta} />`;
  return html`<${Head} title="Escalation policies"><a class="button first" href=${href("/alerts/policies/new")}><${Icon} name="plus" />New policy</a><${Button} label="Refresh" work=${again}><${Icon} name="refresh-cw" /><//><//>
    <${AlertsNav} />
    <${Loaded} state=${state} show=${show} empty=${{ is: ({ meta }) => meta.total === 0, text: "No escalation policies. A policy notifies one channel after another until somebody acknowledges." }} />`;
}
