// Merges errors: those that are selected in the list, or others into the one that is shown.

import { useState } from "preact/hooks";
import { call, get } from "../api/client.js";
import { amount, count } from "../kit/format.js";
import { html } from "../kit/html.js";
import { useLoaded } from "../kit/loading.js";
import { toast } from "../kit/toasts.js";
import { FormDialog, Wrong } from "../parts/form_dialog.js";
import { Loaded } from "../parts/loaded.js";
import { apiPath } from "./errors_common.js";

/** @import { ErrorGroup, ErrorGroupDetail } from "telltale" */

const FOUND_MAX = 20;
const WORDS = /[\p{L}\p{N}_.]{3,}/u;

/** @param {Props<{row: ErrorGroup}>} props */
function About({ row }) {
  return html`<span><bdi>${row.title}</bdi> <span class="quiet small">${count(row.occurrences, "occurrence")}, ${row.status}</span></span>`;
}

async function merge(into, ids) {
  await call("POST", apiPath(into, "/merge"), { body: { ids } });
  toast(`${count(ids.length, "error")} merged into this one.`);
}

/**
 * Asks which of the selected errors is kept.
 * @param {Props<{rows: ErrorGroup[]}>} props
 */
export function MergeSelected({ rows: selected, onDone, onClose }) {
  // Those that were selected when it was asked: none are any more when it is done.
  const [rows] = useState(selected);
  const most = rows.reduce((best, row) => (row.occurrences > best.occurrences ? row : best));
  const work = async (data) => {
    const into = String(data.get("into"));
    await merge(into, rows.map(({ id }) => id).filter((id) => id !== into));
    onDone();
  };
  return html`<${FormDialog} title=${`Merge ${count(rows.length, "error")}?`} act=${`Merge ${amount(rows.length)}`} kind="grave" work=${work} onClose=${onClose}>${() => html`
    <p>The others become a part of one: its title and state stay, occurrences and users are added up. It cannot be undone.</p>
    <fieldset class="field tall"><legend class="legend">Merge into</legend>${rows.map((row) => html`<label class="check" key=${row.id}>
      <input type="radio" name="into" value=${row.id} defaultChecked=${row.id === most.id} /><${About} row=${row} /></label>`)}</fieldset>`}<//>`;
}

/**
 * Finds others that are like an error, and merges the chosen ones into it.
 * @param {Props<{error: ErrorGroupDetail}>} props
 */
export function MergeInto({ error, onDone, onClose }) {
  const [search, setSearch] = useState(() => WORDS.exec(error.title)?.[0] ?? "");
  const query = new URLSearchParams({ limit: String(FOUND_MAX + 1), ...(search && { search }) });
  const [state] = useLoaded((abort) => get(`/errors?${query}`, abort), 0, search);
  const [chosen, setChosen] = useState(() => new Map());
  const toggle = (row) => {
    const changed = new Map(chosen);
    if (!changed.delete(row.id)) changed.set(row.id, row);
    setChosen(changed);
  };
  const work = async () => {
    if (chosen.size === 0) throw new Wrong("search", "Choose at least one error");
    await merge(error.id, [...chosen.keys()]);
    onDone();
  };
  const show = ({ data, meta }) => {
    const found = data.filter(({ id }) => id !== error.id && !chosen.has(id)).slice(0, FOUND_MAX);
    const rows = [...chosen.values(), ...found];
    return html`<fieldset class="field tall"><legend class="legend">Merge these into it</legend>
      ${rows.map((row) => html`<label class="check" key=${row.id}><input type="checkbox" checked=${chosen.has(row.id)} onChange=${() => toggle(row)} /><${About} row=${row} /></label>`)}
      ${rows.length === 0 && html`<p class="quiet">No other error has this in its title or message.</p>`}
      ${meta.total > found.length + 1 && html`<p class="quiet small">${amount(meta.total)} match; the ${found.length} last seen are shown.</p>`}</fieldset>`;
  };
  const number = chosen.size;
  return html`<${FormDialog} title="Merge others into this one" act=${number ? `Merge ${count(number, "error")}` : "Merge"} kind="grave" work=${work} onClose=${onClose}>${() => html`
    <p>Occurrences and users are added up; title and state of this one stay. It cannot be undone.</p>
    <div class="field"><label for="merge-search">Search in titles and messages</label>
      <input id="merge-search" name="search" type="search" value=${search} maxlength="2000" autocomplete="off" onInput=${(event) => setSearch(event.currentTarget.value)} /></div>
    <${Loaded} state=${state} show=${show} />`}<//>`;
}
