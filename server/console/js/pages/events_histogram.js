// How many events there were over the range, as bars by name or tag.

import { get } from "../api/client.js";
import { intervalText, widthFor } from "../api/series.js";
import { count } from "../kit/format.js";
import { html } from "../kit/html.js";
import { useLoaded } from "../kit/loading.js";
import { limits, rangeKey, refresh } from "../kit/range.js";
import { inQuery } from "../kit/router.js";
import { Chart } from "../parts/chart.js";
import { CurlButton, curlOf } from "../parts/curl.js";
import { QuerySelect } from "../parts/fields.js";
import { Icon } from "../parts/icon.js";
import { Loaded } from "../parts/loaded.js";
import { fieldName } from "./events_facets.js";
import { filters, parametersOf } from "./events_filters.js";

const BAR_PIXELS = 14;
const BARS_MIN = 30;
const GROUPS_MAX = 11;
const HEIGHT = 180;

function bars() {
  const width = document.getElementById("content")?.clientWidth ?? innerWidth;
  return Math.max(BARS_MIN, Math.floor(width / BAR_PIXELS));
}

/** Returns the field of the address by which bars are divided; nothing for none. */
function byOf(fields) {
  const by = inQuery("by", "name");
  return fields.includes(by) ? by : "";
}

/** Sums what is beyond the largest groups. */
function largest(groups) {
  const sorted = [...groups].sort((a, b) => b.total - a.total);
  const rest = sorted.slice(GROUPS_MAX);
  if (rest.length === 0) return sorted;
  const values = sorted[0].values.map((_, i) => rest.reduce((sum, one) => sum + one.values[i], 0));
  return [...sorted.slice(0, GROUPS_MAX), { label: `${rest.length} others`, values, total: rest.reduce((sum, one) => sum + one.total, 0) }];
}

function pathOf(by, width) {
  const parameters = parametersOf(filters());
  parameters.set("interval", intervalText(width));
  if (by) parameters.set("group_by", by);
  return /** @type {const} */ (`/events/count?${parameters}`);
}

async function load(by, abort) {
  const { from, to } = limits();
  const width = widthFor((to - from) / 1000, bars());
  const { data } = await get(pathOf(by, width), abort);
  const times = [];
  for (let time = Math.floor(from / 1000 / width) * width; time < to / 1000; time += width) times.push(time);
  const position = new Map(times.map((time, i) => [time, i]));
  /** @type {[string, any][]} */
  const lists = by ? Object.entries(data.series ?? {}) : [["events", data.series]];
  const groups = lists.map(([label, points]) => {
    const values = new Array(times.length).fill(0);
    let total = 0;
    for (const point of points) {
      const i = position.get(Date.parse(point.timestamp) / 1000);
      if (i !== undefined) values[i] = point.count;
      total += point.count;
    }
    return { label: label || `without ${fieldName(by)}`, values, total };
  });
  return { times, series: largest(groups), total: data.total, width, between: { from, to } };
}

/** `keys` are those of tags, which bars can be divided by. */
export function Histogram({ keys }) {
  const asked = inQuery("by").startsWith("tags.") ? [inQuery("by")] : [];
  const fields = ["name", ...new Set([...keys.map((key) => `tags.${key}`), ...asked])].filter((field) => !field.includes(","));
  const by = byOf(fields);
  const [state] = useLoaded((abort) => load(by, abort), refresh.value * 1000, JSON.stringify([by, filters(), rangeKey.value]));
  const options = [{ value: "name", label: "By name" }, ...fields.slice(1).map((field) => ({ value: field, label: `By ${fieldName(field)}` })), { value: "none", label: "All together" }];
  const show = (data) => html`<${Chart} label=${`Events, ${count(data.total, "event")}`} times=${data.times} series=${data.series} kind="bars" height=${HEIGHT} between=${data.between} />`;
  const command = () => {
    const { from, to } = limits();
    return curlOf(pathOf(by, widthFor((to - from) / 1000, bars())));
  };
  return html`<section class="card"><header><${Icon} name="zap" /><h2>${state.value.data ? count(state.value.data.total, "event") : "Events"}</h2>
      <div class="acts"><${CurlButton} command=${command} label="Copy the count as curl" /><${QuerySelect} name="by" label="Divide the bars" options=${options} /></div></header>
    <${Loaded} state=${state} show=${show} empty=${{ is: ({ total }) => total === 0, text: "No events in this time." }} /></section>`;
}
