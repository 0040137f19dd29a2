// The form of the settings of a repository. What somebody else saved meanwhile is shown beside what
// was typed, and nothing is overwritten without being seen.

import { useState } from "preact/hooks";
import { call, etagOf, get } from "../api/client.js";
import { failed } from "../kit/failed.js";
import { html } from "../kit/html.js";
import { toast } from "../kit/toasts.js";
import { Button } from "../parts/button.js";
import { Conflict } from "../parts/conflict.js";
import { Field } from "../parts/fields.js";
import { useSubmit } from "../parts/form.js";
import { Icon } from "../parts/icon.js";
import { Failure } from "../parts/loaded.js";
import { Patterns, patternsOf } from "./code_connect.js";
import { apiOf } from "./code_words.js";

const FIELDS = ["name", "branch", "access_token", "include_patterns", "exclude_patterns"];
const LABELS = { name: "Name", branch: "Branch", auto_sync: "Sync by itself", include_patterns: "Include", exclude_patterns: "Leave out" };

/**
 * Returns what of a repository the form has.
 * @param {Repository} of
 */
const settingsOf = (of) => ({
  name: of.name, branch: of.branch, auto_sync: of.settings.auto_sync, include_patterns: of.settings.include_patterns, exclude_patterns: of.settings.exclude_patterns,
});

const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);

/** Returns what the form changes of what it began with: the rest is left to others. */
function changesOf(form, before) {
  const data = new FormData(form);
  const text = (name) => String(data.get(name) ?? "").trim();
  const typed = {
    name: text("name"), branch: text("branch") || null, auto_sync: data.get("auto_sync") !== null,
    include_patterns: patternsOf(data.get("include_patterns")) ?? null, exclude_patterns: patternsOf(data.get("exclude_patterns")) ?? null,
  };
  const changes = Object.fromEntries(Object.entries(typed).filter(([name, value]) => !same(value, before[name])));
  if (text("access_token")) changes.access_token = text("access_token");
  if (data.get("without_token") !== null) changes.access_token = null;
  return changes;
}

function words(value) {
  if (value === null || value === undefined) return html`<span class="quiet">the default</span>`;
  if (Array.isArray(value)) return html`<ul>${value.map((one) => html`<li key=${one} class="mono">${one}</li>`)}</ul>`;
  return typeof value === "boolean" ? (value ? "yes" : "no") : html`<span class="wrap">${value}</span>`;
}

/**
 * Returns both versions of what was changed.
 * @param {Repository} theirs
 * @param {RepositoryPatch} changes
 */
function fieldsOf(theirs, changes) {
  const now = settingsOf(theirs);
  const names = Object.keys(LABELS).filter((name) => name in changes);
  const fields = names.map((name) => ({ label: LABELS[name], mine: words(changes[name]), theirs: words(now[name]) }));
  if (!("access_token" in changes)) return fields;
  const token = { label: "Token", mine: changes.access_token === null ? "none" : "another one", theirs: theirs.has_access_token ? "one is stored" : "none" };
  return [...fields, token];
}

/** @import { Repository, RepositoryPatch } from "telltale" */

/**
 * `of` is a repository as `get` returned it, with its ETag.
 * @param {Props<{of: Repository}>} props
 */
export function SettingsForm({ of, onSaved }) {
  const [conflict, setConflict] = useState(/** @type {{theirs: Repository, changes: RepositoryPatch} | null} */ (null));
  const before = settingsOf(of);
  const save = async (changes, version) => {
    try {
      await call("PUT", apiOf(of.id), { body: changes, ifMatch: version });
      setConflict(null);
      toast("The settings are saved.");
      await onSaved();
    } catch (error) {
      if (failed(error).status !== 412) throw error;
      const theirs = await get(apiOf(of.id));
      // A sync changes a repository too, but none of its settings.
      const isOnlySync = same(settingsOf(theirs), before) && theirs.has_access_token === of.has_access_token;
      if (isOnlySync && version === etagOf(of)) return save(changes, etagOf(theirs));
      return setConflict({ theirs, changes });
    }
    return undefined;
  };
  const { failure, submit, setFailure } = useSubmit(async (form) => {
    const changes = changesOf(form, before);
    if (Object.keys(changes).length === 0) toast("Nothing is changed.");
    else await save(changes, etagOf(of));
  });
  const saveMine = () => conflict && save(conflict.changes, etagOf(conflict.theirs)).catch((error) => {
    setConflict(null);
    setFailure(error);
  });
  return html`<section class="card" aria-label="Settings"><header><${Icon} name="settings" /><h2>Settings</h2></header>
    <form class="stack" onSubmit=${submit} novalidate>
      <div class="pair"><${Field} id="set-name" name="name" label="Name" failure=${failure} maxlength="200" defaultValue=${of.name} autocomplete="off" />
        <${Field} id="set-branch" name="branch" label="Branch" hint="Empty: the default branch" failure=${failure} maxlength="244" defaultValue=${of.branch ?? ""} autocomplete="off" /></div>
      <p class="small quiet wrap">${of.url}</p>
      <label class="check"><input type="checkbox" name="auto_sync" defaultChecked=${of.settings.auto_sync} /> Sync by itself when the branch has moved</label>
      <div class="pair"><${Patterns} id="set-include" name="include_patterns" label="Include" hint="Patterns as in .gitignore, one a line; empty: all files" failure=${failure} rows=${6} defaultValue=${of.settings.include_patterns.join("\n")} />
        <${Patterns} id="set-exclude" name="exclude_patterns" label="Leave out" hint="They win. Empty: the default" failure=${failure} rows=${6} defaultValue=${of.settings.exclude_patterns.join("\n")} /></div>
      <${Field} id="set-token" name="access_token" label="Access token" hint=${of.has_access_token ? "One is stored; what you enter replaces it" : "None is stored"} failure=${failure} type="password" autocomplete="off" />
      ${of.has_access_token && html`<label class="check"><input type="checkbox" name="without_token" /> Remove the stored token</label>`}
      ${failure && !FIELDS.includes(failure.field ?? "") && html`<${Failure} failure=${failure} />`}
      <div class="acts"><${Button} type="submit" kind="first">Save<//></div>
    </form>
    ${conflict && html`<${Conflict} fields=${fieldsOf(conflict.theirs, conflict.changes)} note="What you did not change stays as it is saved now."
      onClose=${() => setConflict(null)} onTheirs=${onSaved} onMine=${saveMine} />`}
  </section>`;
}
