// Keys, sessions, and how this browser shows the console.

import { caller } from "../api/session.js";
import { html } from "../kit/html.js";
import { areOn, turn } from "../kit/keys.js";
import { choose, theme } from "../kit/theme.js";
import { Head } from "../parts/head.js";
import { Icon } from "../parts/icon.js";
import { Keys } from "./settings_keys.js";
import { Sessions } from "./settings_sessions.js";

const THEMES = [
  ["system", "System", "monitor"],
  ["light", "Light", "sun"],
  ["dark", "Dark", "moon"],
];

function Appearance() {
  return html`<section class="card"><header><${Icon} name="monitor" /><h2>This browser</h2></header>
    <fieldset><legend class="legend">Colours</legend>
      <div class="choices">${THEMES.map(([value, label, icon]) => html`<label key=${value}>
        <input type="radio" name="theme" value=${value} checked=${theme.value === value} onChange=${() => choose(value)} />
        <${Icon} name=${icon} />${label}</label>`)}</div>
    </fieldset>
    <label class="check"><input type="checkbox" checked=${areOn.value} onChange=${(event) => turn(event.currentTarget.checked)} />
      Keyboard shortcuts of single keys</label>
  </section>`;
}

function You() {
  if (!caller.value) return null;
  const { user, scopes, key } = caller.value;
  return html`<section class="card"><header><${Icon} name="key-round" /><h2>You</h2></header>
    <p>Signed in as <strong>${user}</strong>${key && html` with the key <span class="mono">${key.name}</span>`}.</p>
    <ul class="tags" aria-label="Your scopes">${scopes.map((scope) => html`<li class="tag" key=${scope}>${scope}</li>`)}</ul>
  </section>`;
}

export function Page() {
  return html`<${Head} title="Settings" />
    <div class="sections">
      <div class="grid"><${You} /><${Appearance} /></div>
      <${Keys} /><${Sessions} />
    </div>`;
}
