// Saves a draft: what differs from the stored dashboard, one request after the other, each on condition
// that nobody else has changed the dashboard since.

import { call, etagOf } from "../api/client.js";
import { isSame } from "./dashboards_layout.js";
import { differences } from "./dashboards_draft.js";

const contentOf = ({ type, title, position, query, options }) => ({ type, title, position, query, options: options ?? {} });

/** Sends requests with the ETag of the one before. */
class Chain {
  constructor(dashboard) {
    this.path = `/dashboards/${encodeURIComponent(dashboard.id)}`;
    this.etag = dashboard.etag;
  }

  async send(method, path, body, title) {
    const answer = await call(method, this.path + path, { body, ifMatch: this.etag }).catch((failure) => {
      if (title) failure.message = `“${title}”: ${failure.message}`;
      throw failure;
    });
    // Deletions return none; what follows them then holds for any version.
    this.etag = etagOf(answer);
    return answer;
  }
}

const pathOf = (id) => `/widgets/${encodeURIComponent(id)}`;

/**
 * Saves. `created` is a map of the ids that widgets have in the draft to those that the server gave them; it
 * is kept over attempts, so that one that failed in the middle does not add a widget twice.
 */
export async function saveDraft(dashboard, sent, created) {
  const draft = { ...sent, widgets: sent.widgets.map((widget) => ({ ...widget, id: created.get(widget.id) ?? widget.id })) };
  const { isRenamed, added, removed, changed, moved } = differences(dashboard, draft);
  const stored = new Map(dashboard.widgets.map((widget) => [widget.id, widget]));
  const chain = new Chain(dashboard);
  const remove = removed.map(({ id }) => id);
  if (isRenamed) await chain.send("PATCH", "", { name: draft.name, description: draft.description || null });
  const add = async (widget) => {
    const { data } = await chain.send("POST", "/widgets", contentOf(widget), widget.title);
    created.set(sent.widgets[draft.widgets.indexOf(widget)].id, data.id);
  };
  for (const widget of added) await add(widget);
  for (const widget of changed) {
    const { type, title, position, query, options } = contentOf(widget);
    if (type === stored.get(widget.id).type) {
      await chain.send("PATCH", pathOf(widget.id), { title, position, query, options }, title);
    } else {
      // The API does not change the type of a widget.
      await add(widget);
      remove.push(widget.id);
    }
  }
  const moves = moved.filter(({ id, position }) => !isSame(position, stored.get(id).position));
  if (moves.length > 0) await chain.send("PATCH", "/layout", { widgets: moves.map(({ id, position }) => ({ id, ...position })) });
  for (const id of remove) await chain.send("DELETE", pathOf(id));
}
