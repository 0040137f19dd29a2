// One schedule: who is on call, and its shifts by month, by week or as an agenda.

import { useEffect, useMemo, useState } from "preact/hooks";
import { get } from "../api/client.js";
import { day, hour } from "../kit/format.js";
import { html } from "../kit/html.js";
import { bind } from "../kit/keys.js";
import { useLoaded } from "../kit/loading.js";
import { href, inQuery, setQuery } from "../kit/router.js";
import { currentZone } from "../kit/zone.js";
import { Button } from "../parts/button.js";
import { Head } from "../parts/head.js";
import { Icon } from "../parts/icon.js";
import { Failure, Loaded } from "../parts/loaded.js";
import { Table } from "../parts/table.js";
import { Agenda } from "./on_call_agenda.js";
import { Calendar } from "./on_call_calendar.js";
import { beginOf, dayAfter, dayOf, isDay, monthAfter, week, weekOf, weeksOfMonth } from "./on_call_days.js";
import { CalendarLink } from "./on_call_link.js";
import { NewOverride, RemoveOverride } from "./on_call_override.js";
import { Person } from "./on_call_people.js";

/** @import { OnCallSchedule } from "telltale" */

const ABOVE = { path: "/on-call", label: "On-call" };
const VIEWS = ["month", "week", "agenda"];
const AGENDA_DAYS = 28;
const HOUR_MS = 3_600_000;
const REFRESH_MS = 60_000;
const NARROW = "(max-width: 40rem)";

/** Returns what the address shows: `{view, at, weeks, from, to, before, after}`. */
function shown() {
  const view = VIEWS.includes(inQuery("view")) ? inQuery("view") : matchMedia(NARROW).matches ? "agenda" : "month";
  const today = dayOf(Date.now());
  const at = isDay(inQuery("at")) ? inQuery("at") : today;
  if (view === "agenda") return { view, at, weeks: [], from: beginOf(at), to: beginOf(dayAfter(at, AGENDA_DAYS)), before: dayAfter(at, -AGENDA_DAYS), after: dayAfter(at, AGENDA_DAYS) };
  const weeks = view === "week" ? [week(weekOf(at))] : weeksOfMonth(at);
  const [before, after] = view === "week" ? [dayAfter(at, -7), dayAfter(at, 7)] : [monthAfter(at, -1), monthAfter(at, 1)];
  return { view, at, weeks, from: weeks[0].begins[0], to: weeks[weeks.length - 1].begins[7], before, after };
}

function titleOf({ view, at, from, to }) {
  if (view === "month") return new Date(`${at.slice(0, 7)}-15T12:00:00Z`).toLocaleDateString(undefined, { month: "long", year: "numeric", timeZone: "UTC" });
  return `${day(from)} – ${day(to - 1)}`;
}

function Controls({ now }) {
  const move = (at) => setQuery({ at, view: inQuery("view") ? now.view : null });
  useEffect(() => {
    const undo = [bind("[", "Show what is before", () => move(now.before)), bind("]", "Show what is after", () => move(now.after))];
    return () => undo.forEach((one) => one());
  });
  return html`<div class="filters calendar-head"><div class="picker" role="group" aria-label="Which days">
      <${Button} label="Before" work=${() => move(now.before)}><${Icon} name="chevron-left" /><//>
      <${Button} work=${() => move(null)}>Today<//>
      <${Button} label="After" work=${() => move(now.after)}><${Icon} name="chevron-right" /><//></div>
    <h2>${titleOf(now)}</h2>
    <div class="picker views" role="group" aria-label="View">${VIEWS.map((view) => html`<button key=${view} type="button" class="button" aria-pressed=${view === now.view ? "true" : "false"}
      onClick=${() => setQuery({ view })}>${view.charAt(0).toUpperCase()}${view.slice(1)}</button>`)}</div></div>`;
}

/** @param {Props<{schedule: OnCallSchedule}>} props */
function Now({ schedule }) {
  const { current_on_call: user, current_shift_end: end, enabled, members, timezone, schedule_type: type, rotation_type: rotation } = schedule;
  return html`<section class="card now-card"><div><p class="quiet small">On call now</p>
      ${enabled ? html`<p class="now"><${Person} members=${members} user=${user} isLarge /><span class="quiet">${end ? `until ${day(end)}, ${hour(end)}` : ""}</span></p>` : html`<p>The schedule is not enabled: nobody is notified by it.</p>`}</div>
    <div><p class="quiet small">Members</p><ul class="people">${members.map((one) => html`<li key=${one}><${Person} members=${members} user=${one} /></li>`)}</ul></div>
    <div><p class="quiet small">Turns</p><p>${type === "weekly" ? "by day of the week" : rotation}, in ${timezone}</p></div></section>`;
}

/** @param {Props<{schedule: OnCallSchedule}>} props */
function Overrides({ schedule, onRemove }) {
  const now = Date.now();
  const rows = schedule.overrides.filter(({ ends_at: ends }) => Date.parse(ends) > now).sort((a, b) => a.starts_at.localeCompare(b.starts_at));
  const columns = [
    { label: "On call instead", cell: (one) => html`<${Person} members=${schedule.members} user=${one.user} />` },
    { label: "From", cell: (one) => `${day(one.starts_at)}, ${hour(one.starts_at)}` },
    { label: "To", cell: (one) => `${day(one.ends_at)}, ${hour(one.ends_at)}` },
    { label: "Actions", isUnseen: true, isEnd: true, cell: (one) => html`<${Button} kind="plain" label=${`Remove the override of ${one.user} from ${day(one.starts_at)}`} work=${() => onRemove(one)}><${Icon} name="trash-2" /><//>` },
  ];
  return html`<section class="card"><header><${Icon} name="repeat" /><h2>Overrides</h2></header>
    ${rows.length === 0 ? html`<p class="quiet">None now or to come. Drag over the calendar, or choose a day, to put somebody else on call.</p>`
      : html`<${Table} label="Overrides" columns=${columns} rows=${rows} keyOf=${({ id }) => id} />`}</section>`;
}

async function load(id, { from, to }, abort) {
  const path = /** @type {const} */ (`/on_call_schedules/${encodeURIComponent(id)}`);
  const range = new URLSearchParams({ from: new Date(from).toISOString(), to: new Date(to).toISOString() });
  const [schedule, shifts] = await Promise.all([get(path, abort), get(`${path}/shifts?${range}`, abort)]);
  return { schedule: schedule.data, shifts: shifts.data };
}

function Dialogs({ open, schedule, shifts, again, close }) {
  if (open.range) return html`<${NewOverride} schedule=${schedule} shifts=${shifts} from=${open.range[0]} to=${open.range[1]} onDone=${again} onClose=${close} />`;
  if (open.removed) return html`<${RemoveOverride} schedule=${schedule} override=${open.removed} onDone=${again} onClose=${close} />`;
  return open.link ? html`<${CalendarLink} schedule=${schedule} onClose=${close} />` : null;
}

export function Page({ params }) {
  const [open, setOpen] = useState(/** @type {{range?: [number, number], removed?: import("telltale").OnCallOverride, link?: boolean}} */ ({}));
  const key = `${inQuery("view")} ${inQuery("at")} ${currentZone()}`;
  const now = useMemo(shown, [key]);
  const [state, again] = useLoaded((abort) => load(params.id, now, abort), REFRESH_MS, key);
  const { data, failure } = state.value;
  if (!data) return html`<${Head} title="On-call schedule" above=${ABOVE} />${failure ? html`<${Failure} failure=${failure} />` : html`<p class="quiet" role="status">Loading…</p>`}`;
  const { schedule, shifts } = data;
  const onRange = (from, to) => setOpen({ range: [from, to] });
  const onOverride = (id) => setOpen({ removed: schedule.overrides.find((one) => one.id === id) });
  const begin = Math.ceil(Date.now() / HOUR_MS) * HOUR_MS;
  const show = () => (now.view === "agenda" ? html`<${Agenda} schedule=${schedule} shifts=${shifts} from=${now.from} to=${now.to} onRange=${onRange} onRemove=${(removed) => setOpen({ removed })} />`
    : html`<${Calendar} weeks=${now.weeks} month=${now.view === "month" ? now.at.slice(0, 7) : null} shifts=${shifts} schedule=${schedule} onRange=${onRange} onOverride=${onOverride} />`);
  return html`<${Head} title=${schedule.name} above=${ABOVE}>
      <${Button} kind="first" work=${() => onRange(begin, begin + 8 * HOUR_MS)}><${Icon} name="plus" />Override<//>
      <${Button} work=${() => setOpen({ link: true })}><${Icon} name="rss" />Calendar link<//>
      <a class="button" href=${href(`/on-call/${encodeURIComponent(schedule.id)}/edit`)}><${Icon} name="pencil" />Edit</a><//>
    <div class="sections"><${Now} schedule=${schedule} />
      <section class="card" aria-label="Shifts"><${Controls} now=${now} />
        ${schedule.enabled ? html`<${Loaded} state=${state} show=${show} />` : html`<p class="quiet">No shifts while the schedule is not enabled.</p>`}
        <p class="quiet small">Times in ${currentZone()}${schedule.timezone === currentZone() ? "" : `; turns change on the clock of ${schedule.timezone}`}.${now.view === "month" ? " Drag over days, or choose one, to override." : now.view === "week" ? " Drag over hours, or choose a day, to override." : ""}</p></section>
      <${Overrides} schedule=${schedule} onRemove=${(removed) => setOpen({ removed })} /></div>
    <${Dialogs} open=${open} schedule=${schedule} shifts=${shifts} again=${again} close=${() => setOpen({})} />`;
}
