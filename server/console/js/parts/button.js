// A button whose work takes a while: it runs once, however often it is pressed.

import { useRef, useState } from "preact/hooks";
import { html } from "../kit/html.js";

/** `work` may return a promise; `kind` is `first`, `grave`, `plain` or nothing. */
export function Button({ kind = "", type = "button", work, label, children }) {
  const running = useRef(false);
  const [isBusy, setBusy] = useState(false);
  const onClick = async (event) => {
    if (running.current) {
      event.preventDefault();
      return;
    }
    if (!work) return;
    running.current = true;
    setBusy(true);
    try {
      await work(event);
    } finally {
      running.current = false;
      setBusy(false);
    }
  };
  return html`<button type=${type} class=${`button ${kind}`} aria-disabled=${isBusy ? "true" : null} aria-label=${label} onClick=${onClick}>
    ${children}
  </button>`;
}
