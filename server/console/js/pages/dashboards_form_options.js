// The fields that say how a widget shows its values.

import { html } from "../kit/html.js";
import { Field, Select } from "../parts/fields.js";
import { hasOption } from "./dashboards_form_values.js";

const STYLES = [{ value: "line", label: "Lines" }, { value: "area", label: "Areas" }, { value: "bar", label: "Bars" }];
const ORIENTATIONS = [{ value: "horizontal", label: "Lying" }, { value: "vertical", label: "Upright" }];
const LEGENDS = [{ value: "", label: "if there are groups" }, { value: "yes", label: "always" }, { value: "no", label: "never" }];
const ORDERS = [{ value: "desc", label: "Largest first" }, { value: "asc", label: "Smallest first" }];
const AXES = [{ value: "hour_of_day", label: "Hours across, days down" }, { value: "day_of_week", label: "Days across, hours down" }];

export function OptionFields({ fields, set, failure }) {
  const text = (name, field) => ({ id: `widget-${name}`, name: field, value: fields[name], failure, autocomplete: "off", onInput: (event) => set({ [name]: event.currentTarget.value }) });
  const choice = (name) => ({ id: `widget-${name}`, value: fields[name], onChange: (event) => set({ [name]: event.currentTarget.value }) });
  const has = (name) => hasOption(fields.type, name);
  return html`<div class="pair">
      <${Field} label="Range" hint="Such as 24h or 7d, up to now" placeholder="24h" ...${text("time_range", "options.time_range")} />
      ${has("style") && html`<${Select} label="Drawn as" options=${STYLES} ...${choice("style")} />`}
      ${has("orientation") && html`<${Select} label="Bars" options=${ORIENTATIONS} ...${choice("orientation")} />`}
      ${has("show_legend") && html`<${Select} label="Legend" options=${LEGENDS} ...${choice("show_legend")} />`}
      ${has("limit") && html`<${Field} label="At most" hint="Groups to show, 10 if empty" type="number" min="1" max="1000" ...${text("limit", "options.limit")} />`}
      ${has("x_axis") && html`<${Select} label="Axes" options=${AXES} ...${choice("x_axis")} />`}
    </div>
    ${has("comparison") && html`<label class="check"><input type="checkbox" checked=${fields.comparison} onChange=${(event) => set({ comparison: event.currentTarget.checked })} />
      Compare with the period before</label>`}
    ${has("columns") && html`<${Field} label="Columns" hint="Groups, value, or aggregations such as count, p95; separated by commas" ...${text("columns", "options.columns")} />
      <div class="pair"><${Field} label="Sorted by" hint="A column; value if empty" ...${text("sort_field", "options.sort.field")} /><${Select} label="Order" options=${ORDERS} ...${choice("sort_order")} /></div>`}
    <div class="pair three">
      <${Field} label="Before numbers" placeholder="€" maxlength="20" ...${text("prefix", "options.format.prefix")} />
      <${Field} label="After numbers" placeholder=" ms" maxlength="20" ...${text("suffix", "options.format.suffix")} />
      <${Field} label="Decimals" type="number" min="0" max="15" ...${text("decimals", "options.format.decimals")} />
    </div>`;
}
