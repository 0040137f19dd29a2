// Alerts over time: a row for each rule, a bar for each alert from its beginning to its end. The
// lists below have the same for screen readers.

import { amount, count, instant, minute } from "../kit/format.js";
import { html } from "../kit/html.js";
import { limits } from "../kit/range.js";
import { href } from "../kit/router.js";
import { placed } from "../parts/placed.js";

/** @import { Alert } from "telltale" */

const RULES_MAX = 10;
const BARS_MAX = 300;
const TICKS = 5;
const BAR_LEAST = 0.4;
const ORDER = { critical: 0, warning: 1, info: 2 };

/** Returns the rows: `[{rule, severity, bars: [{alert, from, size}]}]`, the most severe first. */
function rowsOf(alerts, { from, to }, now) {
  const rows = new Map();
  for (const alert of alerts) {
    const begin = Date.parse(alert.fired_at);
    const end = alert.resolved_at ? Date.parse(alert.resolved_at) : now;
    if (end < from || begin > to) continue;
    const key = alert.rule_id ?? alert.rule_name;
    if (!rows.has(key)) rows.set(key, { key, rule: alert.rule_name, severity: alert.severity, bars: [] });
    const first = (100 * (Math.max(begin, from) - from)) / (to - from);
    const size = Math.max(BAR_LEAST, (100 * (Math.min(end, to) - from)) / (to - from) - first);
    rows.get(key).bars.push({ alert, from: Math.min(first, 100 - size), size });
  }
  return [...rows.values()].sort((a, b) => ORDER[a.severity] - ORDER[b.severity] || b.bars.length - a.bars.length);
}

/** @param {Alert} alert */
function titleOf({ rule_name: name, labels, fired_at: fired, resolved_at: resolved, status }) {
  const group = Object.entries(labels).map(([key, value]) => `${key}=${value}`).join(" ");
  return `${name} ${group}\n${instant(fired)} – ${resolved ? instant(resolved) : status}`;
}

function Row({ row }) {
  return html`<div class="lane"><p class="lane-name" title=${row.rule}>${row.rule}</p>
    <div class="lane-bars">${row.bars.slice(0, BARS_MAX).map(({ alert, from, size }) => html`<a key=${alert.id} tabindex="-1" href=${href(`/alerts/${encodeURIComponent(alert.id)}`)}
      class=${`bar-of ${alert.severity} ${alert.status}`} title=${titleOf(alert)} ...${placed({ from, size })}></a>`)}</div></div>`;
}

/** @param {Props<{alerts: Alert[]}>} props */
export function Timeline({ alerts, isCut, at }) {
  const range = limits(at || Date.now());
  const rows = rowsOf(alerts, range, at || Date.now());
  const total = rows.reduce((sum, { bars }) => sum + bars.length, 0);
  const ticks = Array.from({ length: TICKS }, (_, i) => range.from + ((range.to - range.from) * i) / (TICKS - 1));
  return html`<section class="card"><header><h2>Over time</h2><span class="quiet small">${count(total, "alert")} of ${count(rows.length, "rule")}</span></header>
    ${rows.length === 0 ? html`<p class="quiet">No alerts in this range.</p>` : html`<div class="lanes" aria-hidden="true">
      ${rows.slice(0, RULES_MAX).map((row) => html`<${Row} key=${row.key} row=${row} />`)}
      <div class="lane ticks"><p class="lane-name"></p><p class="lane-ticks">${ticks.map((tick) => html`<span key=${tick}>${minute(tick)}</span>`)}</p></div>
    </div>`}
    ${rows.length > RULES_MAX && html`<p class="quiet small">And ${amount(rows.length - RULES_MAX)} more rules.</p>`}
    ${isCut && html`<p class="quiet small">Older alerts than the newest ${amount(alerts.length)} are not drawn.</p>`}
  </section>`;
}
