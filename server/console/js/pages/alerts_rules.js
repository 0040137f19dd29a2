// The alert rules: their conditions, whether they are enabled, and whether they fire now.

import { call, get } from "../api/client.js";
import { amount } from "../kit/format.js";
import { html } from "../kit/html.js";
import { useLoaded } from "../kit/loading.js";
import { href, inQuery } from "../kit/router.js";
import { doing } from "../kit/toasts.js";
import { Button } from "../parts/button.js";
import { QuerySelect } from "../parts/fields.js";
import { Head } from "../parts/head.js";
import { Icon } from "../parts/icon.js";
import { Loaded } from "../parts/loaded.js";
import { PAGE_ROWS, Pager, offsetOf } from "../parts/pager.js";
import { Table } from "../parts/table.js";
import { AlertsNav } from "./alerts_nav.js";
import { SEVERITY_KIND } from "./alerts_rows.js";

/** @import { AlertRuleSummary } from "telltale" */

const ENABLED = [{ value: "", label: "Enabled or not" }, { value: "true", label: "enabled" }, { value: "false", label: "not enabled" }];
const SEVERITIES = ["", "critical", "warning", "info"].map((value) => ({ value, label: value || "Any severity" }));
const OPEN_MAX = 1_000;

async function load(abort) {
  const query = new URLSearchParams({ limit: String(PAGE_ROWS), offset: String(offsetOf()) });
  for (const name of ["enabled", "severity"]) if (inQuery(name)) query.set(name, inQuery(name));
  const [rules, firing] = await Promise.all([get(`/alert_rules?${query}`, abort), get(`/alerts?status=firing&limit=${OPEN_MAX}`, abort)]);
  const counts = new Map();
  for (const { rule_id: id } of firing.data) counts.set(id, (counts.get(id) ?? 0) + 1);
  return { ...rules, counts };
}

/** @returns {Column<AlertRuleSummary>[]} */
function columns(counts, again) {
  const toggle = async ({ id, enabled }) => {
    await doing(() => call("PATCH", `/alert_rules/${encodeURIComponent(id)}`, { body: { enabled: !enabled } }), enabled ? "The rule is switched off." : "The rule is switched on.");
    again();
  };
  return [
    { label: "Name", cell: (rule) => html`<a class="name" href=${href(`/alerts/rules/${encodeURIComponent(rule.id)}`)}>${rule.name}</a>` },
    { label: "Condition", cell: (rule) => html`<span class="condition">${rule.condition_text}</span>` },
    { label: "Severity", cell: (rule) => html`<span class=${`tag ${SEVERITY_KIND[rule.severity]}`}>${rule.severity}</span>` },
    { label: "Firing", isNumber: true, cell: (rule) => (counts.get(rule.id) ? html`<a href=${href("/alerts", { rule_id: rule.id, status: "firing" })} class="tag bad">${amount(counts.get(rule.id))}</a>` : html`<span class="quiet">0</span>`) },
    { label: "Enabled", isEnd: true, cell: (rule) => html`<button type="button" class="switch" role="switch" aria-checked=${rule.enabled ? "true" : "false"} aria-label=${`${rule.name} is enabled`} onClick=${() => toggle(rule)}></button>` },
  ];
}

export function Page() {
  const [state, again] = useLoaded(load, 30_000, ["enabled", "severity", "offset"].map((name) => inQuery(name)).join(" "));
  const isFiltered = inQuery("enabled") || inQuery("severity");
  const show = ({ data, meta, counts }) => html`<section class="card"><${Table} label="Alert rules" columns=${columns(counts, again)} rows=${data} keyOf=${({ id }) => id} /><${Pager} meta=${meta} /></section>`;
  return html`<${Head} title="Alert rules"><a class="button first" href=${href("/alerts/rules/new")}><${Icon} name="plus" />New rule</a><${Button} label="Refresh" work=${again}><${Icon} name="refresh-cw" /><//><//>
    <${AlertsNav} />
    <div class="filters"><${QuerySelect} name="severity" label="Severity" options=${SEVERITIES} /><${QuerySelect} name="enabled" label="Enabled" options=${ENABLED} /></div>
    <${Loaded} state=${state} show=${show} empty=${{ is: ({ meta }) => meta.total === 0, text: isFiltered ? "No rule is like this." : "No alert rules yet. A rule fires when a metric or events meet a condition." }} />`;
}
