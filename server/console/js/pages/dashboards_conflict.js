// Shows both versions of a dashboard that somebody else has changed while it was edited.

import { ago } from "../kit/format.js";
import { html } from "../kit/html.js";
import { Button } from "../parts/button.js";
import { Dialog } from "../parts/dialog.js";
import { differences, draftOf } from "./dashboards_draft.js";
import { COLUMNS, settled } from "./dashboards_layout.js";

const ROW = 1;

/** A sketch of where the widgets are. */
export function Sketch({ widgets, label }) {
  const placed = settled(widgets);
  const rows = placed.reduce((most, { position }) => Math.max(most, position.y + position.height), 4);
  return html`<svg class="sketch" viewBox=${`0 0 ${COLUMNS} ${rows * ROW}`} role="img" aria-label=${label}>${placed.map(({ id, title, position: { x, y, width, height } }) => html`<rect key=${id}
    x=${x + 0.08} y=${y + 0.08} width=${width - 0.16} height=${height - 0.16} rx="0.15"><title>${title}</title></rect>`)}</svg>`;
}

/** What a version differs in from another one, in words. */
export function Changes({ before, now }) {
  const { isRenamed, hasOtherChoices, added, removed, changed, moved } = differences(before, now);
  const names = (widgets) => widgets.map(({ title }) => `“${title}”`).join(", ");
  const parts = [
    isRenamed && `Name or description: “${now.name}”`,
    hasOtherChoices && "Variables or marked events",
    added.length > 0 && `Added: ${names(added)}`,
    removed.length > 0 && `Removed: ${names(removed)}`,
    changed.length > 0 && `Changed: ${names(changed)}`,
    moved.length > 0 && `Moved: ${names(moved)}`,
  ].filter(Boolean);
  return html`<ul class="changes small">${parts.map((part) => html`<li key=${part}>${part}</li>`)}${parts.length === 0 && html`<li>No difference</li>`}</ul>`;
}

/** `base` is what the draft began with, `theirs` what is stored now. */
export function Conflict({ base, draft, theirs, onMine, onTheirs, onClose }) {
  const stored = draftOf(theirs);
  const lost = differences(draft, stored).added;
  return html`<${Dialog} title="Somebody changed it meanwhile" onClose=${onClose} isBroad>
    <div class="stack">
      <p>The dashboard was changed ${ago(theirs.updated_at)}, after you began. Nothing of yours is saved yet.</p>
      <div class="versions-pair">
        <section aria-labelledby="version-mine"><h3 id="version-mine">Yours</h3><${Sketch} widgets=${draft.widgets} label="Your layout" /><${Changes} before=${base} now=${draft} /></section>
        <section aria-labelledby="version-theirs"><h3 id="version-theirs">Stored now</h3><${Sketch} widgets=${stored.widgets} label="The stored layout" /><${Changes} before=${base} now=${stored} /></section>
      </div>
      ${lost.length > 0 && html`<p class="wrong">Saving yours removes what the other version has: ${lost.map(({ title }) => `“${title}”`).join(", ")}.</p>`}
      <div class="acts"><${Button} work=${onClose}>Keep editing<//><${Button} kind="grave" work=${onTheirs}>Discard yours<//><${Button} kind="grave" work=${onMine}>Save yours over it<//></div>
    </div>
  <//>`;
}
