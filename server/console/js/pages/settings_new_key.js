// The dialog that makes a key.

import { call } from "../api/client.js";
import { caller } from "../api/session.js";
import { html } from "../kit/html.js";
import { Button } from "../parts/button.js";
import { Dialog } from "../parts/dialog.js";
import { Field } from "../parts/fields.js";
import { useSubmit } from "../parts/form.js";

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

export function NewKey({ onMade, onClose }) {
  const { failure, submit } = useSubmit(async (form) => {
    const { data } = await call("POST", "/keys", { body: valuesOf(form) });
    onMade(data);
  });
  const isElsewhere = failure && !["name", "user"].includes(failure.field ?? "");
  return html`<${Dialog} title="New key" onClose=${onClose}>
    <form onSubmit=${submit} novalidate>
      <${Field} id="new-key-name" name="name" label="Name" hint="What it is for" failure=${failure} autocomplete="off" maxlength="200" />
      <${Field} id="new-key-user" name="user" label="User" hint="The email address of the person or program" failure=${failure} type="email" autocomplete="off"
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
