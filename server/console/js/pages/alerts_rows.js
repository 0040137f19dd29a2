// Rows of alerts, and what can be done with them: take charge, resolve.

import { call } from "../api/client.js";
import { failed } from "../kit/failed.js";
import { amount, count } from "../kit/format.js";
import { html } from "../kit/html.js";
import { href } from "../kit/router.js";
import { toast } from "../kit/toasts.js";
import { Button } from "../parts/button.js";
import { Confirm } from "../parts/confirm.js";
import { Icon } from "../parts/icon.js";
import { Time } from "../parts/time.js";

/** @import { Alert } from "telltale" */

export const SEVERITY_KIND = { critical: "bad", warning: "warn", info: "" };
export const STATUS_KIND = { firing: "bad", acknowledged: "warn", resolved: "good" };

/**
 * The group of an alert: names with values.
 * @param {Props<{labels: Alert["labels"]}>} props
 */
export function Labels({ labels }) {
  const all = Object.entries(labels);
  if (all.length === 0) return null;
  return html`<ul class="tags" aria-label="Group">${all.map(([name, value]) => html`<li class="tag label" key=${name}>${name}=${value}</li>`)}</ul>`;
}

/**
 * What there is to say about an alert besides its status.
 * @param {Props<{alert: Alert}>} props
 */
export function Marks({ alert }) {
  return html`${alert.muted && html`<span class="tag"><${Icon} name="bell-off" />muted</span>`}
    ${alert.flapping && html`<span class="tag warn">flapping</span>`}`;
}

/**
 * Returns the value with what it is compared with, as the API has them.
 * @param {Pick<Alert, "value" | "threshold">} alert
 */
function valueText({ value, threshold }) {
  if (value === null) return threshold === null ? "no data" : "";
  return threshold === null ? amount(value) : `${amount(value)} (threshold ${amount(threshold)})`;
}

/** @param {Props<{alert: Alert}>} props */
export function AlertRow({ alert, onAct }) {
  const { id, rule_name: name, severity, status, summary, condition_text: condition, labels, since, resolved_at: resolvedAt } = alert;
  const value = valueText(alert);
  const of = `${name}${Object.values(labels).length ? ` (${Object.values(labels).join(", ")})` : ""}`;
  return html`<li class=${`alert ${severity}`}>
    <div class="alert-what">
      <p class="alert-name"><a href=${href(`/alerts/${encodeURIComponent(id)}`)}>${name}</a> <span class=${`tag ${SEVERITY_KIND[severity] ?? ""}`}>${severity}</span>
        <${Marks} alert=${alert} /></p>
      <${Labels} labels=${labels} />
      ${summary && html`<p>${summary}</p>`}
      <p class="quiet small">${condition}${value && html` · <strong>${value}</strong>`} · ${status === "resolved"
        ? html`resolved <${Time} at=${resolvedAt} />` : html`since <${Time} at=${since} />`}${alert.acknowledged_by && html` · acknowledged by ${alert.acknowledged_by}`}</p>
    </div>
    ${status !== "resolved" && html`<div class="alert-acts">
      ${status === "firing" && html`<${Button} label=${`Acknowledge ${of}`} work=${() => onAct({ act: "acknowledge", alerts: [alert] })}><${Icon} name="check" />Acknowledge<//>`}
      <${Button} label=${`Resolve ${of}`} work=${() => onAct({ act: "resolve", alerts: [alert] })}>Resolve<//></div>`}
  </li>`;
}

const DONE = { acknowledge: "acknowledged", resolve: "resolved" };

/**
 * Does it one by one; what is resolved already needs nothing.
 * @param {string} act
 * @param {Alert[]} alerts
 */
async function actOn(act, alerts) {
  let done = 0;
  for (const { id } of alerts) {
    try {
      await call("POST", `/alerts/${encodeURIComponent(id)}/${act}`);
      done += 1;
    } catch (thrown) {
      const failure = failed(thrown);
      if (failure.status !== 409 && failure.status !== 404) throw failure;
    }
  }
  return done;
}

/** Asks, with what and how many, and does it. `acting`: `{act, alerts}`. */
export function Acts({ acting, onDone, onClose }) {
  const { act, alerts } = acting;
  const many = alerts.length > 1;
  const work = async () => {
    const done = await actOn(act, alerts);
    toast(`${count(done, "alert")} ${DONE[act]}${done < alerts.length ? `; ${count(alerts.length - done, "alert")} had ended already` : ""}.`);
    onDone();
  };
  const isAck = act === "acknowledge";
  return html`<${Confirm} title=${isAck ? (many ? `Acknowledge ${alerts.length} alerts?` : "Acknowledge the alert?") : "Resolve the alert?"}
    act=${isAck ? "Acknowledge" : "Resolve"} kind=${isAck ? "first" : "grave"} work=${work} onClose=${onClose}>
    <div class="stack"><ul class="plain-list">${alerts.slice(0, 5).map(({ id, rule_name: name, labels }) => html`<li key=${id}><strong>${name}</strong> <span class="quiet">${Object.entries(labels).map(([k, v]) => `${k}=${v}`).join(" ")}</span></li>`)}
      ${alerts.length > 5 && html`<li class="quiet">and ${alerts.length - 5} more</li>`}</ul>
    <p>${isAck ? "You take charge: the escalation stops, and whoever was notified gets to know."
      : "It ends, also if its condition is still met. The next alert of the same group begins after the condition was not met once."}</p></div>
  <//>`;
}
