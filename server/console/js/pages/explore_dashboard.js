// The dialog that adds a query to a dashboard, as a graph.

import { useEffect, useRef, useState } from "preact/hooks";
import { call, get } from "../api/client.js";
import { may } from "../api/session.js";
import { useElement } from "../kit/element.js";
import { failed } from "../kit/failed.js";
import { html } from "../kit/html.js";
import { useLoaded } from "../kit/loading.js";
import { chosen, limits } from "../kit/range.js";
import { href } from "../kit/router.js";
import { toast } from "../kit/toasts.js";
import { Button } from "../parts/button.js";
import { Dialog } from "../parts/dialog.js";
import { Field, Select } from "../parts/fields.js";
import { Icon } from "../parts/icon.js";
import { Failure, Loaded } from "../parts/loaded.js";

const LISTED_MAX = 1_000;
const TITLE_CHARS_MAX = 200;
const NEW = "";
const MINUTE_MS = 60_000;
const STYLES = { lines: "line", areas: "area", stack: "area", bars: "bar" };
const FIELDS = ["title", "name", "dashboard"];

/** Returns the range as widgets have it: a while up to now, of whole minutes. */
function spanOfRange() {
  const { last } = chosen.value;
  if (last && !last.endsWith("s")) return last;
  const { from, to } = limits();
  return `${Math.max(1, Math.ceil((to - from) / MINUTE_MS))}m`;
}

/** @import { Dashboard, WidgetInput } from "telltale" */

/** @returns {WidgetInput} */
function widgetOf({ metric, groupBy, tags, kind }, aggregation, title) {
  /** @type {WidgetInput["query"]} */
  const query = { metric, aggregation };
  if (groupBy.length > 0) query.group_by = groupBy.map((key) => `tags.${key}`).join(",");
  if (Object.keys(tags).length > 0) query.tags = tags;
  return { type: "graph", title, query, options: { time_range: spanOfRange(), style: STYLES[kind] } };
}

function Form({ query, dashboards, onDone, onClose }) {
  const form = /** @type {ElementRef<HTMLFormElement>} */ (useElement());
  const [target, setTarget] = useState(dashboards[0]?.id ?? NEW);
  const [aggregation, setAggregation] = useState(query.aggregations[0]);
  const [failure, setFailure] = useState(/** @type {Failed | null} */ (null));
  // A dashboard that was created stays the target if the widget fails: it is not created twice.
  const created = useRef(/** @type {Pick<Dashboard, "id" | "name"> | null} */ (null));
  useEffect(() => /** @type {HTMLElement | null} */ (form.current.querySelector("input, select"))?.focus(), []);
  const dashboard = async (name) => {
    if (target !== NEW) return dashboards.find(({ id }) => id === target);
    created.current ??= (await call("POST", "/dashboards", { body: { name } })).data;
    return created.current;
  };
  const add = async (event) => {
    event?.preventDefault();
    const data = new FormData(form.current);
    try {
      const found = await dashboard(String(data.get("name") ?? "").trim());
      const body = widgetOf(query, aggregation, String(data.get("title")).trim());
      await call("POST", `/dashboards/${encodeURIComponent(found.id)}/widgets`, { body });
      onDone(found);
    } catch (error) {
      setFailure(failed(error));
    }
  };
  const options = [...dashboards.map(({ id, name }) => ({ value: id, label: name })), { value: NEW, label: "A new dashboard" }];
  const title = `${query.metric}${query.groupBy.length > 0 ? ` by ${query.groupBy.join(", ")}` : ""}`.slice(0, TITLE_CHARS_MAX);
  return html`<form ref=${form} onSubmit=${(event) => event.preventDefault()} novalidate>
    <${Select} id="to-dashboard" name="dashboard" label="Dashboard" options=${options} value=${target} onChange=${(event) => setTarget(event.currentTarget.value)} />
    ${target === NEW && html`<${Field} id="to-dashboard-name" name="name" label="Name of the dashboard" failure=${failure} autocomplete="off" maxlength="200" />`}
    <${Field} id="to-dashboard-title" name="title" label="Title of the widget" failure=${failure} autocomplete="off" maxlength=${TITLE_CHARS_MAX} defaultValue=${title} />
    ${query.aggregations.length > 1 && html`<${Select} id="to-dashboard-aggregation" label="Aggregation" hint="A widget shows one."
      options=${query.aggregations.map((one) => ({ value: one, label: one }))} value=${aggregation} onChange=${(event) => setAggregation(event.currentTarget.value)} />`}
    ${failure && !FIELDS.includes(failure.field ?? "") && html`<${Failure} failure=${failure} />`}
    <div class="acts"><${Button} work=${onClose}>Cancel<//><${Button} type="submit" kind="first" work=${add}>Add<//></div>
  </form>`;
}

function ToDashboardDialog({ query, onClose }) {
  const [state] = useLoaded((abort) => get(`/dashboards?limit=${LISTED_MAX}`, abort));
  const [done, setDone] = useState(/** @type {Pick<Dashboard, "id" | "name"> | null} */ (null));
  const finish = (dashboard) => {
    setDone(dashboard);
    toast(`Added to “${dashboard.name}”.`);
  };
  return html`<${Dialog} title=${done ? "Added" : "Add to a dashboard"} onClose=${onClose}>
    ${done ? html`<div class="stack"><p>The query is on <a href=${href(`/dashboards/${encodeURIComponent(done.id)}`)}>${done.name}</a>.</p>
        <div class="acts"><${Button} kind="first" work=${onClose}>Close<//></div></div>`
      : html`<${Loaded} state=${state} show=${({ data }) => html`<${Form} query=${query} dashboards=${data} onDone=${finish} onClose=${onClose} />`} />`}
  <//>`;
}

/** The button, for those who may change dashboards. */
export function ToDashboard({ query, letter }) {
  const [isOpen, setOpen] = useState(false);
  if (!may("write")) return null;
  return html`<${Button} kind="plain small" label=${`Add query ${letter} to a dashboard`} work=${() => setOpen(true)}><${Icon} name="layout-dashboard" /><//>
    ${isOpen && html`<${ToDashboardDialog} query=${query} onClose=${() => setOpen(false)} />`}`;
}
