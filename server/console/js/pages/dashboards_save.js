// Stores a draft as a whole, on condition that nobody else has changed the dashboard since.

import { call } from "../api/client.js";
import { failed } from "../kit/failed.js";

/** What the API takes of a dashboard besides its widgets; those that are empty are left out. */
function headOf({ name, description, variables, overlays }) {
  return { name, ...(description && { description }), ...(variables.length > 0 && { variables }), ...(overlays.length > 0 && { overlays }) };
}

const isStored = (id) => id.startsWith("widget_");

function widgetOf({ id, type, title, position, query, options }) {
  return { ...(isStored(id) && { id }), type, title, position, query, options: options ?? {} };
}

/** Replaces the dashboard by the draft, and returns the response. `dashboard` is what the draft began with. */
export async function saveDraft({ id, etag }, draft) {
  const body = { ...headOf(draft), widgets: draft.widgets.map(widgetOf) };
  try {
    return await call("PUT", `/dashboards/${encodeURIComponent(id)}`, { body, ifMatch: etag });
  } catch (thrown) {
    const failure = failed(thrown);
    const [, at] = /^widgets\[(\d+)\]/.exec(failure.field ?? "") ?? [];
    if (at && draft.widgets[at]) failure.message = `“${draft.widgets[at].title}”: ${failure.message}`;
    throw failure;
  }
}
