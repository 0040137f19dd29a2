// One occurrence of an error, and the way to those before and after it, which are read ahead.

import { useEffect, useRef } from "preact/hooks";
import { readAhead, take } from "../api/ahead.js";
import { instant } from "../kit/format.js";
import { html } from "../kit/html.js";
import { bind } from "../kit/keys.js";
import { useLoaded } from "../kit/loading.js";
import { refresh, rangeKey } from "../kit/range.js";
import { hrefHere, inQuery, setQuery } from "../kit/router.js";
import { CopyButton } from "../parts/copy.js";
import { Icon } from "../parts/icon.js";
import { Loaded } from "../parts/loaded.js";
import { Time } from "../parts/time.js";
import { apiPath, Level, NEWEST } from "./errors_common.js";
import { Breadcrumbs, Contexts, Request, TagsAndUser } from "./errors_context.js";
import { Stack } from "./errors_stack.js";

/** @import { ErrorGroupDetail, ErrorOccurrenceInOrder } from "telltale" */

const pathOf = (id, event) => apiPath(id, `/events/${encodeURIComponent(event)}`);

/** Loads the occurrence that the address names, or the newest: null if all have expired. */
async function load(id, event, abort) {
  if (event) return (await take(pathOf(id, event), abort)).data;
  const { data } = await take(apiPath(id, NEWEST), abort);
  return data.length === 0 ? null : { ...data[0], next_id: null, previous_id: data[1]?.id ?? null };
}

function Way({ label, icon, event, isAfter = false }) {
  const parts = isAfter ? html`${label}<${Icon} name=${icon} />` : html`<${Icon} name=${icon} />${label}`;
  // Not focusable while there is none, but read out as a link that leads nowhere.
  return event === null ? html`<a class="button small" role="link" aria-disabled="true">${parts}</a>` : html`<a class="button small" href=${hrefHere({ event })}>${parts}</a>`;
}

/** @param {Props<{occurrence: ErrorOccurrenceInOrder}>} props */
function Ways({ id, occurrence }) {
  const { previous_id: previous, next_id: next } = occurrence;
  const latest = useRef({ previous, next });
  latest.current = { previous, next };
  useEffect(() => {
    for (const event of [previous, next]) if (event) readAhead(pathOf(id, event));
  }, [previous, next]);
  useEffect(() => {
    const open = (which) => () => latest.current[which] && setQuery({ event: latest.current[which] });
    const undo = [bind("p", "Occurrence before", open("previous")), bind("n", "Occurrence after", open("next"))];
    return () => undo.forEach((one) => one());
  }, []);
  return html`<nav class="ways" aria-label="Occurrences">
    <${Way} label="Before" icon="chevron-left" event=${previous} />
    <${Way} label="After" icon="chevron-right" event=${next} isAfter />
    <${Way} label="Newest" icon="chevrons-right" event=${next || inQuery("event") ? "" : null} isAfter /></nav>`;
}

/** @param {Props<{occurrence: ErrorOccurrenceInOrder}>} props */
function Facts({ occurrence }) {
  const { id, event_id: sent, timestamp, level, environment, release } = occurrence;
  const user = /** @type {Record<string, any> | null} */ (occurrence.user);
  const who = user ? (user.email ?? user.username ?? user.id ?? user.ip_address) : null;
  return html`<p class="facts"><span title=${instant(timestamp)}>${instant(timestamp)}</span> <span class="quiet">(<${Time} at=${timestamp} />)</span>
      <${Level} of=${level} />${environment && html`<span class="tag"><${Icon} name="globe" /><bdi>${environment}</bdi></span>`}
      ${release && html`<span class="tag"><${Icon} name="tag" /><bdi>${release}</bdi></span>`}${who && html`<span class="tag"><${Icon} name="user" /><bdi>${String(who)}</bdi></span>`}</p>
    <p class="quiet small"><span class="mono">${sent ?? id}</span> <${CopyButton} text=${sent ?? id} label="the id of the occurrence" /></p>`;
}

/**
 * `error` is the detail of the API.
 * @param {Props<{error: ErrorGroupDetail}>} props
 */
export function Occurrence({ error }) {
  const event = inQuery("event");
  const [state] = useLoaded((abort) => load(error.id, event, abort), event ? 0 : refresh.value * 1000, event || `newest ${rangeKey.value}`);
  const show = (occurrence) => html`<div class="sections">
    <section class="card"><header><${Icon} name="zap" /><h2>${event ? "Occurrence" : "Newest occurrence"}</h2><${Ways} id=${error.id} occurrence=${occurrence} /></header>
      <${Facts} occurrence=${occurrence} /></section>
    <${Stack} error=${error} occurrence=${occurrence} />
    <${Breadcrumbs} key=${occurrence.id} details=${occurrence.details} />
    <${Request} details=${occurrence.details} />
    <${TagsAndUser} occurrence=${occurrence} />
    <${Contexts} details=${occurrence.details} />
  </div>`;
  const empty = { is: (data) => data === null, text: "All occurrences have expired; the error and its counts are kept." };
  return html`<${Loaded} state=${state} show=${show} empty=${empty} />`;
}
