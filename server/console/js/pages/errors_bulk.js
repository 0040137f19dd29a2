// What is done with the errors that are selected in the list, or with all that match.

import { useState } from "preact/hooks";
import { call } from "../api/client.js";
import { may } from "../api/session.js";
import { count, whole } from "../kit/format.js";
import { html } from "../kit/html.js";
import { doing, toast } from "../kit/toasts.js";
import { Button } from "../parts/button.js";
import { Confirm } from "../parts/confirm.js";
import { Icon } from "../parts/icon.js";
import { SelectAll } from "../parts/selection.js";
import { AssignDialog, IgnoreDialog } from "./errors_dialogs.js";
import { MergeSelected } from "./errors_merge.js";

/** @import { ErrorGroup } from "telltale" */

const bulk = (body) => call("POST", "/errors/bulk", { body });

/**
 * Assigns errors to whom they were assigned before.
 * @param {ErrorGroup[]} rows
 */
async function assignBack(rows) {
  const byUser = Map.groupBy(rows, (row) => row.assignee);
  for (const [user, own] of byUser) await bulk({ action: "assign", user_id: user, ids: own.map(({ id }) => id) });
}

/**
 * Returns what undoes an action, or null if what was before cannot be restored exactly.
 * @param {string} action
 * @param {ErrorGroup[]} rows
 * @param {() => void} again
 */
function undoOf(action, rows, again) {
  const restore = (work) => async () => {
    await doing(work, "Undone");
    again();
  };
  if (action === "assign") return restore(() => assignBack(rows));
  const isOpen = rows.every(({ status }) => status === "unresolved");
  const ids = rows.map(({ id }) => id);
  return isOpen && action !== "unresolve" ? restore(() => bulk({ action: "unresolve", ids })) : null;
}

const DONE = { resolve: "resolved", ignore: "ignored", unresolve: "unresolved again", assign: "assigned", delete: "deleted" };

/** `rows` are those that are selected, `total` how many match `filter`. */
export function Bulk({ selection, rows, total, filter, again }) {
  const [open, setOpen] = useState("");
  const [isAll, setAll] = useState(false);
  const chosen = rows.filter(({ id }) => selection.isSelected(id));
  const isWhole = chosen.length === rows.length && total > rows.length;
  const isMatching = isAll && isWhole;
  const number = isMatching ? total : chosen.length;
  const what = isMatching ? `All ${count(number, "error")} that match` : count(number, "error");
  const close = () => setOpen("");
  const done = () => {
    selection.setAll(false);
    setAll(false);
    again();
  };
  const send = (action, fields) => bulk({ action, ...fields, ...(isMatching ? { filter } : { ids: chosen.map(({ id }) => id) }) });
  const said = (action) => ({ data }) => `${count(data.changed, "error")} ${DONE[action]}.`;
  const act = async (action, fields = {}) => {
    if (await doing(() => send(action, fields), said(action), { undo: isMatching ? null : undoOf(action, chosen, again) })) done();
  };
  const inDialog = (action) => async (fields = {}) => {
    const result = await send(action, fields);
    toast(said(action)(result), { undo: isMatching || action === "delete" ? null : undoOf(action, chosen, again) });
    done();
  };
  // Whatever changes all that match is asked about, with the count.
  const orAsk = (action) => () => (isMatching ? setOpen(action) : act(action));
  if (!may("write")) return html`<p class="quiet small bulk">Your key lacks the scope “write”: it cannot change errors.</p>`;
  return html`<div class="bulk" role="group" aria-label="Selected errors">
    <${SelectAll} selection=${selection} />
    ${number > 0 && html`
      <${Button} kind="small" work=${orAsk("resolve")}><${Icon} name="check" />Resolve<//>
      <${Button} kind="small" work=${() => setOpen("ignore")}><${Icon} name="volume-x" />Ignore…<//>
      <${Button} kind="small" work=${() => setOpen("assign")}><${Icon} name="user-plus" />Assign…<//>
      <${Button} kind="small" work=${orAsk("unresolve")}><${Icon} name="rotate-ccw" />Unresolve<//>
      ${chosen.length > 1 && !isMatching && html`<${Button} kind="small" work=${() => setOpen("merge")}><${Icon} name="git-merge" />Merge…<//>`}
      <${Button} kind="small" work=${() => setOpen("delete")}><${Icon} name="trash-2" />Delete…<//>`}
    ${isWhole && html`<${Button} kind="plain small" work=${() => setAll(!isAll)}>${isAll ? `Only the ${rows.length} shown` : `Select all ${whole(total)} that match`}<//>`}
    <span class="unseen" aria-live="polite">${number > 0 ? `${what} selected` : ""}</span>
    ${open === "ignore" && html`<${IgnoreDialog} what=${what} work=${inDialog("ignore")} onClose=${close} />`}
    ${open === "assign" && html`<${AssignDialog} what=${what} work=${inDialog("assign")} onClose=${close} />`}
    ${open === "merge" && html`<${MergeSelected} rows=${chosen} onDone=${done} onClose=${close} />`}
    ${open === "delete" && html`<${Confirm} title=${`Delete ${count(number, "error")}?`} act=${`Delete ${whole(number)}`} work=${() => inDialog("delete")({ confirm: true })} onClose=${close}>
      <p>${what} and ${number === 1 ? "its" : "their"} occurrences are deleted for good. What occurs again makes a new error.</p><//>`}
    ${(open === "resolve" || open === "unresolve") && html`<${Confirm} title=${open === "resolve" ? `Resolve ${count(number, "error")}?` : `Make ${count(number, "error")} unresolved?`}
      act=${`${open === "resolve" ? "Resolve" : "Unresolve"} ${whole(number)}`} work=${() => inDialog(open)()} onClose=${close}><p>${what}, also those on other pages of the list.</p><//>`}
  </div>`;
}
