// How a window recurs: every day, on days of the week, on a day of the month, or any RRULE.

import { useState } from "preact/hooks";
import { html } from "../kit/html.js";
import { Field, Select } from "../parts/fields.js";

const DAYS = [["MO", "Mon"], ["TU", "Tue"], ["WE", "Wed"], ["TH", "Thu"], ["FR", "Fri"], ["SA", "Sat"], ["SU", "Sun"]];
const KINDS = [
  { value: "daily", label: "every day" },
  { value: "weekly", label: "every week" },
  { value: "monthly", label: "every month" },
  { value: "other", label: "by a rule (RRULE)" },
];

/** Returns what a rule is: `{kind, days, day}`. */
function parsed(rule) {
  const text = rule.trim().toUpperCase();
  if (text === "FREQ=DAILY") return { kind: "daily", days: [], day: "" };
  const weekly = /^FREQ=WEEKLY(?:;BYDAY=((?:MO|TU|WE|TH|FR|SA|SU)(?:,(?:MO|TU|WE|TH|FR|SA|SU))*))?$/.exec(text);
  if (weekly) return { kind: "weekly", days: weekly[1]?.split(",") ?? [], day: "" };
  const monthly = /^FREQ=MONTHLY(?:;BYMONTHDAY=(-?\d{1,2}))?$/.exec(text);
  if (monthly) return { kind: "monthly", days: [], day: monthly[1] ?? "" };
  return { kind: "other", days: [], day: "" };
}

function ruleOf({ kind, days, day }) {
  if (kind === "daily") return "FREQ=DAILY";
  if (kind === "weekly") return days.length > 0 ? `FREQ=WEEKLY;BYDAY=${DAYS.map(([name]) => name).filter((name) => days.includes(name)).join(",")}` : "FREQ=WEEKLY";
  return day ? `FREQ=MONTHLY;BYMONTHDAY=${day}` : "FREQ=MONTHLY";
}

export function Recurrence({ rule, failure, onChange }) {
  const [isOther, setOther] = useState(parsed(rule).kind === "other");
  const now = isOther ? { kind: "other", days: [], day: "" } : parsed(rule);
  const choose = (kind) => {
    setOther(kind === "other");
    if (kind !== "other") onChange(ruleOf({ ...now, kind }));
  };
  const toggle = (name) => onChange(ruleOf({ ...now, days: now.days.includes(name) ? now.days.filter((one) => one !== name) : [...now.days, name] }));
  return html`<div class="stack">
    <${Select} id="recurs" name="recurring" label="It recurs" options=${KINDS} value=${now.kind} failure=${failure} onChange=${(event) => choose(event.currentTarget.value)} />
    ${now.kind === "weekly" && html`<fieldset class="field"><legend class="legend">On</legend><div class="choices">${DAYS.map(([name, label]) => html`<label key=${name}>
      <input type="checkbox" checked=${now.days.includes(name)} onChange=${() => toggle(name)} />${label}</label>`)}</div><p class="hint">None: on the day of the week that it begins on</p></fieldset>`}
    ${now.kind === "monthly" && html`<${Field} id="recurs-day" name="recurrence_rule" label="On the day of the month" type="number" min="-31" max="31" hint="Empty: the day that it begins on; -1 is the last" failure=${failure}
      value=${now.day} onInput=${(event) => onChange(ruleOf({ ...now, day: event.currentTarget.value }))} />`}
    ${now.kind === "other" ? html`<${Field} id="recurs-rule" name="recurrence_rule" label="Rule" hint="An RRULE of RFC 5545, such as FREQ=MONTHLY;BYDAY=1SU" failure=${failure} value=${rule} onInput=${(event) => onChange(event.currentTarget.value)} />`
      : html`<p class="quiet small mono">${rule}</p>`}
  </div>`;
}
