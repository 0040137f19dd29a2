// The list of errors: filter, select, resolve, ignore, assign, merge.

import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { get } from "../api/client.js";
import { may } from "../api/session.js";
import { amount, count } from "../kit/format.js";
import { html } from "../kit/html.js";
import { useLoaded } from "../kit/loading.js";
import { rangeKey, refresh, showAtFirst, showLast } from "../kit/range.js";
import { inQuery, place } from "../kit/router.js";
import { Button } from "../parts/button.js";
import { Head } from "../parts/head.js";
import { Icon } from "../parts/icon.js";
import { Loaded } from "../parts/loaded.js";
import { offsetOf, Pager, PAGE_ROWS } from "../parts/pager.js";
import { SelectRow, useRowKeys, useSelection } from "../parts/selection.js";
import { Spark } from "../parts/spark.js";
import { Table } from "../parts/table.js";
import { Time } from "../parts/time.js";
import { TimePicker } from "../parts/time_picker.js";
import { Bulk } from "./errors_bulk.js";
import { errorHref, filterOf, Level, listPath, queryOf, readErrorAhead, Status } from "./errors_common.js";
import { Filters } from "./errors_filters.js";

/** @import { ErrorGroup } from "telltale" */

const USUAL_RANGE = "7d";
const POINTED_MS = 100;

async function load(abort) {
  const filter = filterOf();
  const query = queryOf(filter);
  query.set("series", "24h");
  query.set("limit", String(PAGE_ROWS));
  query.set("offset", String(offsetOf()));
  if (inQuery("sort")) query.set("sort", inQuery("sort"));
  return { ...(await get(`/errors?${query}`, abort)), filter };
}

/** @param {Props<{row: ErrorGroup}>} props */
function Title({ row, onPoint }) {
  return html`<div class="issue">
    <span class="tags"><${Level} of=${row.level} /></span>
    <a data-row=${row.id} href=${errorHref(row.id)} onFocus=${onPoint} onMouseEnter=${onPoint}><bdi>${row.title}</bdi></a></div>`;
}

/** @param {Props<{row: ErrorGroup}>} props */
function Line({ row }) {
  const counts = row.series?.counts ?? [];
  const sum = counts.reduce((all, one) => all + one, 0);
  return html`<${Spark} values=${counts} label=${`Last 24 hours: ${count(sum, "occurrence")}`} />`;
}

/** @returns {Column<ErrorGroup>[]} */
function columnsOf(selection, onPoint) {
  const select = { label: "Select", isUnseen: true, cell: (row) => html`<${SelectRow} selection=${selection} id=${row.id} label=${row.title} />` };
  return [
    ...(may("write") ? [select] : []),
    { label: "Error", cell: (row) => html`<${Title} row=${row} onPoint=${() => onPoint(row.id)} />` },
    ...(inQuery("status") === "all" ? [{ label: "Status", cell: (row) => html`<${Status} of=${row.status} />` }] : []),
    { label: "24 hours", cell: (row) => html`<${Line} row=${row} />` },
    { label: "Occurrences", isNumber: true, cell: (row) => amount(row.occurrences) },
    { label: "Users", isNumber: true, cell: (row) => amount(row.users_affected) },
    { label: "Seen", cell: (row) => html`<span class="seen"><${Time} at=${row.last_seen} /><span class="quiet small">first <${Time} at=${row.first_seen} /></span></span>` },
    { label: "Assignee", cell: (row) => (row.assignee ? html`<bdi class="who-is">${row.assignee}</bdi>` : html`<span class="quiet no-one">–</span>`) },
  ];
}

function Empty() {
  const { last } = filterOf();
  const status = inQuery("status", "unresolved");
  return html`<div class="nothing"><p class="none"><${Icon} name="circle-check" />${status === "all" ? "No errors" : `No ${status} errors`} match in this time.</p>
    ${last !== "90d" && html`<${Button} work=${() => showLast("90d")}>Show the last 90 days<//>`}</div>`;
}

function List({ state, again }) {
  const { data: rows, meta, filter } = state.value.data;
  const selection = useSelection(rows.map(({ id }) => id));
  useRowKeys(may("write") ? selection.toggle : () => undefined);
  const timer = useRef(0);
  const onPoint = (id) => {
    clearTimeout(timer.current);
    timer.current = setTimeout(() => readErrorAhead(id), POINTED_MS);
  };
  useEffect(() => () => clearTimeout(timer.current), []);
  if (rows.length === 0 && meta.offset === 0) return html`<${Empty} />`;
  return html`<section class="card issues">
    <${Bulk} selection=${selection} rows=${rows} total=${meta.total} filter=${filter} again=${again} />
    <${Table} label="Errors" columns=${columnsOf(selection, onPoint)} rows=${rows} keyOf=${({ id }) => id} kindOf=${({ id }) => (selection.isSelected(id) ? "chosen" : "")} />
    <${Pager} meta=${meta} />
  </section>`;
}

export function Page() {
  const query = place.value.query.toString();
  // Before the control of the range puts another one into the address.
  useLayoutEffect(() => showAtFirst(USUAL_RANGE), []);
  const [state, again] = useLoaded(load, refresh.value * 1000, `${rangeKey.value} ${query}`);
  useEffect(() => {
    listPath.value = `/errors${query && `?${query}`}`;
  }, [query]);
  const total = state.value.data?.meta.total;
  const show = useMemo(() => () => html`<${List} state=${state} again=${again} />`, []);
  return html`<${Head} title="Errors"><span class="quiet" aria-live="polite">${total === undefined ? "" : count(total, "error")}</span><${TimePicker} /><//>
    <${Filters} />
    <${Loaded} state=${state} show=${show} />`;
}
