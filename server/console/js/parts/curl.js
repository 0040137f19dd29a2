// Copies a request as a command for the shell.

import { useState } from "preact/hooks";
import { html } from "../kit/html.js";
import { toast } from "../kit/toasts.js";
import { Button } from "./button.js";
import { Copyable } from "./copy.js";
import { Dialog } from "./dialog.js";
import { Icon } from "./icon.js";

/** Returns a text as one word of a POSIX shell. */
export function shellWord(text) {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/**
 * Returns the command for a request to a path of the API such as `/metrics?limit=1`.
 * @param {string} path
 * @param {{method?: string, body?: unknown}} [request]
 */
export function curlOf(path, { method = "GET", body } = {}) {
  const words = ["curl"];
  if (method !== "GET" && body === undefined) words.push("-X", method);
  words.push(shellWord(`${location.origin}/api/v1${path}`), "-H", '"Authorization: Bearer $KEY"');
  // `--json` sends POST; another method has to be named.
  if (body !== undefined) words.push(...(method === "POST" ? [] : ["-X", method]), "--json", shellWord(JSON.stringify(body)));
  return words.join(" ");
}

/** `command()` returns the text; where the clipboard is not available (plain HTTP), it is shown. */
export function CurlButton({ command, label = "Copy as curl", kind = "plain small" }) {
  const [text, setText] = useState("");
  const copy = async () => {
    const made = command();
    try {
      await navigator.clipboard.writeText(made);
      toast("Copied. Set KEY to an API key in the shell.");
    } catch {
      setText(made);
    }
  };
  return html`<${Button} kind=${kind} label=${label} work=${copy}><${Icon} name="terminal" />curl<//>
    ${text && html`<${Dialog} title="As curl" onClose=${() => setText("")}><div class="stack">
      <${Copyable} text=${text} label="the command" />
      <p class="quiet small">Set <code>KEY</code> to an API key in the shell.</p>
      <div class="acts"><${Button} work=${() => setText("")}>Close<//></div></div><//>`}`;
}
