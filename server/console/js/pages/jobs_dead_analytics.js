// When jobs died, of which class and with which error.

import { useMemo } from "preact/hooks";
import { amount, count } from "../kit/format.js";
import { html } from "../kit/html.js";
import { Chart } from "../parts/chart.js";
import { QuerySelect } from "../parts/fields.js";
import { Icon } from "../parts/icon.js";
import { ShareBar } from "../parts/share_bar.js";
import { linkWith } from "./jobs_common.js";
import { between } from "./jobs_queue.js";

/** @import { DeadJobAnalytics } from "telltale" */

const PERIODS = [
  { value: "week", label: "Last 7 days" },
  { value: "day", label: "Today" },
  { value: "month", label: "Last 30 days" },
];
const SHOWN = 6;
const HEIGHT = 140;

function Most({ title, rows, name, nameOf }) {
  const most = Math.max(1, ...rows.map((row) => row.count));
  return html`<section class="spread"><h3>${title}</h3><ul>${rows.slice(0, SHOWN).map((row) => html`<li key=${nameOf(row)}><a href=${linkWith(name, nameOf(row))}><bdi>${nameOf(row)}</bdi></a>
    <span class="number">${amount(row.count)}</span><${ShareBar} part=${row.count / most} label=${`${nameOf(row)}: ${count(row.count, "job")}`} /></li>`)}</ul>
    ${rows.length > SHOWN && html`<p class="quiet small">and ${amount(rows.length - SHOWN)} more</p>`}</section>`;
}

/** @param {Props<{data: DeadJobAnalytics}>} props */
export function Analytics({ data }) {
  const { times, series, range } = useMemo(() => {
    const days = data.timeline.map(({ date }) => Date.parse(`${date}T00:00:00Z`) / 1000);
    const whole = days.length > 1 ? between(days) : { from: days[0] * 1000, to: days[0] * 1000 + 86_400_000 };
    return { times: days, series: [{ label: "Died", values: data.timeline.map((day) => day.count) }], range: whole };
  }, [data]);
  return html`<section class="card panel"><header><${Icon} name="skull" /><h2>Jobs that died</h2><div class="acts"><${QuerySelect} name="period" label="Time" options=${PERIODS} /></div></header>
    <div class="thirds"><section><p><span class="count">${amount(data.total_dead)}</span> <span class="quiet">with those retried or deleted since; days in UTC</span></p>
      <${Chart} label="Jobs that died, by day" kind="bars" times=${times} series=${series} between=${range} height=${HEIGHT} hasLegend=${false} onZoom=${() => undefined} /></section>
      ${data.by_class.length > 0 && html`<${Most} title="By class" rows=${data.by_class} name="class_name" nameOf=${(row) => row.class_name} />`}
      ${data.by_error.length > 0 && html`<${Most} title="By error" rows=${data.by_error} name="error_class" nameOf=${(row) => row.error_class} />`}</div></section>`;
}
