// The dialog that takes a snapshot of a page.

import { useState } from "preact/hooks";
import { call } from "../api/client.js";
import { useElement } from "../kit/element.js";
import { html } from "../kit/html.js";
import { go } from "../kit/router.js";
import { Button } from "../parts/button.js";
import { Dialog } from "../parts/dialog.js";
import { Field, Select } from "../parts/fields.js";
import { useSubmit } from "../parts/form.js";
import { Failure } from "../parts/loaded.js";
import { toCompare } from "./snapshots_words.js";

const WAITS = [
  { value: "network_idle", label: "No request for half a second" },
  { value: "load", label: "The page has loaded" },
  { value: "dom_content_loaded", label: "The document is read" },
  { value: "selector", label: "An element is there" },
];
const SIZES = ["1280x720", "1920x1080", "768x1024", "390x844"];
const FIELDS = ["url", "viewport", "viewport.width", "viewport.height", "device_scale_factor", "wait_for", "hide_selectors", "mask_selectors"];

const linesOf = (text) => String(text ?? "").split("\n").map((line) => line.trim()).filter(Boolean);

/** Returns the pairs of lines such as `name: value`, or null if there are none. */
function pairsOf(text, separator) {
  const pairs = linesOf(text).map((line) => {
    const at = line.indexOf(separator);
    return at < 0 ? [line, ""] : [line.slice(0, at).trim(), line.slice(at + 1).trim()];
  });
  return pairs.length > 0 ? Object.fromEntries(pairs) : undefined;
}

/** @returns {import("telltale").SnapshotInput} */
function inputOf(form) {
  const data = new FormData(form);
  const wait = String(data.get("wait"));
  return {
    url: String(data.get("url")).trim(),
    viewport: { width: Number(data.get("width")), height: Number(data.get("height")) },
    device_scale_factor: Number(data.get("factor")),
    full_page: data.get("full") !== null,
    wait_for: wait === "selector" ? `selector:${String(data.get("selector")).trim()}` : wait,
    hide_selectors: linesOf(data.get("hide")),
    mask_selectors: linesOf(data.get("mask")),
    headers: pairsOf(data.get("headers"), ":"),
    cookies: pairsOf(data.get("cookies"), "="),
  };
}

function Lines({ id, name, label, hint, failure, field, lines = [] }) {
  const isWrong = failure?.field === field || failure?.field?.startsWith(`${field}.`);
  return html`<div class="field"><label for=${id}>${label}</label>
    <textarea id=${id} name=${name} rows="2" spellcheck=${false} defaultValue=${lines.join("\n")} aria-invalid=${isWrong ? "true" : null} aria-describedby=${`${id}-hint`}></textarea>
    <p id=${`${id}-hint`} class=${isWrong ? "wrong" : "hint"}>${isWrong ? failure.message : hint}</p></div>`;
}

/** What is needed less often. */
function Further({ like, failure }) {
  const isOpen = Boolean(like?.hide_selectors.length || like?.mask_selectors.length || like?.header_names.length || like?.cookie_names.length);
  const secrets = [...(like?.header_names ?? []), ...(like?.cookie_names ?? [])];
  return html`<details open=${isOpen}><summary>Parts of the page, headers and cookies</summary>
    <div class="stack">
      ${secrets.length > 0 && html`<p class="notice warn small">The snapshot before was taken with ${secrets.join(", ")}. Their values are not shown: enter them again.</p>`}
      <${Lines} id="new-hide" name="hide" field="hide_selectors" label="Hide" hint="CSS selectors, one a line; what they match keeps its place" failure=${failure} lines=${like?.hide_selectors} />
      <${Lines} id="new-mask" name="mask" field="mask_selectors" label="Mask" hint="CSS selectors, one a line; painted over with one colour" failure=${failure} lines=${like?.mask_selectors} />
      <${Lines} id="new-headers" name="headers" field="headers" label="Headers" hint="Name: value, one a line; sent to the origin of the page, and never shown again" failure=${failure} />
      <${Lines} id="new-cookies" name="cookies" field="cookies" label="Cookies" hint="name=value, one a line; never shown again" failure=${failure} />
    </div></details>`;
}

/** `like` is a snapshot whose settings the form has at first. */
export function NewSnapshot({ like, onClose }) {
  const form = /** @type {ElementRef<HTMLFormElement>} */ (useElement());
  const [wait, setWait] = useState(like?.wait_for.split(":")[0] ?? "network_idle");
  const fieldOf = (name) => /** @type {HTMLInputElement} */ (form.current.elements.namedItem(name));
  const { failure, submit } = useSubmit(async (submitted) => {
    const isCompared = submitted.elements.compare.checked;
    const made = await call("POST", "/snapshots", { body: inputOf(submitted), headers: { Prefer: "respond-async" } });
    if (isCompared) toCompare.add(made.id);
    // Whoever has closed the dialog meanwhile stays where they are.
    if (form.current) go(`/snapshots/captures/${encodeURIComponent(made.id)}`);
  });
  const choose = (event) => {
    const [width, height] = event.currentTarget.value.split("x");
    fieldOf("width").value = width;
    fieldOf("height").value = height;
  };
  const { width, height } = like?.viewport ?? { width: 1280, height: 720 };
  const isElsewhere = failure && !FIELDS.includes(failure.field ?? "") && !/^(headers|cookies)/.test(failure.field ?? "");
  const ofViewport = failure?.field?.startsWith("viewport") ? { ...failure, message: failure.message, field: "width" } : failure;
  return html`<${Dialog} title="Take a snapshot" onClose=${onClose}>
    <form ref=${form} onSubmit=${submit} novalidate>
      <${Field} id="new-url" name="url" label="URL" hint="Of a page with a public address" failure=${failure} type="url" autocomplete="off" maxlength="2048"
        defaultValue=${like?.url ?? ""} placeholder="shop.example.com/cart" autofocus />
      <div class="choices" role="group" aria-label="Sizes">${SIZES.map((size) => html`<button key=${size} type="button" class="button small" value=${size}
        onClick=${choose}>${size.replace("x", " × ")}</button>`)}</div>
      <div class="pair thirds">
        <${Field} id="new-width" name="width" label="Width" failure=${ofViewport} type="number" min="320" max="3840" defaultValue=${width} />
        <${Field} id="new-height" name="height" label="Height" type="number" min="240" max="2160" defaultValue=${height} />
        <${Field} id="new-factor" name="factor" label="Pixel ratio" failure=${failure?.field === "device_scale_factor" ? { message: failure.message, field: "factor" } : null}
          type="number" min="1" max="4" step="any" defaultValue=${like?.device_scale_factor ?? 1} />
      </div>
      <div class="pair">
        <${Select} id="new-wait" name="wait" label="Captured when" options=${WAITS} value=${wait} onChange=${(event) => setWait(event.currentTarget.value)} />
        ${wait === "selector" && html`<${Field} id="new-selector" name="selector" label="CSS selector"
          failure=${failure?.field === "wait_for" ? { message: failure.message, field: "selector" } : null}
          defaultValue=${like?.wait_for.startsWith("selector:") ? like.wait_for.slice(9) : ""} />`}
      </div>
      <div><label class="check"><input type="checkbox" name="full" defaultChecked=${like?.full_page ?? false} /> The full page, not only the viewport</label>
        <label class="check"><input type="checkbox" name="compare" defaultChecked=${Boolean(like)} /> Compare it with the baseline as soon as it is there</label></div>
      <${Further} like=${like} failure=${failure} />
      ${isElsewhere && html`<${Failure} failure=${failure} />`}
      <div class="acts"><${Button} work=${onClose}>Cancel<//><${Button} type="submit" kind="first">Take the snapshot<//></div>
    </form>
  <//>`;
}
