// What a widget shows, in words, large, and as a command.

import { instant } from "../kit/format.js";
import { html } from "../kit/html.js";
import { href, place } from "../kit/router.js";
import { Button } from "../parts/button.js";
import { Copyable } from "../parts/copy.js";
import { curlOf } from "../parts/curl.js";
import { Dialog } from "../parts/dialog.js";
import { Icon } from "../parts/icon.js";
import { chosenVariables, hasSharedRange, queryText } from "./dashboards_board.js";

/** Returns the query of a widget in words. */
export function queryInWords({ metric, event, aggregation, field, group_by: groups, tags, interval }) {
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

export function linkToWidget(id) {
  const query = new URLSearchParams(place.value.query);
  if (id) query.set("widget", id);
  else query.delete("widget");
  const text = query.toString();
  return href(place.value.path) + (text && `?${text}`);
}

/** `state` is what the widget shows. */
export function About({ dashboard, widget, state, onClose }) {
  return html`<${Dialog} title=${widget.title} onClose=${onClose}>
    <div class="stack">
      <p class="what">${queryInWords(widget.query)}.</p>
      ${state?.range && html`<p class="quiet small">${instant(state.range.from)} – ${instant(state.range.to)}</p>`}
      <${Copyable} text=${commandOf(dashboard, widget, state?.range)} label="the command" />
      <div class="acts"><a class="button" href=${linkToWidget(widget.id)} onClick=${onClose}><${Icon} name="maximize" />Enlarge</a>
        <${Button} kind="first" work=${onClose}>Close<//></div>
    </div>
  <//>`;
}
