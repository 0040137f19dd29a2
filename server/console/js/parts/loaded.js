// Data with its states: loading, failed, failed with older data, empty.

import { sentenceOf } from "../api/failure.js";
import { html } from "../kit/html.js";
import { ago } from "../kit/format.js";
import { Icon } from "./icon.js";

/** Says why something failed, and which scope a key would need. */
export function Failure({ failure, since }) {
  const scope = failure.missingScope;
  return html`<p class=${`notice ${scope ? "" : "bad"}`} role="status">
    <${Icon} name=${scope ? "key-round" : "triangle-alert"} />
    <span>${sentenceOf(failure)}${since ? ` Shown as of ${ago(new Date(since).toISOString())}.` : ""}</span>
  </p>`;
}

/** Shows what `state` has by `show(data)`. */
export function Loaded({ state, show, empty }) {
  const { data, failure, at } = state.value;
  if (data === undefined) {
    return failure ? html`<${Failure} failure=${failure} />` : html`<p class="quiet" role="status">Loading…</p>`;
  }
  const shown = empty && empty.is(data) ? html`<p class="none"><${Icon} name="circle-check" />${empty.text}</p>` : show(data);
  // The same elements with and without a failure: what is typed into them stays.
  return html`${failure && html`<${Failure} failure=${failure} since=${at} />`}<div class=${failure ? "loaded old" : "loaded"}>${shown}</div>`;
}
