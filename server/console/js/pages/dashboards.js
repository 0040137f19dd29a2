// The dashboards: search, create, import, duplicate, delete.

import { useEffect, useState } from "preact/hooks";
import { get } from "../api/client.js";
import { may } from "../api/session.js";
import { count } from "../kit/format.js";
import { html } from "../kit/html.js";
import { useLoaded } from "../kit/loading.js";
import { href, inQuery } from "../kit/router.js";
import { doing } from "../kit/toasts.js";
import { Button } from "../parts/button.js";
import { QuerySearch } from "../parts/fields.js";
import { Head } from "../parts/head.js";
import { Icon } from "../parts/icon.js";
import { Loaded } from "../parts/loaded.js";
import { offsetOf, PAGE_ROWS, Pager } from "../parts/pager.js";
import { Table } from "../parts/table.js";
import { Tabs, viewOf } from "../parts/tabs.js";
import { Time } from "../parts/time.js";
import { DeleteDashboard, duplicate, exportOf, ImportDashboard, NewDashboard, pathOf } from "./dashboards_actions.js";
import { sizes } from "./dashboards_board.js";
import { Star, useStars } from "./dashboards_stars.js";

/** @import { DashboardSummary } from "telltale" */

const SEARCHED_PAGE = 1_000;

/** Returns all dashboards: the API has no search among them. */
async function loadAll(abort) {
  const all = [];
  for (;;) {
    const { data, meta } = await get(`/dashboards?limit=${SEARCHED_PAGE}&offset=${all.length}`, abort);
    all.push(...data);
    if (data.length === 0 || all.length >= meta.total) return all;
  }
}

/** Returns a page of those whose name or description has all words, and that are starred if only those are wanted. */
async function load(words, offset, only, abort) {
  if (words.length === 0 && !only) return get(`/dashboards?limit=${PAGE_ROWS}&offset=${offset}`, abort);
  const found = (await loadAll(abort)).filter(({ id, name, description }) => {
    if (only && !only.includes(id)) return false;
    const text = `${name} ${description ?? ""}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
  return { data: found.slice(offset, offset + PAGE_ROWS), meta: { total: found.length, limit: PAGE_ROWS, offset } };
}

/** @returns {Column<DashboardSummary>[]} */
function columnsOf(mayWrite, stars, onDelete) {
  return [
    { label: "Name", cell: ({ id, name, description }) => html`<div class="named"><a href=${href(pathOf(id))}>${name}</a>
      ${description && html`<p class="quiet small">${description}</p>`}</div>` },
    { label: "Widgets", isNumber: true, cell: ({ widgets_count: widgets }) => widgets },
    { label: "Changed", cell: ({ updated_at: at }) => html`<${Time} at=${at} />` },
    { label: "Actions", isUnseen: true, isEnd: true, cell: (item) => html`<span class="row-acts"><${Star} stars=${stars} dashboard=${item} />
      <a class="button plain" href=${exportOf(item.id)} download=${`${item.name}.json`} aria-label=${`Export ${item.name}`} title="Export"><${Icon} name="download" /></a>
      ${mayWrite && html`<${Button} kind="plain" label=${`Duplicate ${item.name}`} work=${() => doing(() => duplicate(item))}><${Icon} name="copy" /><//>
      <${Button} kind="plain" label=${`Delete ${item.name}`} work=${() => onDelete(item)}><${Icon} name="trash-2" /><//>`}</span>` },
  ];
}

function List({ data, meta, stars, onDelete, none }) {
  if (meta.total === 0) {
    return html`<p class="quiet">${none}</p>`;
  }
  return html`<${Table} label="Dashboards" columns=${columnsOf(may("write"), stars, onDelete)} rows=${data} keyOf=${({ id }) => id} />
    <${Pager} meta=${meta} />`;
}

function noneText(words, only) {
  if (words.length > 0) return "No dashboard has these words in its name or description.";
  return only ? "No dashboard is starred." : "No dashboards yet.";
}

export function Page() {
  const stars = useStars();
  const views = [{ name: "all", label: "All" }, { name: "starred", label: "Starred", count: stars?.length }];
  const only = stars && viewOf(views) === "starred" ? stars : null;
  const [open, setOpen] = useState(/** @type {{isNew?: boolean, isImport?: boolean, deleted?: import("telltale").DashboardSummary}} */ ({}));
  const words = inQuery("q").toLowerCase().split(/\s+/).filter(Boolean);
  const offset = offsetOf();
  const [state, again] = useLoaded((abort) => load(words, offset, only, abort), 0, JSON.stringify([words, offset, only]));
  useEffect(() => {
    for (const { id, widgets_count: widgets } of state.value.data?.data ?? []) sizes.set(id, widgets);
  }, [state.value.data]);
  const close = () => setOpen({});
  const total = state.value.data?.meta.total;
  return html`<${Head} title="Dashboards">
      ${may("write") && html`<${Button} work=${() => setOpen({ isImport: true })}><${Icon} name="upload" />Import<//>
        <${Button} kind="first" work=${() => setOpen({ isNew: true })}><${Icon} name="plus" />New dashboard<//>`}<//>
    ${stars && html`<${Tabs} label="Which dashboards" views=${views} keep=${["q"]} />`}
    <div class="filters"><${QuerySearch} name="q" label="Search dashboards" placeholder="Search by name or description" />
      <span class="quiet small" role="status">${total === undefined ? "" : count(total, "dashboard")}</span></div>
    <div class="card"><${Loaded} state=${state} show=${({ data, meta }) => html`<${List} data=${data} meta=${meta}
      stars=${stars} none=${noneText(words, only)} onDelete=${(deleted) => setOpen({ deleted })} />`} /></div>
    ${open.isNew && html`<${NewDashboard} onClose=${close} />`}
    ${open.isImport && html`<${ImportDashboard} onClose=${close} />`}
    ${open.deleted && html`<${DeleteDashboard} dashboard=${open.deleted} widgets=${open.deleted.widgets_count} onDone=${again} onClose=${close} />`}`;
}
