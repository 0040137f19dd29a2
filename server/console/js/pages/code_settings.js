// The settings of a repository, and its syncs.

import { useState } from "preact/hooks";
import { call, etagOf, get } from "../api/client.js";
import { may } from "../api/session.js";
import { whole } from "../kit/format.js";
import { html } from "../kit/html.js";
import { useLoaded } from "../kit/loading.js";
import { go } from "../kit/router.js";
import { toast } from "../kit/toasts.js";
import { Button } from "../parts/button.js";
import { Confirm } from "../parts/confirm.js";
import { Icon } from "../parts/icon.js";
import { Loaded } from "../parts/loaded.js";
import { CodeFrame, useRepository } from "./code_frame.js";
import { SettingsForm } from "./code_settings_form.js";
import { Syncs } from "./code_syncs.js";
import { apiOf, known } from "./code_words.js";

/** @import { Repository } from "telltale" */

/** @param {Props<{of: Repository}>} props */
function Delete({ of }) {
  const [isAsked, setAsked] = useState(false);
  const remove = async () => {
    await call("DELETE", apiOf(of.id));
    known.delete(of.id);
    toast(`${of.name} is deleted.`);
    go("/code");
  };
  return html`<section class="card" aria-label="Delete"><header><${Icon} name="trash-2" /><h2>Delete</h2>
      <${Button} kind="grave" work=${() => setAsked(true)}>Delete the repository<//></header>
    ${isAsked && html`<${Confirm} title="Delete the repository?" act="Delete" work=${remove} onClose=${() => setAsked(false)}>
      <p><strong class="wrap">${of.name}</strong> is deleted with its index (${whole(of.stats.files_indexed)} files), its ${whole(of.stats.wiki_pages)} pages, its ${whole(of.stats.diagrams)} diagrams and its sessions.
        The code at ${of.url} stays as it is. It cannot be undone.</p><//>`}</section>`;
}

function Settings({ id, onSaved }) {
  const [state, again] = useLoaded((abort) => get(apiOf(id), abort));
  const saved = async () => {
    await again();
    onSaved();
  };
  return html`<${Loaded} state=${state} show=${(of) => html`<${SettingsForm} key=${etagOf(of)} of=${of} onSaved=${saved} />`} />`;
}

export function Page({ params: { id } }) {
  const loaded = useRepository(id);
  const [, again] = loaded;
  const show = (of) => html`<div class="sections"><${Syncs} id=${id} of=${of} />
    ${may("write") && html`<${Settings} key=${id} id=${id} onSaved=${again} /><${Delete} of=${of} />`}</div>`;
  return html`<${CodeFrame} id=${id} view="settings" title="Settings" isAlways loaded=${loaded} show=${show} />`;
}
