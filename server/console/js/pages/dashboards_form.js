// The dialog in which a widget is made or changed.

import { useRef, useState } from "preact/hooks";
import { html } from "../kit/html.js";
import { Button } from "../parts/button.js";
import { Dialog } from "../parts/dialog.js";
import { Field } from "../parts/fields.js";
import { Icon } from "../parts/icon.js";
import { OptionFields } from "./dashboards_form_options.js";
import { QueryFields } from "./dashboards_form_query.js";
import { fieldsOf, missingOf, widgetOf } from "./dashboards_form_values.js";
import { TYPES } from "./dashboards_widget.js";

const FIRST_WRONG = "[aria-invalid='true'], #widget-metric";

function Types({ type, set }) {
  return html`<fieldset class="field"><legend class="legend">Type</legend>
    <div class="choices">${Object.entries(TYPES).map(([value, { label, icon }]) => html`<label key=${value}><input type="radio" name="type" value=${value} checked=${type === value}
      onChange=${() => set({ type: value })} /><${Icon} name=${icon} />${label}</label>`)}</div></fieldset>`;
}

/** Returns a title for whoever gave none. */
function titleOf({ metric, event }, groups) {
  const by = groups ? ` by ${groups.split(",").map((one) => one.trim().replace(/^tags\./, "")).join(", ")}` : "";
  return `${metric ?? event ?? ""}${by}`.slice(0, 200);
}

/** `widget` is the one to change, or `{}`; `onDone` gets it as it shall be. */
export function WidgetForm({ widget, onDone, onClose }) {
  const form = useRef(null);
  const [fields, setFields] = useState(() => fieldsOf(widget));
  const [failure, setFailure] = useState(null);
  const set = (changes) => setFields((before) => ({ ...before, ...changes }));
  const submit = (event) => {
    event.preventDefault();
    const made = widgetOf(fields, widget);
    const titled = { ...made, title: made.title || titleOf(made.query, made.query.group_by) };
    const missing = missingOf(titled);
    if (!missing) return onDone(titled);
    setFailure(missing);
    return requestAnimationFrame(() => form.current?.querySelector(FIRST_WRONG)?.focus());
  };
  const isNew = !widget.id;
  return html`<${Dialog} title=${isNew ? "Add a widget" : "Edit the widget"} onClose=${onClose} isBroad>
    <form ref=${form} class="widget-form" onSubmit=${submit} novalidate>
      <div class="widget-fields">
        <${Types} type=${fields.type} set=${set} />
        <${QueryFields} fields=${fields} set=${set} failure=${failure} />
      </div>
      <div class="widget-fields">
        <${Field} id="widget-title" name="title" label="Title" failure=${failure} value=${fields.title} maxlength="200" autocomplete="off" hint="Named after its query if empty"
          onInput=${(event) => set({ title: event.currentTarget.value })} />
        <${OptionFields} fields=${fields} set=${set} failure=${failure} />
      </div>
      <div class="acts"><${Button} work=${onClose}>Cancel<//><${Button} type="submit" kind="first">${isNew ? "Add" : "Done"}<//></div>
    </form>
  <//>`;
}
