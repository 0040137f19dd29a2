// Who is signed in where: list, end.

import { useState } from "preact/hooks";
import { call, get } from "../api/client.js";
import { html } from "../kit/html.js";
import { useLoaded } from "../kit/loading.js";
import { Button } from "../parts/button.js";
import { Confirm } from "../parts/confirm.js";
import { Icon } from "../parts/icon.js";
import { Loaded } from "../parts/loaded.js";
import { Time } from "../parts/time.js";

/** @import { ConsoleSession } from "telltale" */

const BROWSERS = [["Edg/", "Edge"], ["OPR/", "Opera"], ["Firefox/", "Firefox"], ["Chrome/", "Chrome"], ["Safari/", "Safari"]];
const SYSTEMS = [["Android", "Android"], ["iPhone", "iPhone"], ["iPad", "iPad"], ["Windows", "Windows"], ["Mac OS", "macOS"], ["Linux", "Linux"]];

/** Returns the browser and its system in words, or the agent as it was sent. */
function browserOf(agent) {
  const named = (table) => table.find(([mark]) => agent.includes(mark))?.[1];
  const [browser, system] = [named(BROWSERS), named(SYSTEMS)];
  if (browser) return system ? `${browser} on ${system}` : browser;
  return agent || "unknown";
}

/** @param {Props<{item: ConsoleSession}>} props */
function Row({ item, onEnd }) {
  return html`<tr>
    <td data-label="Browser"><span title=${item.agent}>${browserOf(item.agent)}${item.current && html` <span class="tag good">this one</span>`}</span></td>
    <td data-label="User">${item.user}</td>
    <td data-label="Key">${item.key_name}</td>
    <td data-label="From" class="mono">${item.address}</td>
    <td data-label="Last seen"><${Time} at=${item.last_seen_at} /></td>
    <td class="end">${!item.current && html`<${Button} kind="plain" label=${`End the session of ${item.user} from ${item.address}`}
      work=${() => onEnd(item)}><${Icon} name="x" />End<//>`}</td>
  </tr>`;
}

function table(sessions, onEnd) {
  return html`<div class="wide"><table class="stacked">
    <thead><tr><th>Browser</th><th>User</th><th>Key</th><th>From</th><th>Last seen</th><th><span class="unseen">Actions</span></th></tr></thead>
    <tbody>${sessions.map((item) => html`<${Row} key=${item.id} item=${item} onEnd=${onEnd} />`)}</tbody>
  </table></div>`;
}

export function Sessions() {
  const [state, again] = useLoaded((abort) => get("/sessions?limit=200", abort));
  const [ended, setEnded] = useState(/** @type {import("telltale").ConsoleSession | null} */ (null));
  const end = async () => {
    if (ended) await call("DELETE", `/sessions/${encodeURIComponent(ended.id)}`);
    again();
  };
  const empty = { is: ({ data }) => data.length === 0, text: "Nobody is signed in." };
  return html`<section class="card"><header><${Icon} name="monitor" /><h2>Sessions</h2></header>
    <${Loaded} state=${state} show=${({ data }) => table(data, setEnded)} empty=${empty} />
    ${ended && html`<${Confirm} title="End the session?" act="End it" work=${end} onClose=${() => setEnded(null)}>
      <p>The browser (${browserOf(ended.agent)}) of <strong>${ended.user}</strong> has to sign in again.</p><//>`}
  </section>`;
}
