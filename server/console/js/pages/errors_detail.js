// One error: its state, its occurrences over time, one of them in full, and what people did.

import { useLayoutEffect, useState } from "preact/hooks";
import { take } from "../api/ahead.js";
import { amount, instant } from "../kit/format.js";
import { html } from "../kit/html.js";
import { useLoaded } from "../kit/loading.js";
import { rangeKey, refresh, showAtFirst } from "../kit/range.js";
import { Head } from "../parts/head.js";
import { Icon } from "../parts/icon.js";
import { Loaded } from "../parts/loaded.js";
import { Tabs, viewOf } from "../parts/tabs.js";
import { Time } from "../parts/time.js";
import { TimePicker } from "../parts/time_picker.js";
import { Acts } from "./errors_acts.js";
import { Series } from "./errors_chart.js";
import { apiPath, Level, listPath, Status } from "./errors_common.js";
import { Occurrence } from "./errors_occurrence.js";
import { Occurrences } from "./errors_occurrences.js";
import { Activity, MergedNotice, Numbers, Tags } from "./errors_side.js";

/** @import { ErrorGroupDetail } from "telltale" */

const USUAL_RANGE = "24h";

/**
 * Says since when and why the error is in its state.
 * @param {Props<{error: ErrorGroupDetail}>} props
 */
function State({ error }) {
  const { status, resolved_at: resolved, note, ignored_until: until, ignored_at: ignored, reason, regressed_at: regressed } = error;
  const said = status === "resolved" ? note : status === "ignored" ? reason : null;
  return html`<${Status} of=${status} />
    ${status === "resolved" && resolved && html`<span class="quiet"><${Time} at=${resolved} /></span>`}
    ${status === "ignored" && html`<span class="quiet">${until ? `until ${instant(until)}` : ignored ? html`since <${Time} at=${ignored} />` : ""}</span>`}
    ${status === "unresolved" && regressed && html`<span class="tag bad"><${Icon} name="rotate-ccw" />occurred again <${Time} at=${regressed} /></span>`}
    ${said && html`<q class="quiet"><bdi>${said}</bdi></q>`}`;
}

/** @param {Props<{error: ErrorGroupDetail}>} props */
function Body({ error, again }) {
  const [version, setVersion] = useState(0);
  const views = [{ name: "details", label: "Details" }, { name: "occurrences", label: "All occurrences", count: amount(error.occurrences) }];
  const changed = () => {
    setVersion(version + 1);
    again();
  };
  return html`<div class="about"><${Level} of=${error.level} /><${State} error=${error} />${error.culprit && html`<bdi class="mono quiet">${error.culprit}</bdi>`}</div>
    <div class="acts begin"><${Acts} error=${error} again=${changed} /></div>
    <${MergedNotice} error=${error} />
    <${Tabs} label="Views" views=${views} keep=${["trace", "event"]} />
    ${viewOf(views) === "occurrences" ? html`<${Occurrences} id=${error.id} />`
      : html`<${Numbers} error=${error} /><div class="beside"><div class="sections"><${Series} error=${error} /><${Occurrence} error=${error} /></div>
        <aside class="sections" aria-label="About the error"><${Tags} id=${error.id} /><${Activity} id=${error.id} version=${version} /></aside></div>`}`;
}

export function Page({ params }) {
  // Before the control of the range puts another one into the address.
  useLayoutEffect(() => showAtFirst(USUAL_RANGE), []);
  const [state, again] = useLoaded((abort) => take(apiPath(params.id), abort), refresh.value * 1000, rangeKey.value);
  const title = state.value.data?.data.title ?? "Error";
  return html`<${Head} title=${title} above=${{ path: listPath.value, label: "Errors" }}><${TimePicker} /><//>
    <${Loaded} state=${state} show=${({ data }) => html`<${Body} error=${data} again=${again} />`} />`;
}
