// The states of monitors and pages: how they look, and how they are sorted.

/** @import { Monitor } from "telltale" */

/** The states of monitors, those that need somebody first. */
export const MONITOR_STATES = ["down", "degraded", "pending", "up", "paused"];

/** The class of a tag, and the icon, by state. */
export const MONITOR_KIND = { up: "good", degraded: "warn", down: "bad", pending: "", paused: "", under_maintenance: "warn" };
export const MONITOR_ICON = { up: "circle-check", degraded: "triangle-alert", down: "circle-x", pending: "clock", paused: "pause", under_maintenance: "wrench" };
export const PAGE_KIND = { operational: "good", under_maintenance: "warn", degraded_performance: "warn", partial_outage: "bad", major_outage: "bad" };
export const IMPACT_KIND = { minor: "", major: "warn", critical: "bad" };
export const INCIDENT_KIND = { investigating: "bad", identified: "warn", monitoring: "warn", resolved: "good" };
export const MAINTENANCE_KIND = { scheduled: "", in_progress: "warn", completed: "good" };

/**
 * Returns what a monitor looks at.
 * @param {Monitor} monitor
 */
export function targetOf(monitor) {
  if (monitor.type === "http") return `${monitor.method === "GET" ? "" : `${monitor.method} `}${monitor.url}`;
  if (monitor.type === "tcp") return `${monitor.host}:${monitor.port}`;
  return "waits for heartbeats";
}

/** Returns a share in percent as the API has it, or that there is none. */
export function uptimeText(value) {
  return value === null || value === undefined ? "–" : `${Number(value.toFixed(3))} %`;
}
