// The syncs of a repository: what each did, or why it failed.

import { get } from "../api/client.js";
import { amount, duration } from "../kit/format.js";
import { html } from "../kit/html.js";
import { useLoaded } from "../kit/loading.js";
import { Icon } from "../parts/icon.js";
import { Loaded } from "../parts/loaded.js";
import { Table } from "../parts/table.js";
import { Time } from "../parts/time.js";
import { apiOf } from "./code_words.js";

/** @import { Repository, Sync } from "telltale" */

const TRIGGERS = { created: "connected", requested: "asked for", changed: "settings changed", automatic: "the branch moved" };
const KINDS = { completed: "good", failed: "bad", started: "warn" };
const SKIPPED = {
  excluded: "by the patterns", too_large: "too large", binary: "binary", not_utf8: "not UTF-8", generated: "generated",
  symbolic_links: "symbolic links", submodules: "submodules", invalid_paths: "with invalid paths",
};

/** @param {Props<{of: Sync}>} props */
function Done({ of }) {
  if (of.error) return html`<span class="wrap">${of.error.message} <span class="mono small">${of.error.code}</span></span>`;
  if (of.status !== "completed") return html`<span class="quiet">running</span>`;
  const { stats } = of;
  const skipped = Object.entries(stats.files_skipped).filter(([, files]) => files > 0).map(([name, files]) => `${amount(files)} ${SKIPPED[name] ?? name}`);
  return html`<span class="done">${amount(stats.files_processed)} read, ${amount(stats.files_unchanged)} as before, ${amount(stats.files_removed)} gone; ${amount(stats.chunks_created)} passages, ${amount(stats.pages_generated)} pages and diagrams
    ${skipped.length > 0 && html`<span class="quiet small">Left out: ${skipped.join(", ")}</span>`}</span>`;
}

/** @type {Column<Sync>[]} */
const COLUMNS = [
  { label: "State", cell: (row) => html`<span class=${`tag ${KINDS[row.status] ?? ""}`}>${row.status}</span>` },
  { label: "Began", cell: (row) => html`<span><${Time} at=${row.started_at} /> <span class="quiet small">${TRIGGERS[row.trigger] ?? row.trigger}</span></span>` },
  { label: "Took", isNumber: true, cell: (row) => (row.completed_at ? duration((Date.parse(row.completed_at) - Date.parse(row.started_at)) / 1000) : "") },
  { label: "Commit", cell: (row) => (row.commit ? html`<span class="mono">${row.commit}</span>` : "") },
  { label: "Done", cell: (row) => html`<${Done} of=${row} />` },
];

/** @param {Props<{of: Repository}>} props */
export function Syncs({ id, of }) {
  const [state] = useLoaded((abort) => get(apiOf(id, "/syncs?limit=50"), abort), 0, `${of.status} ${of.sync_id}`);
  const empty = { is: ({ syncs }) => syncs.length === 0, text: "No syncs yet." };
  return html`<section class="card syncs"><header><${Icon} name="refresh-cw" /><h2>Syncs</h2><span class="quiet small">the newest 50 are kept</span></header>
    <${Loaded} state=${state} empty=${empty} show=${({ syncs }) => html`<${Table} label="Syncs" columns=${COLUMNS} rows=${syncs} keyOf=${(row) => row.sync_id} />`} /></section>`;
}
