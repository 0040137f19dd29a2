// A form in a dialog: what was typed stays until it was accepted.

import { useEffect } from "preact/hooks";
import { useElement } from "../kit/element.js";
import { html } from "../kit/html.js";
import { Button } from "./button.js";
import { Dialog } from "./dialog.js";
import { useSubmit } from "./form.js";
import { Failure } from "./loaded.js";

/** What somebody has to correct before anything is sent. */
export class Wrong extends Error {
  constructor(field, message) {
    super(message);
    this.field = field;
  }
}

/**
 * `work(data)` gets the fields as `FormData`; the dialog closes when it has succeeded. `fields`
 * names those that say themselves what is wrong with them; `children(failure)` shows the fields.
 */
export function FormDialog({ title, act, kind = "first", fields = [], work, onClose, children }) {
  const form = /** @type {ElementRef<HTMLFormElement>} */ (useElement());
  const { failure, submit } = useSubmit(async (submitted) => {
    await work(new FormData(submitted));
    onClose();
  });
  useEffect(() => {
    /** @type {any} */
    const wrong = failure && form.current?.elements.namedItem(failure.field ?? "");
    wrong?.focus?.();
  }, [failure]);
  return html`<${Dialog} title=${title} onClose=${onClose}>
    <form ref=${form} onSubmit=${submit} novalidate>
      ${children(failure)}
      <div role="alert">${failure && !fields.includes(failure.field) && html`<${Failure} failure=${failure} />`}</div>
      <div class="acts"><${Button} work=${onClose}>Cancel<//><${Button} type="submit" kind=${kind}>${act}<//></div>
    </form>
  <//>`;
}
