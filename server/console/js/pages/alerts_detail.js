// One alert: its value against the threshold, its history, who was notified and whether that
// succeeded.

import { useMemo, useState } from "preact/hooks";
import { get } from "../api/client.js";
import { amount, instant } from "../kit/format.js";
import { html } from "../kit/html.js";
import { useLoaded } from "../kit/loading.js";
import { loads, refresh } from "../kit/range.js";
import { href } from "../kit/router.js";
import { Button } from "../parts/button.js";
import { Facts } from "../parts/facts.js";
import { Head } from "../parts/head.js";
import { Icon } from "../parts/icon.js";
import { Failure, Loaded } from "../parts/loaded.js";
import { Table } from "../parts/table.js";
import { Time } from "../parts/time.js";
import { Acts, Labels, Marks, SEVERITY_KIND, STATUS_KIND } from "./alerts_rows.js";
import { RuleChart } from "./alerts_rule_chart.js";

/** @import { AlertDetail, AlertEvent, AlertNotification } from "telltale" */

const BEFORE_MS = 3_600_000;
const NOTIFICATION_KIND = { delivered: "good", failed: "bad", dropped: "bad", queued: "warn" };

/** @param {AlertDetail} alert */
function factsOf(alert) {
  const { rule_id: rule, muted_by: window } = alert;
  const { cycle, next_step_at: next } = alert.escalation;
  return [
    ["Rule", rule ? html`<a href=${href(`/alerts/rules/${encodeURIComponent(rule)}`)}>${alert.rule_name}</a>` : alert.rule_name],
    ["Condition", alert.condition_text],
    ["Value", alert.value === null ? "no data" : amount(alert.value)],
    alert.threshold !== null && ["Threshold", amount(alert.threshold)],
    ["Since", html`<${Time} at=${alert.since} /> <span class="quiet small">${instant(alert.since)}</span>`],
    ["Fired", html`<${Time} at=${alert.fired_at} /> <span class="quiet small">${instant(alert.fired_at)}</span>`],
    alert.acknowledged_at && ["Acknowledged", html`<${Time} at=${alert.acknowledged_at} /> by ${alert.acknowledged_by}`],
    alert.resolved_at && ["Resolved", html`<${Time} at=${alert.resolved_at} /> ${alert.resolved_by ? `by ${alert.resolved_by}` : "its condition ended"}`],
    next && ["Next step", html`<${Time} at=${next} />${cycle > 0 ? `, after ${cycle} repeats` : ""}`],
    window && ["Muted by", html`<a href=${href(`/alerts/windows/${encodeURIComponent(window)}`)}>a maintenance window</a>`],
    alert.services.length > 0 && ["Services", alert.services.join(", ")],
    ["Deduplication key", html`<span class="mono">${alert.dedup_key}</span>`],
  ];
}

/** @param {Props<{events: AlertEvent[]}>} props */
function History({ events }) {
  return html`<section class="card"><header><${Icon} name="history" /><h2>History</h2></header>
    <ol class="history">${events.map((event, i) => html`<li key=${i} class=${event.event}><span><strong>${event.event}</strong>${event.by && html` by ${event.by}`}
      ${event.value !== null && html` · ${amount(event.value)}`}</span>
      <span class="quiet small"><${Time} at=${event.at} /> · ${instant(event.at)}</span>${event.note && html`<span class="small">${event.note}</span>`}</li>`)}</ol></section>`;
}

/** @type {Column<AlertNotification>[]} */
const COLUMNS = [
  { label: "To", cell: (one) => (one.user ? one.user : one.channel_id ? html`<a href=${href(`/alerts/channels/${encodeURIComponent(one.channel_id)}`)}>${one.channel_name ?? "a deleted channel"}</a>` : "–") },
  { label: "About", cell: (one) => one.kind },
  { label: "Step", cell: (one) => (one.step_delay_minutes === null ? "the rule" : `${one.step_delay_minutes} min${one.cycle > 0 ? `, repeat ${one.cycle}` : ""}`) },
  { label: "Status", cell: (one) => html`<span><span class=${`tag ${NOTIFICATION_KIND[one.status] ?? ""}`}>${one.status}</span>${one.error && html` <span class="small">${one.error}</span>`}</span>` },
  { label: "Attempts", isNumber: true, cell: (one) => amount(one.attempts) },
  { label: "When", isEnd: true, cell: (one) => html`<${Time} at=${one.updated_at} />` },
];

/** @param {Props<{notifications: AlertNotification[]}>} props */
function Notifications({ notifications }) {
  return html`<section class="card"><header><${Icon} name="send" /><h2>Notifications</h2></header>
    ${notifications.length === 0 ? html`<p class="quiet">Nobody was notified.</p>`
      : html`<${Table} label="Notifications" columns=${COLUMNS} rows=${[...notifications].reverse()} keyOf=${(one) => one.message_id} />`}</section>`;
}

/**
 * The values of the rule around the alert.
 * @param {Props<{alert: AlertDetail}>} props
 */
function Values({ alert }) {
  const [state] = useLoaded(async (abort) => (alert.rule_id ? get(`/alert_rules/${encodeURIComponent(alert.rule_id)}`, abort).catch(() => null) : null), 0, alert.rule_id ?? "");
  const rule = state.value.data?.data;
  const between = useMemo(() => {
    const end = alert.resolved_at ? Date.parse(alert.resolved_at) : Date.now();
    return { from: Date.parse(alert.since) - BEFORE_MS, to: Math.min(Date.now(), end + BEFORE_MS / 2) };
  }, [alert.id, alert.resolved_at, alert.value]);
  if (!rule || "alert" in rule.query) return null;
  const marks = [{ at: Date.parse(alert.fired_at), label: "fired" }, alert.resolved_at && { at: Date.parse(alert.resolved_at), label: "resolved" }].filter(Boolean);
  return html`<section class="card"><header><${Icon} name="chart-line" /><h2>Values</h2></header>
    <${RuleChart} rule=${rule} between=${between} labels=${alert.labels} marks=${marks} /></section>`;
}

export function Page({ params }) {
  const [acting, setActing] = useState(/** @type {{act: string, alerts: import("telltale").Alert[]} | null} */ (null));
  const [state, again] = useLoaded((abort) => get(`/alerts/${encodeURIComponent(params.id)}`, abort), refresh.value * 1000, String(loads.value));
  const alert = state.value.data?.data;
  const above = { path: "/alerts", label: "Alerts" };
  if (!alert) return html`<${Head} title="Alert" above=${above} />${state.value.failure ? html`<${Failure} failure=${state.value.failure} />` : html`<p class="quiet" role="status">Loading…</p>`}`;
  const show = () => html`<div class="sections">
    <section class="card"><p class="tags"><span class=${`tag ${STATUS_KIND[alert.status]}`}>${alert.status}</span><span class=${`tag ${SEVERITY_KIND[alert.severity] ?? ""}`}>${alert.severity}</span>
      <${Marks} alert=${alert} /></p><${Labels} labels=${alert.labels} />
      ${alert.summary && html`<p class="said">${alert.summary}</p>`}<${Facts} facts=${factsOf(alert)} /></section>
    <${Values} alert=${alert} />
    <${Notifications} notifications=${alert.notifications} />
    <${History} events=${alert.history} /></div>`;
  return html`<${Head} title=${alert.rule_name} above=${above}>
      ${alert.status === "firing" && html`<${Button} kind="first" work=${() => setActing({ act: "acknowledge", alerts: [alert] })}><${Icon} name="check" />Acknowledge<//>`}
      ${alert.status !== "resolved" && html`<${Button} work=${() => setActing({ act: "resolve", alerts: [alert] })}>Resolve<//>`}
      <${Button} label="Refresh" work=${again}><${Icon} name="refresh-cw" /><//><//>
    <${Loaded} state=${state} show=${show} />
    ${acting && html`<${Acts} acting=${acting} onDone=${again} onClose=${() => setActing(null)} />`}`;
}
