// The events that are marked on the graphs of a dashboard, and the list of them.

import { useMemo } from "preact/hooks";
import { get } from "../api/client.js";
import { count, instant } from "../kit/format.js";
import { html } from "../kit/html.js";
import { useLoaded } from "../kit/loading.js";
import { momentNow, queryText } from "./dashboards_board.js";

/** Loads the events of the overlays, if there are any: `{annotations, left_out}`. */
export function useAnnotations({ id, overlays = [], variables }, key, everyMs) {
  const load = async (abort) => {
    if (overlays.length === 0) return null;
    const moment = momentNow(variables);
    return (await get(`/dashboards/${encodeURIComponent(id)}/annotations${queryText(moment, moment.variables)}`, abort)).data;
  };
  const [state] = useLoaded(load, everyMs, `${key} ${JSON.stringify(overlays)}`);
  return state.value.data ?? null;
}

const titleOf = ({ overlay, name }, overlays) => overlays[overlay]?.title ?? name;

/** Returns the marks of charts; the same ones as long as the events are the same. */
export function useMarks(found, overlays = []) {
  const text = JSON.stringify(found?.annotations ?? []);
  return useMemo(() => {
    const marks = (found?.annotations ?? []).map((one) => ({ at: Date.parse(one.timestamp), label: titleOf(one, overlays), colour: overlays[one.overlay]?.color }));
    return marks.length > 0 ? marks : undefined;
  }, [text]);
}

/** The same events as a list, for those who do not see the marks or want to know more. */
export function MarkList({ found, overlays = [] }) {
  if (!found || found.annotations.length === 0) return null;
  const all = [...found.annotations].sort((a, b) => Date.parse(b.timestamp) - Date.parse(a.timestamp));
  return html`<details class="marks card"><summary>${count(all.length, "event")} marked${found.left_out > 0 ? `, ${count(found.left_out, "older one")} left out` : ""}</summary>
    <ul class="rows">${all.map((one) => html`<li key=${one.id}><span class="what">${titleOf(one, overlays)}</span><span class="quiet small">${instant(one.timestamp)}</span>
      ${Object.keys(one.tags).length > 0 && html`<span class="more">${Object.entries(one.tags).map(([key, value]) => `${key}: ${value}`).join(" · ")}</span>`}</li>`)}</ul></details>`;
}
