// The fields of the thresholds of a widget: values from which on a number means something else.

import { html } from "../kit/html.js";
import { Button } from "../parts/button.js";
import { Icon } from "../parts/icon.js";

const LEVELS = [["good", "good"], ["warning", "warning"], ["critical", "critical"]];

export function Levels({ levels, set, failure }) {
  const change = (at, changes) => set({ thresholds: levels.map((one, i) => (i === at ? { ...one, ...changes } : one)) });
  const add = () => set({ thresholds: [...levels, { value: "", level: levels.length === 0 ? "warning" : "critical", label: "" }] });
  const wrong = failure?.field?.startsWith("options.thresholds") ? failure.message : "";
  return html`<fieldset class="field"><legend class="legend">Thresholds</legend>
    <ul class="pairs-edit levels-edit">${levels.map((one, at) => html`<li key=${at}>
      <input type="number" step="any" aria-label=${`Value of threshold ${at + 1}`} placeholder="from" value=${one.value} aria-invalid=${wrong ? "true" : null} onInput=${(event) => change(at, { value: event.currentTarget.value })} />
      <select aria-label=${`Level of threshold ${at + 1}`} value=${one.level} onChange=${(event) => change(at, { level: event.currentTarget.value })}>${LEVELS.map(([value, label]) => html`<option key=${value}
        value=${value}>${label}</option>`)}</select>
      <input aria-label=${`Label of threshold ${at + 1}`} placeholder="label" maxlength="200" value=${one.label} onInput=${(event) => change(at, { label: event.currentTarget.value })} />
      <${Button} kind="plain" label=${`Remove threshold ${at + 1}`} work=${() => set({ thresholds: levels.filter((_, i) => i !== at) })}><${Icon} name="x" /><//></li>`)}</ul>
    ${wrong && html`<p class="wrong">${wrong}</p>`}
    <div><${Button} kind="small" work=${add}><${Icon} name="plus" />Threshold<//></div></fieldset>`;
}
