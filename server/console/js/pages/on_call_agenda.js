// The shifts of a schedule as a list, for phones and for screen readers.

import { day, hour } from "../kit/format.js";
import { html } from "../kit/html.js";
import { Button } from "../parts/button.js";
import { Icon } from "../parts/icon.js";
import { overrideOf } from "./on_call_calendar.js";
import { Person } from "./on_call_people.js";

/** @import { OnCallSchedule, OnCallShift } from "telltale" */

const text = (time, none) => (time ? `${day(time)}, ${hour(time)}` : none);

/** @param {Props<{shift: OnCallShift, schedule: OnCallSchedule}>} props */
function Shift({ shift, schedule, isNow, onRange, onRemove }) {
  const { starts_at: starts, ends_at: ends, user, source } = shift;
  const override = overrideOf(schedule, shift);
  return html`<li class=${`agenda-shift ${isNow ? "is-now" : ""} ${user ? "" : "is-gap"}`}>
    <div class="agenda-what"><${Person} members=${schedule.members} user=${user} /> ${isNow && html`<span class="tag good">now</span>`} ${source === "override" && html`<span class="tag"><${Icon} name="repeat" />override</span>`}
      <p class="quiet small">${text(starts, "ever since")} – ${text(ends, "no end")}</p></div>
    ${override ? html`<${Button} kind="plain" label=${`Remove the override of ${user} from ${day(override.starts_at)}`} work=${() => onRemove(override)}><${Icon} name="trash-2" /><//>`
      : starts && ends && html`<${Button} kind="plain" label=${`Override: ${user ?? "nobody"} from ${text(starts)}`} work=${() => onRange(Date.parse(starts), Date.parse(ends))}><${Icon} name="repeat" />Override<//>`}
  </li>`;
}

/** @param {Props<{schedule: OnCallSchedule, shifts: OnCallShift[]}>} props */
export function Agenda({ schedule, shifts, from, to, onRange, onRemove }) {
  const within = shifts.filter(({ starts_at: starts, ends_at: ends }) => (!ends || Date.parse(ends) > from) && (!starts || Date.parse(starts) < to));
  const now = Date.now();
  const isNow = ({ starts_at: starts, ends_at: ends }) => (!starts || Date.parse(starts) <= now) && (!ends || Date.parse(ends) > now);
  if (within.length === 0) return html`<p class="quiet">No shifts in these days.</p>`;
  return html`<ol class="agenda">${within.map((shift) => html`<${Shift} key=${shift.starts_at} shift=${shift} schedule=${schedule} isNow=${isNow(shift)} onRange=${onRange} onRemove=${onRemove} />`)}</ol>`;
}
