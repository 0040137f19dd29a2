// Alerts: what fires, what somebody has taken charge of, what is resolved, and all of it over time.

import { useState } from "preact/hooks";
import { get } from "../api/client.js";
import { amount, count } from "../kit/format.js";
import { html } from "../kit/html.js";
import { useLoaded } from "../kit/loading.js";
import { rangeKey, refresh } from "../kit/range.js";
import { href, inQuery, place } from "../kit/router.js";
import { Button } from "../parts/button.js";
import { QuerySelect } from "../parts/fields.js";
import { Head } from "../parts/head.js";
import { Icon } from "../parts/icon.js";
import { Loaded } from "../parts/loaded.js";
import { PAGE_ROWS, Pager, offsetOf } from "../parts/pager.js";
import { TimePicker } from "../parts/time_picker.js";
import { Acts, AlertRow } from "./alerts_rows.js";
import { AlertsNav } from "./alerts_nav.js";
import { Timeline } from "./alerts_timeline.js";

/** @import { Alert } from "telltale" */

const TIMELINE_MAX = 1_000;

const SECTIONS = [
  { status: "firing", title: "Firing", empty: "No alert is firing." },
  { status: "acknowledged", title: "Acknowledged", empty: null },
  { status: "resolved", title: "Resolved", empty: "No resolved alerts." },
];

const SEVERITIES = [
  { value: "", label: "Any severity" },
  { value: "critical", label: "critical" },
  { value: "warning", label: "warning" },
  { value: "info", label: "info" },
];

const STATUSES = [{ value: "", label: "Any status" }, ...SECTIONS.map(({ status }) => ({ value: status, label: status }))];

function pathOf(values) {
  const query = new URLSearchParams();
  const all = { severity: inQuery("severity"), rule_id: inQuery("rule_id"), ...values };
  for (const [name, value] of Object.entries(all)) if (value !== "" && value !== undefined) query.set(name, String(value));
  return /** @type {const} */ (`/alerts?${query}`);
}

const shownSections = () => SECTIONS.filter(({ status }) => !inQuery("status") || inQuery("status") === status);

async function load(abort) {
  const sections = shownSections();
  const lists = sections.map(({ status }) => get(pathOf({ status, limit: PAGE_ROWS, offset: offsetOf(status) || undefined }), abort));
  const [newest, ...found] = await Promise.all([get(pathOf({ limit: TIMELINE_MAX, status: inQuery("status") }), abort), ...lists]);
  const open = found.filter((_, i) => sections[i].status !== "resolved").flatMap(({ data }) => data);
  const known = new Set(newest.data.map(({ id }) => id));
  return {
    sections: sections.map((section, i) => ({ ...section, ...found[i] })),
    alerts: [...newest.data, ...open.filter(({ id }) => !known.has(id))],
    isCut: newest.meta.total > newest.data.length,
  };
}

function Section({ section, onAct }) {
  const { status, title, empty, data, meta } = section;
  if (meta.total === 0 && !empty) return null;
  return html`<section class="card" aria-label=${title}>
    <header><h2>${title}</h2><span class=${`tag ${status === "firing" && meta.total > 0 ? "bad" : ""}`}>${amount(meta.total)}</span>
      ${status === "firing" && data.length > 1 && html`<${Button} work=${() => onAct({ act: "acknowledge", alerts: data })}><${Icon} name="check" />Acknowledge ${data.length}<//>`}</header>
    ${data.length === 0 ? html`<p class="none"><${Icon} name="circle-check" />${empty}</p>`
      : html`<ul class="alerts">${data.map((alert) => html`<${AlertRow} key=${alert.id} alert=${alert} onAct=${onAct} />`)}</ul>`}
    <${Pager} meta=${meta} name=${status} />
  </section>`;
}

/** @param {Props<{alerts: Alert[]}>} props */
function RuleFilter({ alerts }) {
  const id = inQuery("rule_id");
  if (!id) return null;
  const query = Object.fromEntries([...place.value.query].filter(([name]) => name !== "rule_id"));
  return html`<a class="button" href=${href("/alerts", query)} aria-label="Alerts of all rules"><${Icon} name="x" />Rule: <span class="cut">${alerts[0]?.rule_name ?? id}</span></a>`;
}

export function Page() {
  const [acting, setActing] = useState(/** @type {{act: string, alerts: import("telltale").Alert[]} | null} */ (null));
  const filters = ["severity", "rule_id", "status", "firing", "acknowledged", "resolved"].map((name) => inQuery(name)).join(" ");
  const [state, again] = useLoaded(load, refresh.value * 1000, `${rangeKey.value} ${filters}`);
  const show = ({ sections, alerts, isCut }) => html`<div class="sections">
    <${Timeline} alerts=${alerts} isCut=${isCut} at=${state.value.at} />
    ${sections.map((section) => html`<${Section} key=${section.status} section=${section} onAct=${setActing} />`)}</div>`;
  return html`<${Head} title="Alerts"><${TimePicker} /><//>
    <${AlertsNav} />
    <div class="filters"><${QuerySelect} name="status" label="Status" options=${STATUSES} /><${QuerySelect} name="severity" label="Severity" options=${SEVERITIES} />
      <${RuleFilter} alerts=${state.value.data?.alerts ?? []} /></div>
    <${Loaded} state=${state} show=${show} />
    ${acting && html`<${Acts} acting=${acting} onDone=${again} onClose=${() => setActing(null)} />`}
    <p class="unseen" role="status">${state.value.data ? `${count(state.value.data.sections[0]?.meta.total ?? 0, "alert")} ${state.value.data.sections[0]?.status ?? ""}` : ""}</p>`;
}
