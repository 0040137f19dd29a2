// Events as they arrive, the newest first. Pausing keeps what is shown while new events are counted;
// pinned events stay at the top.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { getExact } from "../api/client.js";
import { amount, count } from "../kit/format.js";
import { html } from "../kit/html.js";
import { pause, whenVisible } from "../kit/pause.js";
import { Button } from "../parts/button.js";
import { Icon } from "../parts/icon.js";
import { Failure } from "../parts/loaded.js";
import { Filters, filters, parametersOf } from "./events_filters.js";
import { EventRow } from "./events_list.js";

/** @import { TrackedEvent } from "./events_list.js" */

const ROWS_MAX = 1_000;
const WAIT_SECONDS = 25;
const LIMIT = 500;
const SHOWN_EVERY_MS = 400;
const AGAIN_MS = 5_000;

/** Follows events until aborted; `on` is `{events(list), missed(count), failure(failure)}`. */
async function follow(query, abort, on) {
  let cursor = null;
  while (!abort.aborted) {
    await whenVisible(abort);
    const parameters = new URLSearchParams(query);
    parameters.set("limit", String(LIMIT));
    parameters.set("wait_seconds", String(cursor ? WAIT_SECONDS : 0));
    if (cursor) parameters.set("after", cursor);
    try {
      const { data, meta } = await getExact(`/events/tail?${parameters}`, abort);
      cursor = meta.cursor;
      on.failure(null);
      if (meta.missed !== 0) on.missed(meta.missed);
      if (data.length > 0) on.events(data);
      await pause(SHOWN_EVERY_MS, abort);
    } catch (failure) {
      if (abort.aborted) return;
      on.failure(failure);
      await pause(AGAIN_MS, abort);
    }
  }
}

/** Returns what is followed under a query, and the functions of its controls. */
function useTail(query) {
  /** @type {{rows: TrackedEvent[], held: TrackedEvent[], missed: number, isUnsure: boolean, failure: Failed | null}} */
  const nothing = { rows: [], held: [], missed: 0, isUnsure: false, failure: null };
  const [state, setState] = useState(nothing);
  const [isPaused, setPaused] = useState(false);
  const paused = useRef(false);
  useEffect(() => {
    const own = new AbortController();
    setState((now) => ({ ...now, rows: [], held: [], missed: 0, isUnsure: false }));
    const first = (list, rows) => [...list.toReversed(), ...rows].slice(0, ROWS_MAX);
    follow(query, own.signal, {
      events: (list) => setState((now) => (paused.current ? { ...now, held: first(list, now.held) } : { ...now, rows: first(list, now.rows) })),
      missed: (missed) => setState((now) => (missed === null ? { ...now, isUnsure: true } : { ...now, missed: now.missed + missed })),
      failure: (failure) => setState((now) => (now.failure === failure ? now : { ...now, failure })),
    });
    return () => own.abort();
  }, [query]);
  const toggle = () => {
    paused.current = !paused.current;
    setPaused(paused.current);
    if (!paused.current) setState((now) => ({ ...now, rows: [...now.held, ...now.rows].slice(0, ROWS_MAX), held: [] }));
  };
  const clear = () => setState((now) => ({ ...now, rows: [], held: [], missed: 0, isUnsure: false }));
  return { ...state, isPaused, toggle, clear };
}

function Row({ event, isPinned, onPin }) {
  return html`<div class="tail-row"><button type="button" class="button plain small" aria-pressed=${isPinned ? "true" : "false"}
      aria-label=${`${isPinned ? "Unpin" : "Pin"} ${event.name}`} onClick=${() => onPin(event)}><${Icon} name="pin" /></button>
    <${EventRow} event=${event} hasDay=${false} /></div>`;
}

function Missed({ missed, isUnsure }) {
  if (missed === 0 && !isUnsure) return null;
  return html`<p class="notice warn" role="status"><${Icon} name="triangle-alert" /><span>${isUnsure
    ? "The server was started again: events may be missing here." : `${count(missed, "event")} came too fast, or while nobody looked, and are missing here.`} The list has them.</span></p>`;
}

export function Live() {
  const { name, user, tags } = filters();
  const query = parametersOf({ name, user, tags }, {}).toString();
  const { rows, held, missed, isUnsure, failure, isPaused, toggle, clear } = useTail(query);
  const [pinned, setPinned] = useState(/** @type {TrackedEvent[]} */ ([]));
  const pin = (event) => setPinned((now) => (now.some(({ id }) => id === event.id) ? now.filter(({ id }) => id !== event.id) : [event, ...now]));
  // A row that is the same is not compared again: there may be a thousand.
  const made = useMemo(() => new WeakMap(), []);
  const rowOf = (event) => {
    if (!made.has(event)) made.set(event, html`<${Row} key=${event.id} event=${event} onPin=${pin} />`);
    return made.get(event);
  };
  const isPinned = new Set(pinned.map(({ id }) => id));
  const shown = rows.filter(({ id }) => !isPinned.has(id));
  return html`<${Filters} />
    ${failure && html`<${Failure} failure=${failure} />`}<${Missed} missed=${missed} isUnsure=${isUnsure} />
    ${pinned.length > 0 && html`<section class="card pinned"><header><${Icon} name="pin" /><h2>Pinned</h2></header>
      <div>${pinned.map((event) => html`<${Row} key=${event.id} event=${event} isPinned onPin=${pin} />`)}</div></section>`}
    <section class="card"><header><${Icon} name=${isPaused ? "pause" : "play"} /><h2>${isPaused ? "Paused" : "Live"}</h2>
      <div class="acts"><span class="quiet small">${count(rows.length, "event")}${rows.length === ROWS_MAX ? ", the newest" : ""}</span>
        <${Button} kind="small" work=${clear}>Clear<//>
        <${Button} kind="small" work=${toggle}><${Icon} name=${isPaused ? "play" : "pause"} />${isPaused ? `Go on${held.length > 0 ? `: ${amount(held.length)} new` : ""}` : "Pause"}<//></div></header>
      ${shown.length === 0 ? html`<p class="quiet">Waiting for events that match…</p>`
        : html`<div class="tail" role="log" aria-live="off" aria-label="New events">${shown.map(rowOf)}</div>`}
    </section>`;
}
