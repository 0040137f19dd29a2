// Shows both versions of something that somebody else has changed while it was edited: nothing is
// overwritten without being seen.

import { html } from "../kit/html.js";
import { Button } from "./button.js";
import { Dialog } from "./dialog.js";

/**
 * `fields` are what differs: `{label, mine, theirs}`, as they are shown; `note` says more. `onTheirs` begins again
 * with what is saved now, `onMine` saves nevertheless.
 */
export function Conflict({ fields, note, onMine, onTheirs, onClose }) {
  return html`<${Dialog} title="Somebody changed it meanwhile" onClose=${onClose}>
    <div class="stack">
      <p>Nothing is saved yet. Both versions:</p>
      <div class="wide" tabindex="0" role="region" aria-label="Both versions"><table>
        <thead><tr><th scope="col">Field</th><th scope="col">Yours</th><th scope="col">Theirs</th></tr></thead>
        <tbody>${fields.map(({ label, mine, theirs }) => html`<tr key=${label}><th scope="row">${label}</th><td class="version">${mine}</td>
          <td class="version">${theirs}</td></tr>`)}</tbody></table></div>
      ${note && html`<p class="quiet small">${note}</p>`}
      <div class="acts"><${Button} work=${onClose}>Back to the form<//><${Button} work=${onTheirs}>Begin again with theirs<//>
        <${Button} kind="grave" work=${onMine}>Save yours over it<//></div>
    </div>
  <//>`;
}
