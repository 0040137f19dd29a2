// The versions of a dashboard: who saved what when, and the way back to it.

import { useState } from "preact/hooks";
import { call, get } from "../api/client.js";
import { may } from "../api/session.js";
import { failed } from "../kit/failed.js";
import { count, instant } from "../kit/format.js";
import { html } from "../kit/html.js";
import { useLoaded } from "../kit/loading.js";
import { toast } from "../kit/toasts.js";
import { Button } from "../parts/button.js";
import { Dialog } from "../parts/dialog.js";
import { Failure, Loaded } from "../parts/loaded.js";
import { Changes, Sketch } from "./dashboards_conflict.js";
import { draftOf } from "./dashboards_draft.js";

const SHOWN_MAX = 50;

function Version({ path, number, dashboard }) {
  const [state] = useLoaded((abort) => get(`${path}/versions/${number}`, abort), 0, String(number));
  const show = ({ data }) => html`<div class="version-shown"><${Sketch} widgets=${data.widgets} label=${`The layout of version ${number}`} />
    <div><p class="small">Compared with what is stored now:</p><${Changes} before=${draftOf(dashboard)} now=${draftOf(data)} /></div></div>`;
  return html`<${Loaded} state=${state} show=${show} />`;
}

/** `onRestored` gets the response of the dashboard as it is then. */
export function Versions({ dashboard, onRestored, onClose }) {
  const path = /** @type {const} */ (`/dashboards/${encodeURIComponent(dashboard.id)}`);
  const [state, again] = useLoaded((abort) => get(`${path}/versions?limit=${SHOWN_MAX}`, abort));
  const [chosen, setChosen] = useState(/** @type {number | null} */ (null));
  const [failure, setFailure] = useState(/** @type {Failed | null} */ (null));
  const restore = (version, ifMatch) => call("POST", `${path}/restore`, { body: { version }, ifMatch });
  const work = async () => {
    try {
      const answer = await restore(chosen, dashboard.etag);
      onRestored(answer);
      const undo = async () => onRestored(await restore(dashboard.version));
      toast(`Version ${chosen} was restored.`, { undo: dashboard.version ? undo : null });
      onClose();
    } catch (error) {
      setFailure(failed(error));
      again();
    }
  };
  const row = (one) => html`<label class="version-row" key=${one.version}><input type="radio" name="version" checked=${chosen === one.version} onChange=${() => setChosen(one.version)} />
    <span class="what">${one.name}</span><span class="quiet small">${one.current ? html`<span class="tag good">current</span> ` : ""}${count(one.widgets_count, "widget")}</span>
    <span class="more quiet small">${instant(one.saved_at)}${one.saved_by ? ` · ${one.saved_by}` : ""}</span></label>`;
  const isCurrent = state.value.data?.data.find(({ version }) => version === chosen)?.current;
  return html`<${Dialog} title="Versions" onClose=${onClose} isBroad>
    <div class="stack">
      <div class="versions-pair">
        <${Loaded} state=${state} show=${({ data }) => html`<div class="tall version-list" role="radiogroup" aria-label="Versions" tabindex="0">${data.map(row)}</div>`} />
        ${chosen === null ? html`<p class="none-here quiet">Choose a version to look at it.</p>` : html`<${Version} path=${path} number=${chosen} dashboard=${dashboard} />`}
      </div>
      ${failure && html`<${Failure} failure=${failure} />`}
      <div class="acts"><${Button} work=${onClose}>Close<//>
        ${may("write") && chosen !== null && !isCurrent && html`<${Button} kind="first" work=${work}>Restore version ${chosen}<//>`}</div>
    </div>
  <//>`;
}
