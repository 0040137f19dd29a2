// Where the console shows what a search over all areas finds: the path of each kind.

/** @import { SearchResult } from "telltale" */

const one = encodeURIComponent;

/** Kinds in the order of the response: their name for people, and their path. */
const KINDS = {
  dashboard: ["dashboard", ({ id }) => `/dashboards/${one(id)}`],
  metric: ["metric", ({ name }) => `/explore?q1=${one(name)}`],
  error: ["error", ({ id }) => `/errors/${one(id)}`],
  alert_rule: ["alert rule", ({ id }) => `/alerts/rules/${one(id)}`],
  monitor: ["monitor", ({ id }) => `/status/monitors/${one(id)}`],
  status_page: ["status page", ({ id }) => `/status/pages/${one(id)}`],
  queue: ["queue", ({ name }) => `/jobs?queue=${one(name)}`],
  job_class: ["job class", ({ name }) => `/jobs?view=live&class_name=${one(name)}`],
  on_call_schedule: ["on-call schedule", ({ id }) => `/on-call/${one(id)}`],
  escalation_policy: ["escalation policy", ({ id }) => `/alerts/policies/${one(id)}`],
  channel: ["channel", ({ id }) => `/alerts/channels/${one(id)}`],
  repository: ["repository", ({ id }) => `/code/${one(id)}`],
  key: ["key", () => "/settings"],
};

/**
 * Returns what a search found as `[{key, label, note, path}]`.
 * @param {SearchResult} found
 */
export function placesOf({ results }) {
  return results.flatMap(({ kind, items }) => {
    const [name, pathOf] = KINDS[kind] ?? [];
    if (!pathOf) return [];
    return items.map((item) => ({
      key: `${kind} ${item.id}`,
      label: item.name,
      note: item.detail ? `${name} · ${item.detail}` : name,
      path: pathOf(item),
    }));
  });
}
