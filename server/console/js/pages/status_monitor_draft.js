// A monitor as its form has it, and as the API takes it.

/** @import { Monitor } from "telltale" */

export const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/** The fields of a form by type, with their defaults as texts. */
const NUMBERS = { interval_seconds: "60", timeout_seconds: "10", retries: "2", degraded_after_ms: "", certificate_warning_days: "14", grace_seconds: "30", port: "" };
const OF_TYPE = {
  http: ["url", "method", "headers", "body", "expected_status", "body_contains", "degraded_after_ms", "certificate_warning_days", "timeout_seconds"],
  tcp: ["host", "port", "degraded_after_ms", "timeout_seconds"],
  heartbeat: ["grace_seconds"],
};

const text = (value, otherwise) => (value === null || value === undefined ? otherwise : String(value));

/**
 * Returns the draft of a monitor, or of a new one.
 * @param {Monitor | null} monitor
 */
export function draftOf(monitor) {
  const draft = { name: monitor?.name ?? "", type: monitor?.type ?? "http", url: monitor?.url ?? "", host: monitor?.host ?? "", method: monitor?.method ?? "GET", body: monitor?.body ?? "", body_contains: monitor?.body_contains ?? "" };
  for (const [name, preset] of Object.entries(NUMBERS)) draft[name] = monitor ? text(monitor[name], "") : preset;
  draft.expected_status = (monitor?.expected_status ?? ["2xx"]).join(", ");
  draft.headers = Object.entries(monitor?.headers ?? {}).map(([name, value]) => ({ name, value }));
  return draft;
}

/** A status is a number; a range or a class is a text. */
const statusOf = (one) => (/^\d+$/.test(one) ? Number(one) : one);

const VALUES = {
  headers: ({ headers }) => Object.fromEntries(headers.filter(({ name }) => name.trim()).map(({ name, value }) => [name.trim(), value])),
  expected_status: (draft) => {
    const all = draft.expected_status.split(",").map((one) => one.trim()).filter(Boolean);
    return all.length > 0 ? all.map(statusOf) : null;
  },
  url: (draft) => draft.url.trim(),
  host: (draft) => draft.host.trim(),
  method: (draft) => draft.method,
};

function valueOf(draft, name) {
  if (VALUES[name]) return VALUES[name](draft);
  if (name === "port" && draft.port === "") return undefined;
  if (name in NUMBERS) return draft[name] === "" ? null : Number(draft[name]);
  return draft[name] === "" ? null : draft[name];
}

/** Returns the monitor as the API takes it. */
export function monitorOf(draft) {
  const monitor = { name: draft.name, type: draft.type };
  for (const name of ["interval_seconds", "retries", ...OF_TYPE[draft.type]]) monitor[name] = valueOf(draft, name);
  return monitor;
}
