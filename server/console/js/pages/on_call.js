// Who is on call now, by every schedule, and who comes next.

import { get } from "../api/client.js";
import { day, hour, minute } from "../kit/format.js";
import { html } from "../kit/html.js";
import { useLoaded } from "../kit/loading.js";
import { href, inQuery } from "../kit/router.js";
import { Button } from "../parts/button.js";
import { QuerySelect } from "../parts/fields.js";
import { Head } from "../parts/head.js";
import { Icon } from "../parts/icon.js";
import { Loaded } from "../parts/loaded.js";
import { Pager, offsetOf } from "../parts/pager.js";
import { placed } from "../parts/placed.js";
import { colourOf, Person } from "./on_call_people.js";

/** @import { OnCallSchedule, OnCallShift } from "telltale" */

/** Fewer than in other lists: each is loaded with its shifts. */
const ROWS = 20;
const REFRESH_MS = 60_000;
const AHEAD_MS = 7 * 86_400_000;
const ENABLED = [{ value: "", label: "All schedules" }, { value: "true", label: "enabled" }, { value: "false", label: "not enabled" }];

async function load(abort) {
  const query = new URLSearchParams({ limit: String(ROWS), offset: String(offsetOf()) });
  if (inQuery("enabled")) query.set("enabled", inQuery("enabled"));
  const found = await get(`/on_call_schedules?${query}`, abort);
  const to = new Date(Date.now() + AHEAD_MS).toISOString();
  const whole = await Promise.all(found.data.map(async ({ id }) => {
    const path = /** @type {const} */ (`/on_call_schedules/${encodeURIComponent(id)}`);
    const [schedule, shifts] = await Promise.all([get(path, abort), get(`${path}/shifts?to=${to}`, abort)]);
    return { ...schedule.data, shifts: shifts.data };
  }));
  whole.sort((a, b) => Number(b.enabled) - Number(a.enabled));
  return { data: whole, meta: found.meta, from: Date.now() };
}

/**
 * The next seven days as a strip; the texts beside it say the same.
 * @param {Props<{schedule: OnCallSchedule & {shifts: OnCallShift[]}}>} props
 */
function Strip({ schedule, from }) {
  const to = from + AHEAD_MS;
  const part = (time) => (100 * (Math.max(from, Math.min(to, time)) - from)) / AHEAD_MS;
  return html`<div class="strip" aria-hidden="true">${schedule.shifts.map((shift, i) => {
    const [begin, end] = [shift.starts_at ? part(Date.parse(shift.starts_at)) : 0, shift.ends_at ? part(Date.parse(shift.ends_at)) : 100];
    return html`<span key=${i} class=${`strip-part ${shift.user ? colourOf(schedule.members, shift.user) : "gap"}`} title=${`${shift.user ?? "Nobody"}, from ${shift.starts_at ? minute(shift.starts_at) : "ever"}`}
      ...${placed({ from: begin, size: end - begin })}></span>`;
  })}</div>`;
}

function until(end) {
  if (!end) return "without an end";
  return `until ${day(end)}, ${hour(end)}`;
}

/** @param {Props<{schedule: OnCallSchedule & {shifts: OnCallShift[]}}>} props */
function Schedule({ schedule, from }) {
  const { id, name, enabled, members, timezone, shifts } = schedule;
  const [now, ...later] = shifts;
  const next = later.find(({ user }) => user !== now?.user);
  return html`<section class=${`card on-call ${enabled ? "" : "is-off"}`}><header><h2><a href=${href(`/on-call/${encodeURIComponent(id)}`)}>${name}</a></h2>
      <span class="tag">${enabled ? schedule.schedule_type : "not enabled"}</span></header>
    ${!enabled ? html`<p class="quiet">Nobody is notified by it.</p>` : html`
      <p class="now"><${Person} members=${members} user=${now?.user} isLarge /><span class="quiet small">${now ? until(now.ends_at) : ""}${now?.source === "override" ? " · override" : ""}</span></p>
      <${Strip} schedule=${schedule} from=${from} />
      <p class="small quiet">${next ? html`Next: <strong>${next.user ?? "nobody"}</strong> from ${minute(next.starts_at)}` : "Nobody else in the next 7 days."} · ${timezone}</p>`}
  </section>`;
}

export function Page() {
  const [state, again] = useLoaded(load, REFRESH_MS, `${inQuery("enabled")} ${inQuery("offset")}`);
  const show = ({ data, meta, from }) => html`<div class="grid two">${data.map((schedule) => html`<${Schedule} key=${schedule.id} schedule=${schedule} from=${from} />`)}</div><${Pager} meta=${meta} />`;
  return html`<${Head} title="On-call"><a class="button first" href=${href("/on-call/new/edit")}><${Icon} name="plus" />New schedule</a><${Button} label="Refresh" work=${again}><${Icon} name="refresh-cw" /><//><//>
    <div class="filters"><${QuerySelect} name="enabled" label="Which schedules" options=${ENABLED} /></div>
    <${Loaded} state=${state} show=${show} empty=${{ is: ({ meta }) => meta.total === 0, text: "No schedules. A schedule says who is notified when an alert fires." }} />`;
}
