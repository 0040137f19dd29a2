// What is done with one error: resolve, ignore, assign, merge, delete.

import { useState } from "preact/hooks";
import { call } from "../api/client.js";
import { may } from "../api/session.js";
import { count } from "../kit/format.js";
import { html } from "../kit/html.js";
import { go } from "../kit/router.js";
import { doing, toast } from "../kit/toasts.js";
import { Button } from "../parts/button.js";
import { Confirm } from "../parts/confirm.js";
import { Icon } from "../parts/icon.js";
import { apiPath, listPath } from "./errors_common.js";
import { AssignDialog, IgnoreDialog, ResolveDialog } from "./errors_dialogs.js";
import { MergeInto } from "./errors_merge.js";

/** @import { ErrorGroupDetail } from "telltale" */

const MINUTE_MS = 60_000;
const DONE = { resolve: "Resolved.", ignore: "Ignored.", unresolve: "Unresolved again." };

/**
 * Returns the request that brings back what an error was before: `[action, fields]`.
 * @param {ErrorGroupDetail} error
 */
function before(error) {
  if (error.status === "resolved") return ["resolve", error.note === null ? {} : { note: error.note }];
  if (error.status === "ignored") {
    const minutes = error.ignored_until && Math.max(1, Math.round((Date.parse(error.ignored_until) - Date.now()) / MINUTE_MS));
    return ["ignore", { duration: minutes ? `${minutes}m` : "forever", ...(error.reason !== null && { reason: error.reason }) }];
  }
  return ["unresolve", {}];
}

/**
 * `again` loads the error again after a change.
 * @param {Props<{error: ErrorGroupDetail}>} props
 */
export function Acts({ error, again }) {
  const [open, setOpen] = useState("");
  if (!may("write")) return null;
  const send = (action, fields) => call("POST", apiPath(error.id, `/${action}`), { body: fields });
  const undoTo = (action, fields) => async () => {
    await doing(() => send(action, fields), "Undone.");
    again();
  };
  const change = (action) => async (fields = {}) => {
    await send(action, fields);
    toast(DONE[action], { undo: undoTo(...before(error)) });
    again();
  };
  const assign = async (fields) => {
    await send("assign", fields);
    toast(fields.user_id ? `Assigned to ${fields.user_id}.` : "Nobody is assigned.", { undo: undoTo("assign", { user_id: error.assignee }) });
    again();
  };
  const remove = async () => {
    await call("DELETE", apiPath(error.id));
    toast("The error is deleted.");
    go(listPath.value);
  };
  const now = (action) => () => doing(() => change(action)());
  const close = () => setOpen("");
  const isOpen = error.status === "unresolved";
  return html`
    ${isOpen ? html`<${Button} kind="first" work=${now("resolve")}><${Icon} name="check" />Resolve<//>` : html`<${Button} work=${now("unresolve")}><${Icon} name="rotate-ccw" />Unresolve<//>`}
    ${isOpen && html`<${Button} work=${() => setOpen("note")}><${Icon} name="pencil" />Resolve with a note…<//>`}
    <${Button} work=${() => setOpen("ignore")}><${Icon} name="volume-x" />${error.status === "ignored" ? "Ignore longer…" : "Ignore…"}<//>
    <${Button} work=${() => setOpen("assign")}><${Icon} name="user-plus" />Assign…<//>
    <${Button} work=${() => setOpen("merge")}><${Icon} name="git-merge" />Merge…<//>
    <${Button} kind="grave" work=${() => setOpen("delete")}><${Icon} name="trash-2" />Delete…<//>
    ${open === "note" && html`<${ResolveDialog} what="The error" work=${change("resolve")} onClose=${close} />`}
    ${open === "ignore" && html`<${IgnoreDialog} what="The error" work=${change("ignore")} onClose=${close} />`}
    ${open === "assign" && html`<${AssignDialog} what=${error.title} current=${error.assignee} work=${assign} onClose=${close} />`}
    ${open === "merge" && html`<${MergeInto} error=${error} onDone=${again} onClose=${close} />`}
    ${open === "delete" && html`<${Confirm} title="Delete the error?" act="Delete" work=${remove} onClose=${close}>
      <p><strong><bdi>${error.title}</bdi></strong> and its ${count(error.occurrences, "occurrence")} are deleted for good. When it occurs again, it is a new error.</p><//>`}`;
}
