// JSON as people read it: indented, with its kinds of values apart, every part of it a text.

import { html } from "../kit/html.js";
import { json } from "../kit/json.js";
import { Copyable } from "./copy.js";

const CHARS_COLOURED_MAX = 20_000;
const TOKEN = /("(?:[^"\\]|\\.)*")(\s*:)?|\b(?:true|false|null)\b|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/** Splits a text of JSON into `[{text, kind}]`. */
function partsOf(text) {
  const parts = [];
  let end = 0;
  for (const found of text.matchAll(TOKEN)) {
    if (found.index > end) parts.push({ text: text.slice(end, found.index) });
    const [all, string, colon] = found;
    if (string && colon) parts.push({ text: string, kind: "key" }, { text: colon });
    else parts.push({ text: all, kind: string ? "string" : /[a-z]/.test(all[0]) ? "word" : "number" });
    end = found.index + all.length;
  }
  parts.push({ text: text.slice(end) });
  return parts;
}

/** Shows a value, with a button that copies it. */
export function Json({ value, label }) {
  const text = json(value);
  const shown = text.length > CHARS_COLOURED_MAX ? null
    : partsOf(text).map(({ text: part, kind }, i) => (kind ? html`<span key=${i} class=${`json-${kind}`}>${part}</span>` : part));
  return html`<div class="json"><${Copyable} text=${text} label=${label} shown=${shown} /></div>`;
}
