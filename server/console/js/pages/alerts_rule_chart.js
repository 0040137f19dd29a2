// The values of a rule as a chart, with its threshold as a level.

import { useMemo } from "preact/hooks";
import { html } from "../kit/html.js";
import { useLoaded } from "../kit/loading.js";
import { Chart } from "../parts/chart.js";
import { Failure } from "../parts/loaded.js";
import { hasSeries, loadSeries } from "./alerts_rule_series.js";

const HEIGHT = 200;

/**
 * `rule` has `query`, `window`, `group_by`, `condition`, `severity`; `between` is the range in milliseconds; `labels`
 * show one group alone; `marks` as those of charts.
 */
export function RuleChart({ rule, between, labels, marks }) {
  const { query, condition, severity } = rule;
  const isShown = hasSeries(query);
  const key = JSON.stringify([query, rule.window, rule.group_by, between, labels]);
  const [state] = useLoaded(async (abort) => (isShown ? loadSeries(rule, between, labels, abort) : null), 0, key);
  const threshold = condition?.threshold;
  const levels = useMemo(() => (typeof threshold === "number" ? [{ value: threshold, kind: severity === "critical" ? "bad" : "warning" }] : []), [threshold, severity]);
  const { data, failure } = state.value;
  if (!isShown) return html`<p class="quiet small">${query.alert ? "Received alerts have no values to draw." : "The values of this aggregation of events cannot be drawn; the facts count them."}</p>`;
  if (!data) {
    return failure ? html`<${Failure} failure=${failure} />` : html`<p class="quiet" role="status">Loading…</p>`;
  }
  if (data.isUnknown) return html`<p class="quiet" role="status">There is no metric “${query.metric}” yet.</p>`;
  if (data.isEmpty) return html`<p class="quiet" role="status">No data in this range.</p>`;
  return html`<div class=${failure ? "old" : ""}><${Chart} label=${`${query.metric ?? query.event}, ${data.aggregation}`} times=${data.times} series=${data.series}
      kind="lines" levels=${levels} marks=${marks} height=${HEIGHT} between=${between} onZoom=${() => undefined} />
    ${data.total > data.series.length && html`<p class="quiet small">The ${data.series.length} highest of ${data.total} groups.</p>`}
    <p class="quiet small">Each value covers the window of ${rule.window ?? "5m"} before it, computed from buckets of ${data.interval}.</p></div>`;
}
