// A rule as its form has it, and as the API takes it.

/** @import { AlertRule } from "telltale" */

const QUERY_FIELDS = ["metric", "event", "alert"];

/** The operators: name in the API, in words. */
export const OPERATORS = [
  { value: "gt", label: "is greater than (gt)" },
  { value: "gte", label: "is at least (gte)" },
  { value: "lt", label: "is less than (lt)" },
  { value: "lte", label: "is at most (lte)" },
  { value: "eq", label: "is equal to (eq)" },
  { value: "ne", label: "is not equal to (ne)" },
  { value: "absent", label: "has no data (absent)" },
];

export const SOURCES = [
  { value: "metric", label: "A metric" },
  { value: "event", label: "Events" },
  { value: "alert", label: "Alerts that Prometheus delivers" },
];

export const EVENT_AGGREGATIONS = ["count", "sum", "avg", "min", "max", "p50", "p95", "p99", "unique_users"];
export const METRIC_AGGREGATIONS = {
  gauge: ["last", "avg", "min", "max"],
  counter: ["sum", "rate"],
  distribution: ["avg", "sum", "min", "max", "p50", "p90", "p95", "p99", "count"],
  set: ["count"],
};

/** The draft of a new rule. */
export const NEW = {
  name: "", description: "", enabled: true, severity: "warning", source: "metric", metric: "", event: "", alert: "",
  aggregation: "", field: "", tags: [], group_by: "", op: "gt", threshold: "", window: "5m", for: "0m",
  channel_ids: [], escalation_policy_id: "", on_call_schedule_id: "", services: "", rest: {},
};

/**
 * Returns the draft of a rule.
 * @param {AlertRule} rule
 */
export function draftOf(rule) {
  const { query, condition } = rule;
  /** @type {Record<string, any>} */
  const { metric, event, alert, aggregation, field, tags, group_by: ownGroup, ...rest } = query;
  return {
    name: rule.name, description: rule.description ?? "", enabled: rule.enabled, severity: rule.severity,
    source: QUERY_FIELDS.find((name) => query[name]) ?? "metric", metric: metric ?? "", event: event ?? "", alert: alert ?? "",
    aggregation: aggregation ?? "", field: field ?? "", tags: Object.entries(tags ?? {}).map(([key, value]) => ({ key, value })),
    group_by: rule.group_by ?? ownGroup ?? "", op: condition.op, threshold: condition.threshold === null ? "" : String(condition.threshold),
    window: rule.window, for: rule.for, channel_ids: rule.channel_ids, escalation_policy_id: rule.escalation_policy_id ?? "",
    on_call_schedule_id: rule.on_call_schedule_id ?? "", services: rule.services.join("\n"), rest,
  };
}

function queryOf(draft) {
  const tags = Object.fromEntries(draft.tags.filter(({ key }) => key !== "").map(({ key, value }) => [key, value]));
  const query = { [draft.source]: draft[draft.source].trim() };
  if (Object.keys(tags).length > 0) query.tags = tags;
  if (draft.source === "alert") return query;
  if (draft.aggregation) query.aggregation = draft.aggregation;
  if (draft.source === "event" && draft.field.trim()) query.field = draft.field.trim();
  return { ...query, ...draft.rest };
}

function conditionOf({ op, threshold }) {
  if (op === "absent") return { op };
  // A text that is no number is left to the server to refuse.
  return { op, threshold: threshold === "" ? undefined : Number(threshold) };
}

/** Returns what is observed and when it fires: what a preview needs. */
export function observedOf(draft) {
  const rule = { name: draft.name.trim() || "preview", query: queryOf(draft), severity: draft.severity };
  if (draft.source === "alert") return rule;
  return { ...rule, condition: conditionOf(draft), window: draft.window.trim(), for: draft.for.trim(), group_by: draft.group_by.trim() || null };
}

/** Returns the rule as the API takes it; fields without a value are null, so that a change removes them. */
export function ruleOf(draft) {
  return {
    ...observedOf(draft), name: draft.name, description: draft.description || null, enabled: draft.enabled,
    channel_ids: draft.channel_ids, escalation_policy_id: draft.escalation_policy_id || null,
    on_call_schedule_id: draft.on_call_schedule_id || null,
    services: draft.services.split("\n").map((one) => one.trim()).filter(Boolean),
  };
}
