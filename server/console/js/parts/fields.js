// Fields of forms: a text, a choice, a search that the address carries.

import { useEffect, useRef } from "preact/hooks";
import { useElement } from "../kit/element.js";
import { html } from "../kit/html.js";
import { inQuery, setQuery } from "../kit/router.js";
import { Icon } from "./icon.js";

const TYPED_MS = 250;

/** Returns whether a failure is about this field, or about a part of it such as `steps[0]`. */
export function concerns(failure, name) {
  const field = failure?.field;
  return Boolean(field) && (field === name || field.startsWith(`${name}[`) || field.startsWith(`${name}.`));
}

/** A text. `failure` is an `ApiFailure` that may name this field. */
export function Field({ id, name, label, hint = "", failure, ...rest }) {
  const isWrong = concerns(failure, name);
  const note = isWrong ? failure.message : hint;
  return html`<div class="field"><label for=${id}>${label}</label>
    <input id=${id} name=${name} aria-invalid=${isWrong ? "true" : null} aria-describedby=${note ? `${id}-hint` : null} ...${rest} />
    ${note && html`<p id=${`${id}-hint`} class=${isWrong ? "wrong" : "hint"}>${note}</p>`}</div>`;
}

/** A text of several lines. */
export function TextArea({ id, name, label, hint = "", failure, value, ...rest }) {
  const isWrong = concerns(failure, name);
  const note = isWrong ? failure.message : hint;
  return html`<div class="field"><label for=${id}>${label}</label>
    <textarea id=${id} name=${name} value=${value} aria-invalid=${isWrong ? "true" : null} aria-describedby=${note ? `${id}-hint` : null} ...${rest}></textarea>
    ${note && html`<p id=${`${id}-hint`} class=${isWrong ? "wrong" : "hint"}>${note}</p>`}</div>`;
}

/** A choice among `options`: `[{value, label}]`. */
export function Select({ id, name, label, options, isLabelUnseen = false, hint = "", failure, ...rest }) {
  const isWrong = concerns(failure, name);
  const note = isWrong ? failure.message : hint;
  return html`<div class="field"><label for=${id} class=${isLabelUnseen ? "unseen" : null}>${label}</label>
    <select id=${id} name=${name} aria-invalid=${isWrong ? "true" : null} aria-describedby=${note ? `${id}-hint` : null} ...${rest}>
      ${options.map((option) => html`<option key=${option.value} value=${option.value}>${option.label}</option>`)}</select>
    ${note && html`<p id=${`${id}-hint`} class=${isWrong ? "wrong" : "hint"}>${note}</p>`}</div>`;
}

/** Yes or no. */
export function Check({ label, hint, ...rest }) {
  return html`<label class="check"><input type="checkbox" ...${rest} /><span>${label}${hint && html` <span class="quiet small">${hint}</span>`}</span></label>`;
}

/** A choice that the address carries; the first of the options is the one without a name there. */
export function QuerySelect({ name, label, options }) {
  const onChange = (event) => setQuery({ [name]: event.currentTarget.value, offset: null, cursor: null });
  return html`<${Select} id=${`filter-${name}`} label=${label} isLabelUnseen options=${options} value=${inQuery(name, options[0]?.value)} onChange=${onChange} />`;
}

/** A text to search for, which the address carries soon after it was typed. */
export function QuerySearch({ name, label, placeholder = label, icon = "search", kind = "", ...rest }) {
  const field = /** @type {ElementRef<HTMLInputElement>} */ (useElement());
  const timer = useRef(0);
  const current = inQuery(name);
  // The address can change under the field: a link, or the way back.
  useEffect(() => {
    if (field.current && document.activeElement !== field.current) field.current.value = current;
  }, [current]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const onInput = (event) => {
    const { value } = event.currentTarget;
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setQuery({ [name]: value, offset: null, cursor: null }, { replace: true }), TYPED_MS);
  };
  return html`<div class=${`search ${kind}`}><label class="unseen" for=${`search-${name}`}>${label}</label><${Icon} name=${icon} />
    <input id=${`search-${name}`} type="search" ref=${field} defaultValue=${current} placeholder=${placeholder} autocomplete="off" spellcheck=${false} onInput=${onInput} ...${rest} /></div>`;
}
