// Headers of a request, each a name with a value.

import { html } from "../kit/html.js";
import { Button } from "./button.js";
import { concerns } from "./fields.js";
import { Icon } from "./icon.js";

/** `headers`: `[{name, value}]`; `field` is what failures call them. */
export function HeaderFields({ headers, onChange, field, failure, placeholder = "value" }) {
  const isWrong = concerns(failure, field);
  const change = (index, changes) => onChange(headers.map((one, i) => (i === index ? { ...one, ...changes } : one)));
  return html`<fieldset class="field"><legend class="legend">Headers</legend>
    ${headers.map((header, index) => html`<div class="tag-row" key=${index}>
      <input aria-label=${`Header ${index + 1}`} value=${header.name} placeholder="name" autocomplete="off" aria-invalid=${isWrong ? "true" : null}
        onInput=${(event) => change(index, { name: event.currentTarget.value })} />
      <span aria-hidden="true">:</span>
      <input aria-label=${`Value of header ${index + 1}`} value=${header.value} placeholder=${placeholder} autocomplete="off"
        onInput=${(event) => change(index, { value: event.currentTarget.value })} />
      <${Button} kind="plain" label=${`Remove header ${index + 1}`} work=${() => onChange(headers.filter((_, i) => i !== index))}><${Icon} name="x" /><//></div>`)}
    ${isWrong && html`<p class="wrong">${failure.message}</p>`}
    <p><${Button} work=${() => onChange([...headers, { name: "", value: "" }])}><${Icon} name="plus" />Header<//></p></fieldset>`;
}
