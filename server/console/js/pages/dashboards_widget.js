// A widget on a dashboard: its title, what can be done with it, and its values as its type shows them.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { html } from "../kit/html.js";
import { place, setQuery } from "../kit/router.js";
import { Icon } from "../parts/icon.js";
import { Failure } from "../parts/loaded.js";
import { Graph, GraphTable } from "./dashboards_graph.js";
import { Heatmap } from "./dashboards_heatmap.js";
import { Bars, Pie } from "./dashboards_items.js";
import { levelsOf } from "./dashboards_levels.js";
import { NumberWidget } from "./dashboards_number.js";
import { CellsTable, ItemsTable, NumberTable, TableWidget } from "./dashboards_tables.js";
import { useVisible } from "./dashboards_visible.js";

/** The types: their icons, what shows them, and which values they need. */
export const TYPES = {
  number: { label: "Number", icon: "hash", View: NumberWidget, Table: NumberTable, has: ({ value }) => value !== undefined },
  graph: { label: "Graph", icon: "chart-line", View: Graph, Table: GraphTable, has: ({ series, groups, columns }) => Boolean(series ?? groups ?? columns) },
  bar: { label: "Bars", icon: "chart-column", View: Bars, Table: ItemsTable, has: ({ items }) => Boolean(items) },
  pie: { label: "Pie", icon: "chart-pie", View: Pie, Table: ItemsTable, has: ({ items }) => Boolean(items) },
  table: { label: "Table", icon: "table", View: TableWidget, Table: TableWidget, has: ({ rows }) => Boolean(rows) },
  heatmap: { label: "Heatmap", icon: "grid-3x3", View: Heatmap, Table: CellsTable, has: ({ cells }) => Boolean(cells) },
};

const NO_VARIABLES = [];

/** `declared` are the variables of the dashboard. `state` is `{values, range, failure}`, or undefined until there is one. */
export function Content({ widget, state, isTable = false, sync, marks, declared, pending = "Loading…" }) {
  const type = TYPES[widget.type];
  if (!type) return html`<p class="none-here quiet">This console does not know widgets of the type ${widget.type}.</p>`;
  if (state?.failure && !state.values) return html`<${Failure} failure=${state.failure} />`;
  if (state?.values?.error) return html`<p class="notice bad small"><${Icon} name="triangle-alert" /><span>${state.values.error.message}</span></p>`;
  if (!state?.values || !type.has(state.values)) return html`<p class="none-here quiet">${pending}</p>`;
  const Shown = isTable ? type.Table : type.View;
  return html`<${Shown} key=${isTable} widget=${widget} state=${state} sync=${sync} marks=${marks}
    levels=${levelsOf(widget.options ?? {})} declared=${declared ?? NO_VARIABLES} />`;
}

/** Puts an element where the widget is on the grid. */
export function usePosition(element, { x, y, width, height }) {
  useLayoutEffect(() => {
    const { style } = element.current;
    style.setProperty("--column", String(x + 1));
    style.setProperty("--row", String(y + 1));
    style.setProperty("--width", String(width));
    style.setProperty("--height", String(height));
  }, [x, y, width, height]);
}

/** Returns the ids of the widgets that the address shows as tables. */
function idsAsTables() {
  return place.value.query.getAll("table");
}

function toggleTable(id) {
  const ids = idsAsTables();
  setQuery({ table: ids.includes(id) ? ids.filter((one) => one !== id) : [...ids, id] }, { replace: true });
}

function Tools({ widget, isTable, onAbout }) {
  return html`<div class="tools">
    ${widget.type !== "table" && html`<button type="button" class="button plain small" aria-pressed=${isTable ? "true" : "false"} title="As a table"
      aria-label=${`${widget.title} as a table`} onClick=${() => toggleTable(widget.id)}><${Icon} name="table" /></button>`}
    <button type="button" class="button plain small" title="More" aria-label=${`More about ${widget.title}`} onClick=${() => onAbout(widget)}><${Icon} name="ellipsis" /></button>
  </div>`;
}

export function Tile({ board, widget, sync, marks, declared, onAbout }) {
  const element = useRef(null);
  usePosition(element, widget.position);
  const [isSeen, setSeen] = useState(false);
  useVisible(element, (isVisible) => {
    board.show(widget.id, isVisible);
    if (isVisible) setSeen(true);
  });
  const loaded = board.valuesOf(widget.id).value;
  // Drawn when somebody sees it.
  const state = isSeen ? loaded : undefined;
  const isTable = idsAsTables().includes(widget.id);
  return html`<article ref=${element} class="tile card" aria-label=${widget.title} data-id=${widget.id}>
    <header><h2 title=${widget.title}>${widget.title}</h2><${Tools} widget=${widget} isTable=${isTable} onAbout=${onAbout} /></header>
    <div class=${state?.failure ? "content old" : "content"}><${Content} widget=${widget} state=${state} isTable=${isTable} sync=${sync} marks=${marks} declared=${declared} /></div>
  </article>`;
}
