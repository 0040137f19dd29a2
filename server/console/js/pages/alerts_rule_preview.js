// When the rule of a form would have fired: a chart of the real data with the threshold, and facts.

import { useMemo } from "preact/hooks";
import { call } from "../api/client.js";
import { amount, count, duration, instant, share } from "../kit/format.js";
import { html } from "../kit/html.js";
import { useLoaded } from "../kit/loading.js";
import { inQuery, setQuery } from "../kit/router.js";
import { Facts } from "../parts/facts.js";
import { Icon } from "../parts/icon.js";
import { Failure } from "../parts/loaded.js";
import { Table } from "../parts/table.js";
import { Labels } from "./alerts_rows.js";
import { RuleChart } from "./alerts_rule_chart.js";
import { observedOf } from "./alerts_rule_draft.js";
import { useSettled } from "./alerts_rule_query.js";

const RANGES = { "6h": 6, "24h": 24, "7d": 168, "30d": 720 };
const SETTLED_MS = 600;
const MARKS_MAX = 100;
const ROWS_MAX = 20;
const HOUR_MS = 3_600_000;

/** Returns how long alerts would have fired altogether and at most, where overlaps count once. */
function lengthsOf(alerts, end) {
  const periods = alerts.map((one) => [Date.parse(one.fired_at), one.resolved_at ? Date.parse(one.resolved_at) : end]).sort((a, b) => a[0] - b[0]);
  let [total, longest, until] = [0, 0, -Infinity];
  for (const [from, to] of periods) {
    longest = Math.max(longest, to - from);
    total += Math.max(0, to - Math.max(from, until));
    until = Math.max(until, to);
  }
  return { total, longest };
}

function factsOf({ alerts, evaluations, step_seconds: step, stopped_at: stopped }, { from, to }) {
  const end = stopped ? Date.parse(stopped) : to;
  const { total, longest } = lengthsOf(alerts, end);
  const groups = new Set(alerts.map((one) => JSON.stringify(one.labels))).size;
  const open = alerts.filter((one) => one.resolved_at === null).length;
  return [
    ["Alerts", stopped ? `${amount(alerts.length)} until ${instant(stopped)}, where the preview ended` : amount(alerts.length)],
    alerts.length > 0 && ["Groups", amount(groups)],
    alerts.length > 0 && ["Firing", `${duration(total / 1000)}, ${share(total / (end - from))} of the time`],
    alerts.length > 0 && ["Longest", duration(longest / 1000)],
    alerts.length > 0 && ["Would fire now", amount(open)],
    alerts.some((one) => one.flapping) && ["Flapping", count(alerts.filter((one) => one.flapping).length, "alert")],
    ["Evaluated", `${amount(evaluations)} times, every ${duration(step)}`],
  ];
}

const COLUMNS = [
  { label: "Group", cell: (one) => (Object.keys(one.labels).length ? html`<${Labels} labels=${one.labels} />` : html`<span class="quiet">none</span>`) },
  { label: "Fired", cell: (one) => instant(one.fired_at) },
  { label: "Resolved", cell: (one) => (one.resolved_at ? instant(one.resolved_at) : "still fires") },
  { label: "Value", isNumber: true, cell: (one) => (one.value === null ? "no data" : amount(one.value)) },
];

function Found({ found, rule, between }) {
  const marks = useMemo(() => found.alerts.slice(0, MARKS_MAX).map((one) => ({ at: Date.parse(one.fired_at), label: "would have fired" })), [found]);
  const rows = [...found.alerts].reverse().slice(0, ROWS_MAX);
  return html`<p class="verdict">${found.alerts.length === 0 ? "It would not have fired." : html`It would have fired <strong>${count(found.alerts.length, "time")}</strong>.`}</p>
    <${RuleChart} rule=${rule} between=${between} marks=${marks} />
    <${Facts} facts=${factsOf(found, between)} />
    ${rows.length > 0 && html`<details><summary>${found.alerts.length > ROWS_MAX ? `The last ${ROWS_MAX} of ${amount(found.alerts.length)} alerts` : count(rows.length, "alert")}</summary>
      <${Table} label="Alerts that would have fired" columns=${COLUMNS} rows=${rows} keyOf=${(one) => `${one.fired_at} ${JSON.stringify(one.labels)}`} /></details>`}`;
}

async function load(rule, range, abort) {
  if (!rule.query[Object.keys(rule.query)[0]] || rule.query.alert !== undefined) return null;
  if (rule.condition && rule.condition.op !== "absent" && rule.condition.threshold === undefined) return null;
  const to = Date.now();
  const between = { from: to - RANGES[range] * HOUR_MS, to };
  const body = { rule, from: new Date(between.from).toISOString(), to: new Date(to).toISOString() };
  const { data } = await call("POST", "/alert_rules/preview", { body, abort });
  return { found: data, between, rule };
}

export function Preview({ draft }) {
  const range = RANGES[inQuery("preview")] ? inQuery("preview") : "24h";
  const text = useSettled(JSON.stringify(observedOf(draft)), SETTLED_MS);
  const [state] = useLoaded((abort) => load(JSON.parse(text), range, abort), 0, `${text} ${range}`);
  const { data, failure, isLoading } = state.value;
  return html`<section class="card preview" aria-label="Preview"><header><${Icon} name="chart-line" /><h2>Preview</h2>
      <div class="choices small" role="group" aria-label="Range of the preview">${Object.keys(RANGES).map((one) => html`<button key=${one} type="button" class="button small"
        aria-pressed=${one === range ? "true" : "false"} onClick=${() => setQuery({ preview: one }, { replace: true })}><span class="unseen">Last </span>${one}</button>`)}</div></header>
    <div aria-live="polite" aria-busy=${isLoading ? "true" : "false"} class="stack">
      ${failure ? html`<${Failure} failure=${failure} />` : data ? html`<${Found} ...${data} />`
        : html`<p class="quiet">${isLoading && data === undefined ? "Loading…" : draft.source === "alert" ? "Rules about received alerts have no preview." : "Say what to observe and when it fires, and see when it would have fired."}</p>`}</div>
  </section>`;
}
