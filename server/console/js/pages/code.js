// The repositories whose code can be searched and asked about.

import { useEffect, useState } from "preact/hooks";
import { get } from "../api/client.js";
import { may } from "../api/session.js";
import { amount } from "../kit/format.js";
import { html } from "../kit/html.js";
import { bind } from "../kit/keys.js";
import { useEvery, useLoaded } from "../kit/loading.js";
import { loadAgain, loads, refresh } from "../kit/range.js";
import { href, inQuery } from "../kit/router.js";
import { Button } from "../parts/button.js";
import { Head } from "../parts/head.js";
import { Icon } from "../parts/icon.js";
import { Loaded } from "../parts/loaded.js";
import { PAGE_ROWS, Steps, stepsQuery } from "../parts/pager.js";
import { Time } from "../parts/time.js";
import { Connect } from "./code_connect.js";
import { SyncProgress } from "./code_sync.js";
import { loadRepository, pathOf, State } from "./code_words.js";

/** @import { RepositorySummary } from "telltale" */

const RUNNING_MS = 3_000;
const isRunning = ({ status }) => status === "pending" || status === "syncing";

/** What a list does not say of a repository: why its sync failed, or how far it is. */
function More({ id, onEnd }) {
  const [state] = useLoaded((abort) => loadRepository(id, abort));
  const { data } = state.value;
  if (data?.sync_id) return html`<${SyncProgress} id=${id} sync=${data.sync_id} onEnd=${onEnd} />`;
  return data?.last_error ? html`<p class="wrong wrap">${data.last_error.message} <span class="mono">${data.last_error.code}</span></p>` : null;
}

/** @param {Props<{of: RepositorySummary}>} props */
function Repository({ of, onEnd }) {
  return html`<li class="card repository">
    <p class="line"><a class="name" href=${href(pathOf(of.id))}>${of.name}</a><${State} name=${of.status} /></p>
    <p class="quiet small wrap">${of.url}</p>
    <p class="quiet small wrap"><${Icon} name="git-branch" /> ${of.branch ?? "default branch"}${of.last_commit && html` at <span class="mono">${of.last_commit}</span>`}</p>
    ${of.status !== "synced" && html`<${More} key=${of.status} id=${of.id} onEnd=${onEnd} />`}
    <p class="small">${of.last_synced_at ? html`${amount(of.files_indexed)} files in ${amount(of.chunks_indexed)} passages, synced <${Time} at=${of.last_synced_at} />` : "Nothing is indexed yet."}</p>
  </li>`;
}

export function Page() {
  const [isOpen, setOpen] = useState(false);
  const path = /** @type {const} */ (`/repositories?${stepsQuery()}`);
  const [state, again] = useLoaded((abort) => get(path, abort), refresh.value * 1000, `${path} ${loads.value}`);
  const rows = state.value.data?.repositories ?? [];
  useEvery(again, rows.some(isRunning) ? RUNNING_MS : 0);
  useEffect(() => {
    const undo = [bind("r", "Refresh", loadAgain), bind("c", "Connect a repository", () => may("write") && setOpen(true))];
    return () => undo.forEach((one) => one());
  }, []);
  const empty = { is: ({ repositories }) => repositories.length === 0 && !inQuery("offset"), text: "No repositories yet: connect one to search its code and to ask about it." };
  const show = ({ repositories }) => html`<ul class="repositories" aria-label="Repositories">${repositories.slice(0, PAGE_ROWS).map((of) => html`<${Repository} key=${of.id} of=${of} onEnd=${again} />`)}</ul>
    <${Steps} rows=${repositories} />`;
  return html`<${Head} title="Code"><${Button} work=${loadAgain}><${Icon} name="refresh-cw" />Refresh<//>
      ${may("write") && html`<${Button} kind="first" work=${() => setOpen(true)}><${Icon} name="plus" />Connect a repository<//>`}<//>
    <${Loaded} state=${state} show=${show} empty=${empty} />
    ${isOpen && html`<${Connect} onClose=${() => setOpen(false)} />`}`;
}
