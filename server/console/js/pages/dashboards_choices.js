// The dialog for what readers choose, the variables, and for the events that are marked on graphs.

import { useState } from "preact/hooks";
import { useElement } from "../kit/element.js";
import { html } from "../kit/html.js";
import { Button } from "../parts/button.js";
import { Dialog } from "../parts/dialog.js";
import { Field, Select } from "../parts/fields.js";
import { Icon } from "../parts/icon.js";

const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,49}$/;
const SOURCES = [{ value: "metric", label: "a tag of a metric" }, { value: "event", label: "a tag of events" }, { value: "values", label: "a list" }, { value: "any", label: "anything" }];

const sourceOf = ({ source, values }) => (values ? "values" : source?.metric !== undefined ? "metric" : source?.event !== undefined ? "event" : "any");

function fieldsOf(variable) {
  const { name = "", label = "", source = {}, values = [], default: usual = "", multiple = false } = variable;
  return { name, label, from: sourceOf(variable), metric: source.metric ?? "", event: source.event ?? "", tag: source.tag ?? "", values: values.join(", "), usual, multiple };
}

const list = (text) => text.split(",").map((one) => one.trim()).filter(Boolean);

function variableOf({ name, label, from, metric, event, tag, values, usual, multiple }) {
  return {
    name: name.trim(),
    ...(label.trim() && { label: label.trim() }),
    ...(from === "metric" && { source: { metric: metric.trim(), tag: tag.trim() } }),
    ...(from === "event" && { source: { event: event.trim(), tag: tag.trim() } }),
    ...(from === "values" && { values: list(values) }),
    ...(usual.trim() && { default: usual.trim() }),
    ...(multiple && { multiple: true }),
  };
}

const overlayFields = ({ event = "", title = "", tags = {}, color = "" }) => ({ event, title, tags, color });

function overlayOf({ event, title, tags, color }) {
  return { event: event.trim(), ...(title.trim() && { title: title.trim() }), ...(Object.keys(tags).length > 0 && { tags }), ...(color && { color }) };
}

function VariableFields({ variable, at, set, onRemove, wrong }) {
  const text = (name) => ({ id: `variable-${at}-${name}`, value: variable[name], autocomplete: "off", spellcheck: false, onInput: (event) => set({ [name]: event.currentTarget.value }) });
  return html`<li>
    <div class="pair"><${Field} name="name" label="Name" failure=${wrong ? { field: "name", message: wrong } : null} hint=${`$${variable.name || "name"} in the filters of widgets`} ...${text("name")} />
      <${Field} name="label" label="Label" ...${text("label")} /></div>
    <div class="pair"><${Select} id=${`variable-${at}-from`} label="Readers choose from" options=${SOURCES} value=${variable.from} onChange=${(event) => set({ from: event.currentTarget.value })} />
      ${["metric", "event"].includes(variable.from) && html`<${Field} name="of" label=${variable.from === "metric" ? "Metric" : "Events"} ...${text(variable.from)} /><${Field} name="tag" label="Tag" ...${text("tag")} />`}
      ${variable.from === "values" && html`<${Field} name="values" label="Values" hint="Separated by commas" ...${text("values")} />`}
      <${Field} name="default" label="At first" placeholder="all" ...${text("usual")} /></div>
    <div class="choice-head"><label class="check"><input type="checkbox" checked=${variable.multiple} onChange=${(event) => set({ multiple: event.currentTarget.checked })} />Several at once</label>
      <${Button} kind="plain" label=${`Remove the variable ${variable.name}`} work=${onRemove}><${Icon} name="trash-2" /><//></div></li>`;
}

function OverlayFields({ overlay, at, set, onRemove, wrong }) {
  const text = (name) => ({ id: `overlay-${at}-${name}`, value: overlay[name], autocomplete: "off", spellcheck: false, onInput: (event) => set({ [name]: event.currentTarget.value }) });
  return html`<li><div class="pair"><${Field} name="event" label="Events" failure=${wrong ? { field: "event", message: wrong } : null} hint="A name, or the beginning of one and *" ...${text("event")} />
      <${Field} name="title" label="Title" ...${text("title")} /></div>
    <div class="choice-head"><${Button} kind="plain" label=${`Remove the marks of ${overlay.event}`} work=${onRemove}><${Icon} name="trash-2" /><//></div></li>`;
}

/** Returns what is wrong with a variable, or nothing. */
function wrongOf({ name, from, metric, event, tag }, all) {
  if (!NAME.test(name.trim())) return "Letters, digits and _, and no digit first.";
  if (all.filter((one) => one.name.trim() === name.trim()).length > 1) return "Another variable has this name.";
  if ((from === "metric" && !metric.trim()) || (from === "event" && !event.trim()) || (["metric", "event"].includes(from) && !tag.trim())) return "It needs the name and the tag to choose from.";
  return "";
}

/** `onDone` gets `{variables, overlays}`. */
export function Choices({ draft, onDone, onClose }) {
  const form = /** @type {ElementRef<HTMLFormElement>} */ (useElement());
  const [variables, setVariables] = useState(() => draft.variables.map(fieldsOf));
  const [overlays, setOverlays] = useState(() => draft.overlays.map(overlayFields));
  const [isChecked, setChecked] = useState(false);
  const changed = (all, at, changes) => all.map((one, i) => (i === at ? { ...one, ...changes } : one));
  const without = (all, at) => all.filter((_, i) => i !== at);
  const wrongs = variables.map((one) => wrongOf(one, variables));
  const noEvents = overlays.map(({ event }) => (event.trim() ? "" : "It needs the name of events."));
  const submit = (event) => {
    event.preventDefault();
    if (![...wrongs, ...noEvents].some(Boolean)) return onDone({ variables: variables.map(variableOf), overlays: overlays.map(overlayOf) });
    setChecked(true);
    return requestAnimationFrame(() => {
      /** @type {HTMLElement | null} */ (form.current?.querySelector("[aria-invalid='true']"))?.focus();
    });
  };
  return html`<${Dialog} title="Variables and marks" onClose=${onClose} isBroad>
    <form ref=${form} onSubmit=${submit} novalidate>
      <div class="versions-pair">
        <section class="widget-fields" aria-labelledby="choices-variables"><h3 id="choices-variables">Variables</h3>
          <p class="quiet small">Readers choose a value; it takes the place of <code>$name</code> in the filters of widgets.</p>
          <ul class="choice-list">${variables.map((one, at) => html`<${VariableFields} key=${at} at=${at} variable=${one} wrong=${isChecked ? wrongs[at] : ""}
            set=${(changes) => setVariables(changed(variables, at, changes))} onRemove=${() => setVariables(without(variables, at))} />`)}</ul>
          <div><${Button} kind="small" work=${() => setVariables([...variables, fieldsOf({ source: { metric: "" } })])}><${Icon} name="plus" />Variable<//></div></section>
        <section class="widget-fields" aria-labelledby="choices-marks"><h3 id="choices-marks">Marks</h3>
          <p class="quiet small">Events such as deployments, marked on every graph.</p>
          <ul class="choice-list">${overlays.map((one, at) => html`<${OverlayFields} key=${at} at=${at} overlay=${one} wrong=${isChecked ? noEvents[at] : ""}
            set=${(changes) => setOverlays(changed(overlays, at, changes))} onRemove=${() => setOverlays(without(overlays, at))} />`)}</ul>
          <div><${Button} kind="small" work=${() => setOverlays([...overlays, overlayFields({})])}><${Icon} name="plus" />Marks<//></div></section>
      </div>
      <div class="acts"><${Button} work=${onClose}>Cancel<//><${Button} type="submit" kind="first">Done<//></div>
    </form>
  <//>`;
}
