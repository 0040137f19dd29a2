// A field for the name of a time zone, with those that the browser knows.

import { html } from "../kit/html.js";
import { Field } from "./fields.js";

/** The zones that fields offer. */
export function Zones({ id }) {
  return html`<datalist id=${id}><option value="UTC" />${(Intl.supportedValuesOf?.("timeZone") ?? []).map((name) => html`<option key=${name} value=${name} />`)}</datalist>`;
}

export function ZoneField({ id, onChange, hint = "Such as Europe/Berlin", ...rest }) {
  return html`<${Field} id=${id} list=${`${id}-zones`} hint=${hint} autocomplete="off" spellcheck=${false} onInput=${(event) => onChange(event.currentTarget.value)} ...${rest} />
    <${Zones} id=${`${id}-zones`} />`;
}
