// How far a sync is, while it waits or runs.

import { useEffect } from "preact/hooks";
import { get } from "../api/client.js";
import { amount } from "../kit/format.js";
import { html } from "../kit/html.js";
import { useEvery, useLoaded } from "../kit/loading.js";
import { Icon } from "../parts/icon.js";
import { apiOf } from "./code_words.js";

const EVERY_MS = 1_000;
const STEPS = { fetching: "Fetching the commit", reading: "Reading files", indexing: "Indexing" };

/** `onEnd` is called when it has ended. */
export function SyncProgress({ id, sync, onEnd }) {
  const [state, again] = useLoaded((abort) => get(apiOf(id, `/syncs/${encodeURIComponent(sync)}`), abort));
  const { data } = state.value;
  const isRunning = !data || data.status === "started";
  useEvery(again, isRunning ? EVERY_MS : 0);
  useEffect(() => {
    if (!isRunning) onEnd();
  }, [isRunning]);
  const progress = data?.progress;
  const text = progress ? STEPS[progress.step] ?? progress.step : "Waiting for its turn";
  const total = progress?.files_total ?? 0;
  const files = total > 0 ? `${amount(progress?.files_done)} of ${amount(total)} files` : "";
  return html`<div class="syncing"><p class="small"><${Icon} name="refresh-cw" /> <span>${text}${files && `: ${files}`}…</span></p>
    <progress aria-label=${text} max=${total || null} value=${total > 0 ? progress?.files_done : null}></progress></div>`;
}
