// A field for the name of a metric, found by any part of it.

import { get } from "../api/client.js";
import { count } from "../kit/format.js";
import { html } from "../kit/html.js";
import { Combobox } from "./combobox.js";

const SUGGESTED = 20;

async function suggest(text, abort) {
  const search = text ? `&search=${encodeURIComponent(text)}` : "";
  const { data, meta } = await get(`/metrics?limit=${SUGGESTED}${search}`, abort);
  return { options: data.map(({ name, type, series }) => ({ value: name, note: `${type}, ${count(series, "series", "series")}` })), total: meta.total };
}

/** Takes what a combobox takes, without `load`. */
export function MetricField(options) {
  return html`<${Combobox} load=${suggest} ...${options} />`;
}
