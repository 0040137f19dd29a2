// What can be done with a whole dashboard: create, import, duplicate, delete.

import { useState } from "preact/hooks";
import { call } from "../api/client.js";
import { failed } from "../kit/failed.js";
import { count } from "../kit/format.js";
import { html } from "../kit/html.js";
import { go } from "../kit/router.js";
import { toast } from "../kit/toasts.js";
import { Button } from "../parts/button.js";
import { Confirm } from "../parts/confirm.js";
import { Dialog } from "../parts/dialog.js";
import { Field } from "../parts/fields.js";
import { useSubmit } from "../parts/form.js";
import { Failure } from "../parts/loaded.js";

/** Returns the path of the page of a dashboard. */
export const pathOf = (id) => /** @type {const} */ (`/dashboards/${encodeURIComponent(id)}`);

/** Returns the address of the file that `POST /dashboards/import` takes. */
export const exportOf = (id) => `/api/v1/dashboards/${encodeURIComponent(id)}/export`;

/** Asks for a name and a description, and opens the new dashboard to edit it. */
export function NewDashboard({ onClose }) {
  const { failure, submit } = useSubmit(async (form) => {
    const typed = new FormData(form);
    const description = String(typed.get("description")).trim();
    const body = { name: String(typed.get("name")).trim(), ...(description && { description }) };
    const { data } = await call("POST", "/dashboards", { body });
    go(`${pathOf(data.id)}?edit=1`);
  });
  const isElsewhere = failure && !["name", "description"].includes(failure.field ?? "");
  return html`<${Dialog} title="New dashboard" onClose=${onClose}>
    <form onSubmit=${submit} novalidate>
      <${Field} id="new-dashboard-name" name="name" label="Name" failure=${failure} maxlength="200" autocomplete="off" autofocus />
      <${Field} id="new-dashboard-description" name="description" label="Description" hint="What it shows, and for whom; may be empty" failure=${failure} maxlength="2000"
        autocomplete="off" />
      ${isElsewhere && html`<${Failure} failure=${failure} />`}
      <div class="acts"><${Button} work=${onClose}>Cancel<//><${Button} type="submit" kind="first">Create<//></div>
    </form>
  <//>`;
}

/** @typedef {{body?: any, name?: string, widgets?: number, wrong?: string}} File */

/**
 * Returns what a file has: `{body, name, widgets}`, or `{wrong}`.
 * @returns {File}
 */
function read(text) {
  try {
    const body = JSON.parse(text);
    const inner = body.data ?? body;
    return { body, name: String(inner.name ?? "without a name"), widgets: Array.isArray(inner.widgets) ? inner.widgets.length : 0 };
  } catch {
    return { wrong: "The file is no JSON." };
  }
}

/** Imports a file that was exported, here or from another server. */
export function ImportDashboard({ onClose }) {
  const [file, setFile] = useState(/** @type {File | null} */ (null));
  const [failure, setFailure] = useState(/** @type {Failed | null} */ (null));
  const choose = async (event) => {
    const [chosen] = event.currentTarget.files;
    setFailure(null);
    setFile(chosen ? read(await chosen.text()) : null);
  };
  const work = async () => {
    if (!file) return setFile({ wrong: "Choose a file." });
    if (file.wrong) return undefined;
    try {
      const { data } = await call("POST", "/dashboards/import", { body: file.body });
      return go(pathOf(data.id));
    } catch (error) {
      return setFailure(failed(error));
    }
  };
  return html`<${Dialog} title="Import a dashboard" onClose=${onClose}>
    <div class="stack">
      <div class="field"><label for="import-file">File</label>
        <input id="import-file" type="file" accept="application/json,.json" onChange=${choose} aria-describedby="import-note" aria-invalid=${file?.wrong ? "true" : null} />
        <p id="import-note" class=${file?.wrong ? "wrong" : "hint"}>${file?.wrong ?? (file ? `${file.name}: ${count(file.widgets, "widget")}` : "JSON, as “Export” makes it")}</p></div>
      ${failure && html`<${Failure} failure=${failure} />`}
      <div class="acts"><${Button} work=${onClose}>Cancel<//><${Button} kind="first" work=${work}>Import<//></div>
    </div>
  <//>`;
}

/** Copies a dashboard and opens the copy. */
export async function duplicate({ id, name }) {
  const { data } = await call("POST", `/dashboards/${encodeURIComponent(id)}/duplicate`);
  toast(`“${name}” was copied.`);
  go(pathOf(data.id));
}

export function DeleteDashboard({ dashboard, widgets, onDone, onClose }) {
  const work = async () => {
    await call("DELETE", `/dashboards/${encodeURIComponent(dashboard.id)}`);
    toast(`“${dashboard.name}” was deleted.`);
    onDone();
  };
  return html`<${Confirm} title="Delete the dashboard?" act="Delete" work=${work} onClose=${onClose}>
    <p class="what">“${dashboard.name}” and its ${count(widgets, "widget")} are deleted for everybody. Its data stays.</p>
    <p class="quiet small">It cannot be undone; export it first to keep a file of it.</p>
  <//>`;
}
