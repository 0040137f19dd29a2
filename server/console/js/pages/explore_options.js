// What a query of Explore asks: aggregations, tags to group by, filters, and how it is drawn.

import { useState } from "preact/hooks";
import { get } from "../api/client.js";
import { useElement } from "../kit/element.js";
import { count } from "../kit/format.js";
import { html } from "../kit/html.js";
import { Button } from "../parts/button.js";
import { Combobox } from "../parts/combobox.js";
import { Select } from "../parts/fields.js";
import { Icon } from "../parts/icon.js";
import { AGGREGATIONS, KINDS, TOPS, TOP_BYS, conditionInWords, conditionOf } from "../parts/metric_query.js";

const GROUP_KEYS_MAX = 4;
const SUGGESTED = 20;
const OPERATORS = [
  { value: "is", label: "is" },
  { value: "not", label: "is not" },
  { value: "prefix", label: "begins with" },
  { value: "without", label: "is absent" },
];
const KIND_NAMES = { lines: "Lines", areas: "Areas", stack: "Stacked", bars: "Bars" };

/** Returns the aggregations that a query asks for: those of the type, or its first. */
export function aggregationsOf({ aggregations }, definition) {
  const all = AGGREGATIONS[definition?.type] ?? [];
  const known = aggregations.filter((one) => all.includes(one));
  return known.length > 0 ? known : all.slice(0, 1);
}

function Toggles({ label, options, chosen, onToggle, isFull = false }) {
  return html`<div class="toggles" role="group" aria-label=${label}><span class="quiet small" aria-hidden="true">${label}</span>
    ${options.map((option) => {
      const isOn = chosen.includes(option);
      return html`<button key=${option} type="button" class="button small" aria-pressed=${isOn ? "true" : "false"} disabled=${isFull && !isOn}
        onClick=${() => onToggle(option, isOn)}>${option}</button>`;
    })}</div>`;
}

/** Adds a filter: a key, an operator and a value. */
function NewFilter({ id, path, keys, tags, onAdd, onClose }) {
  const [key, setKey] = useState(keys[0]);
  const [operator, setOperator] = useState("is");
  const others = Object.entries(tags).filter(([other]) => other !== key);
  const load = async (text, abort) => {
    const query = new URLSearchParams(others.map(([other, condition]) => [`tags[${other}]`, condition]));
    query.set("limit", String(SUGGESTED));
    if (text) query.set("search", text);
    const { data, meta } = await get(`${path}/tags/${encodeURIComponent(key)}/values?${query}`, abort);
    return { options: data.map(({ value, series }) => ({ value, note: count(series, "series", "series") })), total: meta.total };
  };
  const add = (value) => {
    const condition = conditionOf(value, operator);
    const before = tags[key];
    // A second value of the same tag is an alternative.
    const isAlternative = operator === "is" && before && !before.startsWith("!") && !before.endsWith("*");
    onAdd(key, isAlternative ? `${before},${condition}` : condition);
  };
  return html`<div class="new-filter" role="group" aria-label="New filter">
    <${Select} id=${`${id}-key`} label="Tag" isLabelUnseen options=${keys.map((one) => ({ value: one, label: one }))} value=${key} onChange=${(event) => setKey(event.currentTarget.value)} />
    <${Select} id=${`${id}-operator`} label="Condition" isLabelUnseen options=${OPERATORS} value=${operator} onChange=${(event) => setOperator(event.currentTarget.value)} />
    ${operator === "without" ? html`<${Button} work=${() => onAdd(key, "")}>Add<//>`
      : html`<${Combobox} key=${key} id=${`${id}-value`} label="Value" isLabelUnseen placeholder="Value" load=${load} isFree isTakenOnBlur=${false} isFocused onChoose=${(value) => value && add(value)} />`}
    <${Button} kind="plain" label="No filter" work=${onClose}><${Icon} name="x" /><//></div>`;
}

function Filters({ letter, query, definition, onChange }) {
  const [isOpen, setOpen] = useState(false);
  const opener = /** @type {ElementRef<HTMLDivElement>} */ (useElement());
  const { tags, metric } = query;
  const keys = [...new Set([...definition.tags, ...Object.keys(tags)])];
  const close = () => {
    setOpen(false);
    setTimeout(() => /** @type {HTMLElement | null} */ (opener.current?.querySelector("button.adds"))?.focus());
  };
  const add = (key, condition) => {
    onChange({ tags: { ...tags, [key]: condition } });
    close();
  };
  const remove = (key) => {
    onChange({ tags: Object.fromEntries(Object.entries(tags).filter(([other]) => other !== key)) });
    close();
  };
  if (keys.length === 0) return null;
  return html`<div class="toggles" role="group" aria-label="Filters" ref=${opener}><span class="quiet small" aria-hidden="true">Filter</span>
    ${Object.entries(tags).map(([key, condition]) => html`<span class="tag long chip" key=${key}>${conditionInWords(key, condition)}
      <button type="button" aria-label=${`Remove the filter ${conditionInWords(key, condition)}`} onClick=${() => remove(key)}><${Icon} name="x" /></button></span>`)}
    ${isOpen ? html`<${NewFilter} id=${`filter-${letter}`} path=${`/metrics/${encodeURIComponent(metric)}`} keys=${keys} tags=${tags} onAdd=${add} onClose=${close} />`
      : html`<button type="button" class="button small adds" onClick=${() => setOpen(true)}><${Icon} name="plus" />Filter</button>`}</div>`;
}

export function Options({ letter, query, definition, onChange }) {
  const all = AGGREGATIONS[definition.type] ?? [];
  const chosen = aggregationsOf(query, definition);
  const { groupBy, kind, top, topBy } = query;
  // A key with a comma cannot be named in a list.
  const keys = [...new Set([...definition.tags, ...groupBy])].filter((key) => !key.includes(","));
  const toggleAggregation = (name, isOn) => onChange({ aggregations: isOn ? chosen.filter((one) => one !== name) : all.filter((one) => one === name || chosen.includes(one)) });
  const toggleGroup = (key, isOn) => onChange({ groupBy: isOn ? groupBy.filter((one) => one !== key) : [...groupBy, key] });
  const select = (name, list, label, value, toOption, toValue = (text) => text) => html`<${Select} id=${`${name}-${letter}`} label=${label} isLabelUnseen
    options=${list.map((one) => ({ value: one, label: toOption(one) }))} value=${value} onChange=${(event) => onChange({ [name]: toValue(event.currentTarget.value) })} />`;
  return html`<div class="options">
    ${all.length > 1 && html`<${Toggles} label="Show" options=${all} chosen=${chosen} onToggle=${toggleAggregation} />`}
    ${keys.length > 0 && html`<${Toggles} label="Group by" options=${keys} chosen=${groupBy} onToggle=${toggleGroup} isFull=${groupBy.length >= GROUP_KEYS_MAX} />`}
    <${Filters} letter=${letter} query=${query} definition=${definition} onChange=${onChange} />
    <div class="toggles">${select("kind", KINDS, `Draw query ${letter} as`, kind, (one) => KIND_NAMES[one])}
      ${groupBy.length > 0 && html`${select("top", TOPS.toSorted((a, b) => a - b), `Groups of query ${letter}`, top, (one) => `Top ${one.toLocaleString()}`, Number)}
        ${select("topBy", TOP_BYS, `Rank of the groups of query ${letter}`, topBy, (one) => `by ${one}`)}`}</div>
  </div>`;
}
