// Asks before something that cannot be undone.

import { useState } from "preact/hooks";
import { failed } from "../kit/failed.js";
import { html } from "../kit/html.js";
import { Button } from "./button.js";
import { Dialog } from "./dialog.js";
import { Failure } from "./loaded.js";

/** `work` does it; the dialog closes when it has succeeded. */
export function Confirm({ title, act, kind = "grave", work, onClose, children }) {
  const [failure, setFailure] = useState(/** @type {Failed | null} */ (null));
  const confirm = async () => {
    try {
      await work();
      onClose();
    } catch (error) {
      setFailure(failed(error));
    }
  };
  return html`<${Dialog} title=${title} onClose=${onClose}>
    <div class="stack">
      <div>${children}</div>
      ${failure && html`<${Failure} failure=${failure} />`}
      <div class="acts"><${Button} work=${onClose}>Cancel<//><${Button} kind=${kind} work=${confirm}>${act}<//></div>
    </div>
  <//>`;
}
