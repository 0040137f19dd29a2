// Who is signed in where: list, end.

import { useState } from "preact/hooks";
import { call, get } from "../api/client.js";
import { html } from "../kit/html.js";
import { useLoaded } from "../kit/loading.js";
import { Button } from "../parts/button.js";
import { Confirm } from "../parts/confirm.js";
import { Icon } from "../parts/icon.js";
import { Loaded } from "../parts/loaded.js";
import { Table } from "../parts/table.js";
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

/** @returns {Column<ConsoleSession>[]} */
function columnsOf(onEnd) {
  return [
    { label: "Browser", cell: (item) => html`<span title=${item.agent}>${browserOf(item.agent)}${item.current && html` <span class="tag good">this one</span>`}</span>` },
    { label: "User", cell: (item) => item.user },
    { label: "Key", cell: (item) => item.key_name },
    { label: "From", isMono: true, cell: (item) => item.address },
    { label: "Last seen", cell: (item) => html`<${Time} at=${item.last_seen_at} />` },
    { label: "Actions", isEnd: true, isUnseen: true, cell: (item) => !item.current && html`<${Button} kind="plain" label=${`End the session of ${item.user} from ${item.address}`}
      work=${() => onEnd(item)}><${Icon} name="x" />End<//>` },
  ];
}

export function Sessions() {
  const [state, again] = useLoaded((abort) => get("/sessions?limit=200", abort));
  const [ended, setEnded] = useState(/** @type {ConsoleSession | null} */ (null));
  const end = async () => {
    if (ended) await call("DELETE", `/sessions/${encodeURIComponent(ended.id)}`);
    again();
  };
  const columns = columnsOf(setEnded);
  const empty = { is: ({ data }) => data.length === 0, text: "Nobody is signed in." };
  return html`<section class="card"><header><${Icon} name="monitor" /><h2>Sessions</h2></header>
    <${Loaded} state=${state} show=${({ data }) => html`<${Table} label="Sessions" columns=${columns} rows=${data} keyOf=${({ id }) => id} />`} empty=${empty} />
    ${ended && html`<${Confirm} title="End the session?" act="End it" work=${end} onClose=${() => setEnded(null)}>
      <p>The browser (${browserOf(ended.agent)}) of <strong>${ended.user}</strong> has to sign in again.</p><//>`}
  </section>`;
}
