// The fields of the form of a widget, and the widget that they describe.

import { AGGREGATIONS as OF_METRICS } from "../parts/metric_query.js";

/** @import { WidgetOptions, WidgetQuery } from "telltale" */

const OF_EVENTS = ["count", "sum", "avg", "min", "max", "p50", "p95", "p99", "unique_users"];

/** Returns the aggregations that a query can have; `kind` is the type of the metric, if it is known. */
export function aggregationsOf({ source }, kind) {
  if (source === "event") return OF_EVENTS;
  return OF_METRICS[kind] ?? [...new Set(Object.values(OF_METRICS).flat())];
}

/** Which types each option is of, besides those that all have. */
const TYPES_OF = {
  comparison: ["number"],
  style: ["graph"],
  orientation: ["bar"],
  show_legend: ["graph", "pie"],
  limit: ["bar", "pie", "table"],
  columns: ["table"],
  sort: ["table"],
  x_axis: ["heatmap"],
  thresholds: ["number", "graph", "bar", "table"],
};

/** Returns whether widgets of a type have an option. */
export const hasOption = (type, name) => !TYPES_OF[name] || TYPES_OF[name].includes(type);

/** Returns whether widgets of a type have groups. */
export const isGrouped = (type) => !["number", "heatmap"].includes(type);

const yesOrNo = (value) => (value === undefined || value === null ? "" : value ? "yes" : "no");

/**
 * Returns the fields of a widget; those of a new one are empty.
 * @param {{type?: string, title?: string, query?: Partial<WidgetQuery>, options?: WidgetOptions}} widget
 */
export function fieldsOf({ type = "graph", title = "", query = {}, options = {} }) {
  return {
    type,
    title,
    source: query.event === undefined ? "metric" : "event",
    metric: query.metric ?? "",
    event: query.event ?? "",
    aggregation: query.aggregation ?? "",
    field: query.field ?? "",
    interval: query.interval ?? "",
    group_by: query.group_by ?? "",
    tags: Object.entries(query.tags ?? {}),
    time_range: options.time_range ?? "",
    prefix: options.format?.prefix ?? "",
    suffix: options.format?.suffix ?? "",
    decimals: options.format?.decimals === undefined || options.format?.decimals === null ? "" : String(options.format.decimals),
    comparison: Boolean(options.comparison),
    style: options.style ?? "line",
    orientation: options.orientation ?? "horizontal",
    show_legend: yesOrNo(options.show_legend),
    limit: options.limit === undefined || options.limit === null ? "" : String(options.limit),
    columns: (options.columns ?? []).join(", "),
    sort_field: options.sort?.field ?? "",
    sort_order: options.sort?.order ?? "desc",
    x_axis: options.x_axis ?? "hour_of_day",
    thresholds: (options.thresholds ?? []).map(({ value, level, label = "" }) => ({ value: String(value), level, label })),
  };
}

const list = (text) => text.split(",").map((one) => one.trim()).filter(Boolean);
const numeric = (text) => (text.trim() === "" ? undefined : Number(text));
const filled = (object) => Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined && value !== ""));

function queryOf(fields) {
  const tags = Object.fromEntries(fields.tags.filter(([key]) => key));
  const isEvent = fields.source === "event";
  return filled({
    [fields.source]: fields[fields.source].trim(),
    aggregation: fields.aggregation,
    field: isEvent ? fields.field.trim() : undefined,
    interval: fields.type === "graph" ? fields.interval : undefined,
    group_by: isGrouped(fields.type) ? list(fields.group_by).join(",") : undefined,
    tags: Object.keys(tags).length > 0 ? tags : undefined,
  });
}

function optionsOf(fields) {
  const { type } = fields;
  const format = filled({ prefix: fields.prefix, suffix: fields.suffix, decimals: numeric(fields.decimals) });
  const columns = list(fields.columns);
  const thresholds = fields.thresholds.filter(({ value }) => value.trim() !== "").map(({ value, level, label }) => ({ value: Number(value), level, ...(label && { label }) }));
  const all = {
    time_range: fields.time_range.trim(),
    format: Object.keys(format).length > 0 ? format : undefined,
    comparison: fields.comparison ? { type: "previous_period" } : undefined,
    style: fields.style,
    orientation: fields.orientation,
    show_legend: fields.show_legend === "" ? undefined : fields.show_legend === "yes",
    limit: numeric(fields.limit),
    columns: columns.length > 0 ? columns : undefined,
    sort: fields.sort_field ? { field: fields.sort_field.trim(), order: fields.sort_order } : undefined,
    x_axis: fields.x_axis,
    thresholds: thresholds.length > 0 ? thresholds : undefined,
    y_axis: type !== "heatmap" ? undefined : fields.x_axis === "hour_of_day" ? "day_of_week" : "hour_of_day",
  };
  return filled(Object.fromEntries(Object.entries(all).filter(([name]) => hasOption(type, name))));
}

/** What the form has a field for: other options of a widget stay as they are. */
const KNOWN = new Set(["time_range", "format", "y_axis", ...Object.keys(TYPES_OF)]);

/** Returns the widget that the fields describe; `before` is the one that was opened. */
export function widgetOf(fields, before) {
  const rest = fields.type === before.type ? Object.entries(before.options ?? {}).filter(([name]) => !KNOWN.has(name)) : [];
  return { ...before, type: fields.type, title: fields.title.trim(), query: queryOf(fields), options: { ...Object.fromEntries(rest), ...optionsOf(fields) } };
}

/** Returns what is missing: `{field, message}`, or null. */
export function missingOf({ title, query }) {
  if (!query.metric && !query.event) return { field: query.metric === undefined && query.event !== undefined ? "query.event" : "query.metric", message: "It needs a name." };
  if (!title) return { field: "title", message: "A title is needed." };
  return null;
}
