// The dialog that makes a key.

import { useRef, useState } from "preact/hooks";
import { call } from "../api/client.js";
import { caller } from "../api/session.js";
import { failed } from "../kit/failed.js";
import { html } from "../kit/html.js";
import { Button } from "../parts/button.js";
import { Dialog } from "../parts/dialog.js";

/** @import { KeyInput } from "telltale" */

/** @type {[KeyInput["scopes"][number], string][]} */
const SCOPES = [
  ["ingest", "Send metrics, events, errors and jobs"],
  ["work", "Run jobs"],
  ["read", "Read and query everything; sign in here"],
  ["write", "Change configuration and state"],
  ["admin", "Everything, keys included"],
];

/** @returns {KeyInput} */
function valuesOf(form) {
  const data = new FormData(form);
  return {
    name: String(data.get("name") ?? "").trim(),
    user: String(data.get("user") ?? "").trim(),
    scopes: SCOPES.map(([scope]) => scope).filter((scope) => data.getAll("scope").includes(scope)),
    public_ingest: data.get("public") !== null,
  };
}

function Field({ name, label, hint, failure, ...rest }) {
  const isWrong = failure?.field === name;
  return html`<div class="field"><label for=${`new-key-${name}`}>${label}</label>
    <input id=${`new-key-${name}`} name=${name} aria-invalid=${isWrong ? "true" : null} aria-describedby=${`new-key-${name}-hint`} ...${rest} />
    <p id=${`new-key-${name}-hint`} class=${isWrong ? "wrong" : "hint"}>${isWrong ? failure.message : hint}</p></div>`;
}

export function NewKey({ onMade, onClose }) {
  const running = useRef(false);
  const [failure, setFailure] = useState(/** @type {Failed | null} */ (null));
  const submit = async (event) => {
    event.preventDefault();
    if (running.current) return;
    running.current = true;
    try {
      const { data } = await call("POST", "/keys", { body: valuesOf(event.currentTarget) });
      onMade(data);
    } catch (error) {
      setFailure(failed(error));
    } finally {
      running.current = false;
    }
  };
  const isElsewhere = failure && !["name", "user"].includes(failure.field ?? "");
  return html`<${Dialog} title="New key" onClose=${onClose}>
    <form onSubmit=${submit} novalidate>
      <${Field} name="name" label="Name" hint="What it is for" failure=${failure} autocomplete="off" maxlength="200" />
      <${Field} name="user" label="User" hint="The email address of the person or program" failure=${failure} type="email" autocomplete="off"
        defaultValue=${caller.value?.user ?? ""} />
      <fieldset class="field"><legend class="legend">Scopes</legend>
        ${SCOPES.map(([scope, about]) => html`<label class="check" key=${scope}><input type="checkbox" name="scope" value=${scope} />
          <span><code>${scope}</code> <span class="quiet small">${about}</span></span></label>`)}</fieldset>
      <label class="check"><input type="checkbox" name="public" />
        <span>Public <span class="quiet small">may be in a web page: it only sends telemetry</span></span></label>
      <p class="wrong" role="alert">${isElsewhere ? failure.message : ""}</p>
      <div class="acts"><${Button} work=${onClose}>Cancel<//><${Button} type="submit" kind="first">Make the key<//></div>
    </form>
  <//>`;
}
