// Fields of forms: a text, a choice, a search that the address carries.

import { useEffect, useRef } from "preact/hooks";
import { html } from "../kit/html.js";
import { inQuery, setQuery } from "../kit/router.js";
import { Icon } from "./icon.js";

const TYPED_MS = 250;

/** A text. `failure` is an `ApiFailure` that may name this field. */
export function Field({ id, name, label, hint = "", failure, ...rest }) {
  const isWrong = failure?.field === name;
  const note = isWrong ? failure.message : hint;
  return html`<div class="field"><label for=${id}>${label}</label>
    <input id=${id} name=${name} aria-invalid=${isWrong ? "true" : null} aria-describedby=${note ? `${id}-hint` : null} ...${rest} />
    ${note && html`<p id=${`${id}-hint`} class=${isWrong ? "wrong" : "hint"}>${note}</p>`}</div>`;
}

/** A choice among `options`: `[{value, label}]`. */
export function Select({ id, name, label, options, isLabelUnseen = false, hint = "", ...rest }) {
  return html`<div class="field"><label for=${id} class=${isLabelUnseen ? "unseen" : null}>${label}</label>
    <select id=${id} name=${name} aria-describedby=${hint ? `${id}-hint` : null} ...${rest}>
      ${options.map((option) => html`<option key=${option.value} value=${option.value}>${option.label}</option>`)}</select>
    ${hint && html`<p id=${`${id}-hint`} class="hint">${hint}</p>`}</div>`;
}

/** A choice that the address carries; the first of the options is the one without a name there. */
export function QuerySelect({ name, label, options }) {
  const onChange = (event) => setQuery({ [name]: event.currentTarget.value, offset: null, cursor: null });
  return html`<${Select} id=${`filter-${name}`} label=${label} isLabelUnseen options=${options} value=${inQuery(name, options[0]?.value)} onChange=${onChange} />`;
}

/** A text to search for, which the address carries soon after it was typed. */
export function QuerySearch({ name, label, placeholder = label, icon = "search", kind = "", ...rest }) {
  const field = useRef(null);
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
