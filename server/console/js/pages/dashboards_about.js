// What a widget shows, in words, large, and as a command.

import { areas } from "../api/session.js";
import { instant } from "../kit/format.js";
import { html } from "../kit/html.js";
import { hrefHere } from "../kit/router.js";
import { Button } from "../parts/button.js";
import { Copyable } from "../parts/copy.js";
import { curlOf } from "../parts/curl.js";
import { Dialog } from "../parts/dialog.js";
import { Icon } from "../parts/icon.js";
import { exploreHref, queryOf } from "../parts/metric_query.js";
import { chosenVariables, hasSharedRange, queryText } from "./dashboards_board.js";

/** Returns the query of a widget in words. */
function queryInWords({ metric, event, aggregation, field, group_by: groups, tags, interval }) {
  const source = metric ? `the metric ${metric}` : `events ${event}`;
  const parts = [aggregation ? `${aggregation} of ${source}` : source];
  if (field) parts.push(`of the field ${field}`);
  if (groups) parts.push(`by ${groups.split(",").join(", ")}`);
  for (const [key, value] of Object.entries(tags ?? {})) parts.push(`where ${key} is ${value}`);
  if (interval) parts.push(`in steps of ${interval}`);
  const text = parts.join(", ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Returns the command that gets the values of a widget. */
function commandOf({ id, variables }, widget, range) {
  const query = queryText({ shared: hasSharedRange() ? range : null }, chosenVariables(variables));
  return curlOf(`/dashboards/${encodeURIComponent(id)}/widgets/${encodeURIComponent(widget.id)}/data${query}`);
}

/** Returns the address of the dashboard with a widget alone, or with all of them. */
export const linkToWidget = (id) => hrefHere({ widget: id });

/** Returns the filters of a query with the values of variables in place of their names. */
function filtersOf(tags, declared) {
  const values = { ...Object.fromEntries(declared.map(({ name, default: usual = "*" }) => [name, usual])), ...chosenVariables(declared) };
  const filters = Object.entries(tags).map(([key, text]) => [key, text.startsWith("$") ? (values[text.slice(1)] ?? text) : text]);
  return Object.fromEntries(filters.filter(([key, text]) => text !== "*" || tags[key] === "*"));
}

/**
 * Returns the address of Explore with the query of a widget of a metric, over its range; null of another.
 * @param {Pick<import("telltale").Widget, "query" | "options">} widget
 */
function exploreOf({ query, options = {} }, state, declared) {
  if (!query.metric || !areas.value.includes("metrics")) return null;
  const groupBy = (query.group_by ?? "").split(",").map((key) => key.trim().replace(/^tags\./, "")).filter(Boolean);
  const kind = { area: groupBy.length > 0 ? "stack" : "areas", bar: "bars" }[options.style] ?? "lines";
  const aggregations = query.aggregation ? [query.aggregation] : [];
  const range = hasSharedRange() && state?.range ? { from: new Date(state.range.from).toISOString(), to: new Date(state.range.to).toISOString() } : { last: options.time_range ?? "24h" };
  return exploreHref([queryOf(query.metric, { aggregations, groupBy, tags: filtersOf(query.tags ?? {}, declared), kind })], range);
}

/** `state` is what the widget shows. */
export function About({ dashboard, widget, state, onClose }) {
  const explore = exploreOf(widget, state, dashboard.variables ?? []);
  return html`<${Dialog} title=${widget.title} onClose=${onClose}>
    <div class="stack">
      <p class="what">${queryInWords(widget.query)}.</p>
      ${state?.range && html`<p class="quiet small">${instant(state.range.from)} – ${instant(state.range.to)}</p>`}
      <${Copyable} text=${commandOf(dashboard, widget, state?.range)} label="the command" />
      <div class="acts">${explore && html`<a class="button" href=${explore}><${Icon} name="chart-line" />Open in Explore</a>`}<a class="button" href=${linkToWidget(widget.id)} onClick=${onClose}><${Icon} name="maximize" />Enlarge</a>
        <${Button} kind="first" work=${onClose}>Close<//></div>
    </div>
  <//>`;
}
