// The variables of a dashboard: what its readers choose, which the address carries.

import { useState } from "preact/hooks";
import { get } from "../api/client.js";
import { html } from "../kit/html.js";
import { useLoaded } from "../kit/loading.js";
import { inQuery, place, setQuery } from "../kit/router.js";
import { Button } from "../parts/button.js";
import { Dialog } from "../parts/dialog.js";
import { Icon } from "../parts/icon.js";
import { conditionOf } from "../parts/metric_query.js";
import { inAddress } from "./dashboards_board.js";

const ALL = "*";
const LISTED_MAX = 1_000;

/** Returns the values of a condition such as `a,b`: a backslash takes the meaning from what follows it. */
function valuesOf(condition) {
  if (condition === ALL || condition === "") return [];
  const parts = condition.match(/(?:\\.|[^,\\])+/gs) ?? [];
  return parts.map((part) => part.replace(/\\(.)/gs, "$1"));
}

const isPlain = (condition) => !condition.startsWith("!") && !/(^|[^\\])\*$/.test(condition);

async function loadValues({ source, values }, abort) {
  if (values) return values;
  if (source?.metric) {
    const { data } = await get(`/metrics/${encodeURIComponent(source.metric)}/tags/${encodeURIComponent(source.tag)}/values?limit=${LISTED_MAX}`, abort);
    return data.map(({ value }) => value);
  }
  if (source?.event) {
    const query = new URLSearchParams({ field: `tags.${source.tag}`, name: source.event, limit: "200" });
    return (await get(`/events/values?${query}`, abort)).data.map(({ value }) => value);
  }
  return [];
}

const choose = (name, value) => setQuery({ [inAddress(name)]: value });

/** One of a list. */
function One({ variable, chosen, values }) {
  const { name, label } = variable;
  const known = new Map(values.map((value) => [conditionOf(value), value || "(none)"]));
  if (chosen !== ALL && !known.has(chosen)) known.set(chosen, chosen);
  return html`<label class="variable"><span>${label ?? name}</span><select value=${chosen} onChange=${(event) => choose(name, event.currentTarget.value)}>
    <option value=${ALL}>All</option>${[...known].map(([value, text]) => html`<option key=${value} value=${value}>${text}</option>`)}</select></label>`;
}

function Several({ variable, chosen, values, onClose }) {
  const [ticked, setTicked] = useState(() => new Set(isPlain(chosen) ? valuesOf(chosen) : []));
  const [wanted, setWanted] = useState("");
  const toggle = (value) => {
    const changed = new Set(ticked);
    if (!changed.delete(value)) changed.add(value);
    setTicked(changed);
  };
  const all = [...new Set([...values, ...ticked])];
  const found = all.filter((value) => value.toLowerCase().includes(wanted.toLowerCase()));
  const done = () => {
    choose(variable.name, ticked.size === 0 ? ALL : [...ticked].map((value) => conditionOf(value)).join(","));
    onClose();
  };
  return html`<${Dialog} title=${variable.label ?? variable.name} onClose=${onClose}>
    <div class="stack">
      <div class="search"><label class="unseen" for="variable-search">Search values</label><${Icon} name="search" /><input id="variable-search" type="search" value=${wanted}
        placeholder="Search values" onInput=${(event) => setWanted(event.currentTarget.value)} /></div>
      <div class="tall ticks" tabindex="0" role="group" aria-label="Values">${found.map((value) => html`<label class="check" key=${value}><input type="checkbox" checked=${ticked.has(value)}
        onChange=${() => toggle(value)} /><span>${value || "(none)"}</span></label>`)}${found.length === 0 && html`<p class="quiet">No value.</p>`}</div>
      <p class="quiet small">${ticked.size === 0 ? "None ticked: all are shown." : `${ticked.size} chosen`}</p>
      <div class="acts"><${Button} work=${() => setTicked(new Set())}>All<//><${Button} work=${onClose}>Cancel<//><${Button} kind="first" work=${done}>Show<//></div>
    </div>
  <//>`;
}

function Many({ variable, chosen, values }) {
  const [isOpen, setOpen] = useState(false);
  const names = valuesOf(chosen);
  const text = chosen === ALL ? "All" : !isPlain(chosen) ? chosen : names.length > 2 ? `${names.length} values` : names.join(", ");
  return html`<div class="variable"><span aria-hidden="true">${variable.label ?? variable.name}</span>
    <${Button} label=${`${variable.label ?? variable.name}: ${text}`} work=${() => setOpen(true)}><span class="text">${text}</span><//>
    ${isOpen && html`<${Several} variable=${variable} chosen=${chosen} values=${values} onClose=${() => setOpen(false)} />`}</div>`;
}

/** Any value, where nothing says which there are. */
function Any({ variable, chosen }) {
  const onChange = (event) => choose(variable.name, event.currentTarget.value.trim() || ALL);
  return html`<label class="variable"><span>${variable.label ?? variable.name}</span><input key=${chosen} defaultValue=${chosen === ALL ? "" : chosen} placeholder="All" autocomplete="off"
    spellcheck=${false} onChange=${onChange} /></label>`;
}

function Choice({ variable }) {
  const [state] = useLoaded((abort) => loadValues(variable, abort), 0, JSON.stringify([variable.source, variable.values]));
  const chosen = place.value.query.has(inAddress(variable.name)) ? inQuery(inAddress(variable.name)) : (variable.default ?? ALL);
  const values = state.value.data ?? [];
  const isAny = (!variable.source && !variable.values) || state.value.failure;
  const Field = isAny ? Any : variable.multiple ? Many : One;
  return html`<${Field} variable=${variable} chosen=${chosen} values=${values} />`;
}

export function Variables({ variables = [] }) {
  if (variables.length === 0) return null;
  return html`<div class="variables" role="group" aria-label="Variables">${variables.map((variable) => html`<${Choice} key=${variable.name} variable=${variable} />`)}</div>`;
}
