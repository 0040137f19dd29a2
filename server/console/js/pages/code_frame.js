// The frame of the pages of a repository: its name, its views, and how it is.

import { useEffect } from "preact/hooks";
import { call } from "../api/client.js";
import { may } from "../api/session.js";
import { html } from "../kit/html.js";
import { useLoaded } from "../kit/loading.js";
import { href } from "../kit/router.js";
import { bind } from "../kit/keys.js";
import { doing } from "../kit/toasts.js";
import { Button } from "../parts/button.js";
import { Head } from "../parts/head.js";
import { Icon } from "../parts/icon.js";
import { Failure } from "../parts/loaded.js";
import { Time } from "../parts/time.js";
import { SyncProgress } from "./code_sync.js";
import { apiOf, known, loadRepository, pathOf, State } from "./code_words.js";

/** @import { Repository } from "telltale" */

const VIEWS = [
  { name: "ask", rest: "", label: "Ask" },
  { name: "search", rest: "/search", label: "Search" },
  { name: "files", rest: "/files", label: "Files" },
  { name: "wiki", rest: "/wiki", label: "Wiki" },
  { name: "diagrams", rest: "/diagrams", label: "Diagrams" },
  { name: "settings", rest: "/settings", label: "Syncs and settings" },
];

function Views({ id, current }) {
  return html`<nav class="tabs" aria-label="Views of the repository"><ul>${VIEWS.map(({ name, rest, label }) => html`<li key=${name}>
    <a href=${href(pathOf(id, rest))} aria-current=${name === current ? "page" : null}>${label}</a></li>`)}</ul></nav>`;
}

/**
 * What is wrong with a repository, or what it waits for.
 * @param {Props<{of: Repository}>} props
 */
function Notice({ of, view, onEnd }) {
  const hasIndex = Boolean(of.last_commit);
  return html`${of.last_error && html`<p class="notice bad"><${Icon} name="circle-x" /><span>The last sync failed <${Time} at=${of.last_error.at} />: ${of.last_error.message}
        <span class="mono small"> ${of.last_error.code}</span>.${hasIndex && " What was indexed before is still there."}</span>
        ${view !== "settings" && html`<a href=${href(pathOf(of.id, "/settings"))}>Syncs and settings</a>`}</p>`}
    ${of.sync_id && html`<${SyncProgress} key=${of.sync_id} id=${of.id} sync=${of.sync_id} onEnd=${onEnd} />`}
    ${!hasIndex && !of.sync_id && !of.last_error && html`<p class="notice">The repository is not synced yet.</p>`}
    ${hasIndex && of.stats.files_indexed === 0 && html`<p class="notice warn"><${Icon} name="triangle-alert" /><span>No file of the commit is indexed: the patterns in the settings leave all of them out, or there are none.</span></p>`}`;
}

/** Returns the repository as it was loaded, and a function to load it again. */
export function useRepository(id) {
  return useLoaded((abort) => loadRepository(id, abort), 0, id);
}

/**
 * `show(repository)` is what a view shows once something is indexed; `isAlways` shows it before as well. `loaded` is what `useRepository` returned.
 */
export function CodeFrame({ id, view, loaded: [state, again], show, isAlways = false, title }) {
  const { data, failure, at } = state.value;
  const of = data ?? known.get(id);
  const sync = () => doing(async () => {
    await call("POST", apiOf(id, "/sync"));
    await again();
  }, null);
  useEffect(() => bind("r", "Refresh", () => again()), []);
  return html`<${Head} title=${title ? `${title} · ${of?.name ?? "Repository"}` : of?.name ?? "Repository"} above=${{ path: "/code", label: "Repositories" }}>
      ${of && html`<${State} name=${of.status} />`}
      ${of && may("write") && !of.sync_id && html`<${Button} work=${sync}><${Icon} name="refresh-cw" />Sync now<//>`}<//>
    <${Views} id=${id} current=${view} />
    ${failure && html`<${Failure} failure=${failure} since=${data && at} />`}
    <div class=${failure ? "loaded old" : "loaded"}>${of && html`<div class="notices"><${Notice} of=${of} view=${view} onEnd=${again} /></div>`}
      ${of && (isAlways || of.last_commit) ? show(of) : !failure && !of && html`<p class="quiet" role="status">Loading…</p>`}</div>`;
}
