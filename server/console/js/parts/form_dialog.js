// A form in a dialog: what was typed stays until it was accepted.

import { useRef, useState } from "preact/hooks";
import { failed } from "../kit/failed.js";
import { html } from "../kit/html.js";
import { Button } from "./button.js";
import { Dialog } from "./dialog.js";
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
  const running = useRef(false);
  const [failure, setFailure] = useState(/** @type {Failed | null} */ (null));
  const submit = async (event) => {
    event.preventDefault();
    if (running.current) return;
    running.current = true;
    const form = event.currentTarget;
    try {
      await work(new FormData(form));
      onClose();
    } catch (thrown) {
      const error = failed(thrown);
      setFailure(failed(error));
      form.elements.namedItem(error.field)?.focus?.();
    } finally {
      running.current = false;
    }
  };
  return html`<${Dialog} title=${title} onClose=${onClose}>
    <form onSubmit=${submit} novalidate>
      ${children(failure)}
      <div role="alert">${failure && !fields.includes(failure.field) && html`<${Failure} failure=${failure} />`}</div>
      <div class="acts"><${Button} work=${onClose}>Cancel<//><${Button} type="submit" kind=${kind}>${act}<//></div>
    </form>
  <//>`;
}
