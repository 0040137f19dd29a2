// The dialog that connects a repository.

import { call } from "../api/client.js";
import { html } from "../kit/html.js";
import { go, href } from "../kit/router.js";
import { Button } from "../parts/button.js";
import { Dialog } from "../parts/dialog.js";
import { Field, TextArea } from "../parts/fields.js";
import { useSubmit } from "../parts/form.js";
import { Failure } from "../parts/loaded.js";
import { pathOf } from "./code_words.js";

const FIELDS = ["url", "name", "branch", "access_token", "include_patterns", "exclude_patterns"];

/** Returns the lines of a text that are not empty; undefined if there are none. */
export function patternsOf(text) {
  const lines = String(text ?? "").split("\n").map((line) => line.trim()).filter(Boolean);
  return lines.length > 0 ? lines : undefined;
}

/** Lines with one pattern each. */
export function Patterns({ rows = 2, ...rest }) {
  return html`<${TextArea} rows=${rows} spellcheck=${false} ...${rest} />`;
}

function inputOf(form) {
  const data = new FormData(form);
  const text = (name) => String(data.get(name) ?? "").trim() || undefined;
  return {
    url: text("url") ?? "",
    name: text("name"),
    branch: text("branch"),
    access_token: text("access_token"),
    auto_sync: data.get("auto_sync") !== null,
    include_patterns: patternsOf(data.get("include_patterns")),
    exclude_patterns: patternsOf(data.get("exclude_patterns")),
  };
}

export function Connect({ onClose }) {
  const { failure, submit } = useSubmit(async (form) => {
    const made = await call("POST", "/repositories", { body: inputOf(form) });
    go(pathOf(made.id));
  });
  const existing = failure?.code === "repository_exists" && /repo_\w+/.exec(failure.message)?.[0];
  return html`<${Dialog} title="Connect a repository" onClose=${onClose}>
    <form onSubmit=${submit} novalidate>
      <${Field} id="connect-url" name="url" label="URL" hint="Where git fetches it from, without user and password" failure=${failure} type="url" maxlength="2048" autocomplete="off"
        placeholder="git.example.com/team/shop.git" autofocus />
      <div class="pair">
        <${Field} id="connect-branch" name="branch" label="Branch" hint="Empty: the default branch" failure=${failure} maxlength="244" autocomplete="off" />
        <${Field} id="connect-name" name="name" label="Name" hint="Empty: the last part of the URL" failure=${failure} maxlength="200" autocomplete="off" />
      </div>
      <${Field} id="connect-token" name="access_token" label="Access token" hint="For private repositories; it may only read, and is never shown again" failure=${failure} type="password" autocomplete="off" />
      <label class="check"><input type="checkbox" name="auto_sync" defaultChecked /> Sync by itself when the branch has moved</label>
      <details><summary>Files</summary><div class="stack">
        <${Patterns} id="connect-include" name="include_patterns" label="Include" hint="Patterns as in .gitignore, one a line; empty: all files" failure=${failure} />
        <${Patterns} id="connect-exclude" name="exclude_patterns" label="Leave out" hint="They win. Empty: code of others, lock files and generated files" failure=${failure} />
      </div></details>
      ${existing ? html`<p class="notice bad" role="alert"><span>This branch is connected already: <a href=${href(pathOf(existing))}>open it</a>.</span></p>`
        : failure && !FIELDS.includes(failure.field ?? "") && html`<${Failure} failure=${failure} />`}
      <div class="acts"><${Button} work=${onClose}>Cancel<//><${Button} type="submit" kind="first">Connect<//></div>
    </form>
  <//>`;
}
