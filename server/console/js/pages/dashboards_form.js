// The dialog in which a widget is made or changed.

import { useEffect, useState } from "preact/hooks";
import { useElement } from "../kit/element.js";
import { html } from "../kit/html.js";
import { Button } from "../parts/button.js";
import { Dialog } from "../parts/dialog.js";
import { Field } from "../parts/fields.js";
import { Icon } from "../parts/icon.js";
import { Failure } from "../parts/loaded.js";
import { momentNow } from "./dashboards_board.js";
import { valuesKey } from "./dashboards_draft.js";
import { OptionFields } from "./dashboards_form_options.js";
import { QueryFields } from "./dashboards_form_query.js";
import { fieldsOf, hasOption, missingOf, widgetOf } from "./dashboards_form_values.js";
import { Levels } from "./dashboards_form_levels.js";
import { loadPreview } from "./dashboards_preview.js";
import { Content, TYPES } from "./dashboards_widget.js";

const TYPED_MS = 300;

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

/** Loads what a widget would show, soon after it was changed last. */
function usePreview(widget, declared, previews) {
  const key = valuesKey(widget);
  const isAsked = Boolean(widget.query.metric || widget.query.event);
  const [state, setState] = useState(/** @type {{key?: string, shown?: any, failure?: Failed}} */ ({}));
  useEffect(() => {
    if (!isAsked) return undefined;
    const abort = new AbortController();
    const timer = setTimeout(() => {
      loadPreview(widget, momentNow(declared), declared, abort.signal).then(
        (shown) => {
          previews.set(key, shown);
          setState({ shown, key });
        },
        (failure) => !abort.signal.aborted && setState((before) => ({ ...before, failure, key })),
      );
    }, TYPED_MS);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [key]);
  return { isAsked, isCurrent: state.key === key, shown: state.shown, failure: state.key === key ? state.failure : null };
}

function Preview({ widget, preview, declared }) {
  const { isAsked, isCurrent, shown, failure } = preview;
  const state = shown ?? (failure && { failure });
  return html`<section class="preview" aria-label="Preview"><h3>${widget.title || "Preview"}</h3>
    <div class=${isCurrent || !isAsked ? "content" : "content old"}>${failure ? html`<${Failure} failure=${failure} />`
      : html`<${Content} widget=${widget} state=${state} declared=${declared} pending=${isAsked ? "Loading…" : "Choose what it shows."} />`}</div></section>`;
}

/** `widget` is the one to change, or `{}`; `onDone` gets it as it shall be; `previews` keeps what was shown, by `valuesKey`. */
export function WidgetForm({ widget, declared, previews, onDone, onClose }) {
  const form = /** @type {ElementRef<HTMLFormElement>} */ (useElement());
  const [fields, setFields] = useState(() => fieldsOf(widget));
  const [missing, setMissing] = useState(/** @type {{field: string, message: string} | null} */ (null));
  const made = widgetOf(fields, widget);
  const titled = { ...made, title: made.title || titleOf(made.query, made.query.group_by) };
  const preview = usePreview(titled, declared, previews);
  const failure = missing ?? preview.failure;
  const set = (changes) => {
    setMissing(null);
    setFields((before) => ({ ...before, ...changes }));
  };
  const submit = (event) => {
    event.preventDefault();
    const found = missingOf(titled);
    if (!found) return onDone(titled);
    setMissing(found);
    return requestAnimationFrame(() => {
      /** @type {HTMLElement | null} */ (form.current?.querySelector(FIRST_WRONG))?.focus();
    });
  };
  const isNew = !widget.id;
  return html`<${Dialog} title=${isNew ? "Add a widget" : "Edit the widget"} onClose=${onClose} isBroad>
    <form ref=${form} class="widget-form" onSubmit=${submit} novalidate>
      <div class="widget-fields">
        <${Types} type=${fields.type} set=${set} />
        <${QueryFields} fields=${fields} set=${set} failure=${failure} />
      </div>
      <div class="widget-fields">
        <${Preview} widget=${titled} preview=${preview} declared=${declared} />
        <${Field} id="widget-title" name="title" label="Title" failure=${failure} value=${fields.title} maxlength="200" autocomplete="off" hint="Named after its query if empty"
          onInput=${(event) => set({ title: event.currentTarget.value })} />
        <${OptionFields} fields=${fields} set=${set} failure=${failure} />
        ${hasOption(fields.type, "thresholds") && html`<${Levels} levels=${fields.thresholds} set=${set} failure=${failure} />`}
      </div>
      <div class="acts"><${Button} work=${onClose}>Cancel<//><${Button} type="submit" kind="first">${isNew ? "Add" : "Done"}<//></div>
    </form>
  <//>`;
}
