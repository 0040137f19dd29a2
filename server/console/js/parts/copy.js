// A text to copy, with the button that does it.

import { useState } from "preact/hooks";
import { useElement } from "../kit/element.js";
import { html } from "../kit/html.js";
import { Icon } from "./icon.js";

const SHOWN_MS = 1_500;

/** Copies; where the clipboard is not available (plain HTTP), selects the text instead. */
async function copy(element, text) {
  try {
    await navigator.clipboard.writeText(text);
    return "Copied";
  } catch {
    getSelection()?.selectAllChildren(element);
    return "Selected";
  }
}

/** Copies without an element: by the clipboard, or as plain HTTP still allows it. */
async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const field = document.createElement("textarea");
    field.value = text;
    field.className = "unseen";
    const before = /** @type {HTMLElement | null} */ (document.activeElement);
    document.body.append(field);
    field.select();
    const isDone = document.execCommand("copy");
    field.remove();
    before?.focus();
    return isDone;
  }
}

/** A button that copies a text which the page shows in another form; `label` says which. */
export function CopyButton({ text, label, children = "Copy" }) {
  const [said, setSaid] = useState("");
  const onClick = async () => {
    setSaid((await copyText(typeof text === "function" ? text() : text)) ? "Copied" : "Not copied");
    setTimeout(() => setSaid(""), SHOWN_MS);
  };
  return html`<button type="button" class="button plain small" onClick=${onClick}>
    <${Icon} name=${said ? "check" : "copy"} /><span aria-live="polite">${said || children}</span><span class="unseen"> ${label}</span></button>`;
}

/** `shown` is the text with markup, if it has some. */
export function Copyable({ text, label, shown = null }) {
  const pre = /** @type {ElementRef<HTMLPreElement>} */ (useElement());
  const [done, setDone] = useState("");
  const onClick = async () => {
    setDone(await copy(pre.current, text));
    setTimeout(() => setDone(""), SHOWN_MS);
  };
  return html`<div class="code">
    <pre ref=${pre} tabindex="0" role="region" aria-label=${label}>${shown ?? text}</pre>
    <button type="button" class="button plain small" onClick=${onClick}>
      <${Icon} name=${done ? "check" : "copy"} /><span aria-live="polite">${done || "Copy"}</span><span class="unseen"> ${label}</span>
    </button>
  </div>`;
}
