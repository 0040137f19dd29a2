// Events: how many there were, what they have, and each of them.

import { get, getExact } from "../api/client.js";
import { html } from "../kit/html.js";
import { useLoaded } from "../kit/loading.js";
import { rangeKey, refresh } from "../kit/range.js";
import { CurlButton, curlOf } from "../parts/curl.js";
import { Head } from "../parts/head.js";
import { Icon } from "../parts/icon.js";
import { Loaded } from "../parts/loaded.js";
import { PAGE_ROWS, Pager, offsetOf } from "../parts/pager.js";
import { Tabs, viewOf } from "../parts/tabs.js";
import { TimePicker } from "../parts/time_picker.js";
import { Facets } from "./events_facets.js";
import { Filters, filters, parametersOf } from "./events_filters.js";
import { Histogram } from "./events_histogram.js";
import { EventList } from "./events_list.js";
import { Funnel } from "./events_funnel.js";
import { Live } from "./events_live.js";
import { Statistics } from "./events_stats.js";

const VIEWS = [
  { name: "list", label: "Events" },
  { name: "live", label: "Live" },
  { name: "funnel", label: "Funnel" },
];
const KEPT = ["name", "user", "tag", "by", "field", "step", "window"];
const KEYS_MAX = 20;

function pathOf() {
  const parameters = parametersOf(filters());
  parameters.set("limit", String(PAGE_ROWS));
  if (offsetOf() > 0) parameters.set("offset", String(offsetOf()));
  return /** @type {const} */ (`/events?${parameters}`);
}

/** Returns the keys of tags and the paths of numbers in properties, the most frequent first. */
function partsOf(fields) {
  const below = (prefix, isWanted) => fields.filter(({ field }) => field.startsWith(prefix)).filter(isWanted).map(({ field }) => field.slice(prefix.length));
  return { keys: below("tags.", () => true).slice(0, KEYS_MAX), numbers: below("properties.", ({ types }) => types.number > 0) };
}

function List({ now }) {
  const [state] = useLoaded((abort) => getExact(pathOf(), abort), refresh.value * 1000, JSON.stringify([now, offsetOf(), rangeKey.value]));
  const show = ({ data, meta }) => html`<${EventList} events=${data} /><${Pager} meta=${meta} />`;
  const empty = { is: ({ data }) => data.length === 0, text: "No events match in this time." };
  return html`<section class="card"><header><${Icon} name="list" /><h2>Newest first</h2><${CurlButton} command=${() => curlOf(pathOf())} label="Copy the list as curl" /></header>
    <${Loaded} state=${state} show=${show} empty=${empty} /></section>`;
}

function Overview() {
  const now = filters();
  // The fields of some events are of use as long as the page is open: they are not loaded by the timer.
  const [state] = useLoaded((abort) => get(`/events/fields?${parametersOf(now)}`, abort), 0, JSON.stringify([now, rangeKey.value]));
  const found = partsOf(state.value.data?.data ?? []);
  const keys = [...new Set([...Object.keys(now.tags), ...found.keys])];
  return html`<${Filters} />
    <div class="beside"><${Facets} keys=${keys} />
      <div class="sections"><${Histogram} keys=${keys} /><${Statistics} paths=${found.numbers} /><${List} now=${now} /></div></div>`;
}

export function Page() {
  const view = viewOf(VIEWS);
  return html`<${Head} title="Events">${view !== "live" && html`<${TimePicker} />`}<//>
    <${Tabs} label="Views" views=${VIEWS} keep=${KEPT} />
    ${view === "live" ? html`<${Live} />` : view === "funnel" ? html`<${Funnel} />` : html`<${Overview} />`}`;
}
