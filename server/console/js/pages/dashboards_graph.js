// A widget of lines, areas or bars over time.

import { useMemo } from "preact/hooks";
import { html } from "../kit/html.js";
import { Chart } from "../parts/chart.js";
import { ChartTable } from "../parts/chart_table.js";
import { formatterOf } from "./dashboards_format.js";
import { columnsOf, hasGroups } from "./dashboards_series.js";

function kindOf(style, isGrouped) {
  if (style === "bar") return "bars";
  if (style !== "area") return "lines";
  return isGrouped ? "stack" : "areas";
}

/** Returns the columns of a widget's values; the same ones as long as the values are the same. */
function useColumns(widget, { values, range }) {
  const { title, query } = widget;
  return useMemo(() => columnsOf(values, { title, query }, range), [values, range, title, query.interval, query.event, query.aggregation]);
}

/** Returns the levels that are near enough to the values: one far away would make a line of all of them. */
function nearLevels(series, levels) {
  if (!levels) return undefined;
  let [low, high] = [0, 0];
  for (const { values } of series) {
    for (const value of values) {
      if (value < low) low = value;
      if (value > high) high = value;
    }
  }
  const reach = high - low;
  const near = levels.filter(({ value }) => value <= high + reach && value >= low - reach);
  return near.length > 0 ? near : undefined;
}

export function Graph({ widget, state, sync, levels, marks }) {
  const { times, series, join } = useColumns(widget, state);
  const { options = {}, title } = widget;
  const isGrouped = hasGroups(state.values);
  const near = useMemo(() => nearLevels(series, levels), [series, levels]);
  if (times.length === 0) return html`<p class="none-here quiet">No data in this range.</p>`;
  return html`<${Chart} label=${title} times=${times} series=${series} kind=${kindOf(options.style, isGrouped)} unit=${formatterOf(options)} height=${0}
    join=${join} sync=${sync} between=${state.range} levels=${near} marks=${marks} hasTable=${false} hasLegend=${options.show_legend ?? isGrouped} />`;
}

export function GraphTable({ widget, state }) {
  const { times, series } = useColumns(widget, state);
  if (times.length === 0) return html`<p class="none-here quiet">No data in this range.</p>`;
  return html`<${ChartTable} chart=${{ label: widget.title, times, series, unit: formatterOf(widget.options) }} />`;
}
