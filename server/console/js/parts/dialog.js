// A dialog over the page. The browser keeps the focus inside and gives it back.

import { useEffect, useRef } from "preact/hooks";
import { useElement } from "../kit/element.js";
import { html } from "../kit/html.js";

let ids = 0;

/** Shows its children; `onClose` is absent if it cannot be dismissed; `isBroad` gives it room for two columns. */
export function Dialog({ title, onClose, isBroad = false, children }) {
  const element = /** @type {ElementRef<HTMLDialogElement>} */ (useElement());
  const id = useRef(/** @type {string | null} */ (null));
  id.current ??= `dialog-${(ids += 1)}`;
  useEffect(() => {
    const dialog = element.current;
    dialog.showModal();
    return () => dialog.close();
  }, []);
  const cancel = (event) => {
    // A file chooser in the dialog sends the same event when it is closed.
    if (event.target !== event.currentTarget) return;
    event.preventDefault();
    onClose?.();
  };
  return html`<dialog class=${isBroad ? "dialog broad" : "dialog"} ref=${element} aria-labelledby=${id.current} onCancel=${cancel}>
    <h2 id=${id.current}>${title}</h2>
    ${children}
  </dialog>`;
}
