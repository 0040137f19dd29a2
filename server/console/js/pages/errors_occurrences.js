// All occurrences of an error, newest first.

import { get } from "../api/client.js";
import { instant } from "../kit/format.js";
import { html } from "../kit/html.js";
import { useLoaded } from "../kit/loading.js";
import { rangeKey, refresh } from "../kit/range.js";
import { Loaded } from "../parts/loaded.js";
import { offsetOf, Pager, PAGE_ROWS } from "../parts/pager.js";
import { useRowKeys } from "../parts/selection.js";
import { Table } from "../parts/table.js";
import { apiPath, errorHref, Level } from "./errors_common.js";

/** @import { ErrorOccurrence } from "telltale" */

const none = html`<span class="quiet">–</span>`;
const text = (value) => (value === null || value === undefined ? none : html`<bdi>${String(value)}</bdi>`);

/** @returns {Column<ErrorOccurrence>[]} */
function columnsOf(id) {
  /** @returns {Record<string, any> | null} */
  const userOf = (row) => row.user;
  return [
    { label: "Time", cell: (row) => html`<a data-row=${row.id} href=${errorHref(id, { event: row.id })}>${instant(row.timestamp)}</a>` },
    { label: "Level", cell: (row) => html`<${Level} of=${row.level} />` },
    { label: "Message", cell: (row) => html`<bdi class="cut">${row.exception.message ?? row.exception.type ?? ""}</bdi>` },
    { label: "Environment", cell: (row) => text(row.environment) },
    { label: "Release", cell: (row) => text(row.release) },
    { label: "User", cell: (row) => text(userOf(row)?.email ?? userOf(row)?.username ?? userOf(row)?.id) },
  ];
}

export function Occurrences({ id }) {
  const offset = offsetOf();
  const query = new URLSearchParams({ limit: String(PAGE_ROWS), offset: String(offset) });
  const [state] = useLoaded((abort) => get(apiPath(id, `/events?${query}`), abort), refresh.value * 1000, `${offset} ${rangeKey.value}`);
  useRowKeys(() => undefined);
  const show = ({ data, meta }) => html`<section class="card occurrences"><${Table} label="Occurrences" columns=${columnsOf(id)} rows=${data} keyOf=${(row) => row.id} /><${Pager} meta=${meta} /></section>`;
  const empty = { is: ({ data, meta }) => data.length === 0 && meta.total === 0, text: "All occurrences have expired; the error and its counts are kept." };
  return html`<${Loaded} state=${state} show=${show} empty=${empty} />`;
}
