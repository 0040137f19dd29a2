// How many users take several steps, one event after the other.

import { call } from "../api/client.js";
import { amount, count, duration, share } from "../kit/format.js";
import { html } from "../kit/html.js";
import { useLoaded } from "../kit/loading.js";
import { limitsOfQuery, rangeKey, refresh } from "../kit/range.js";
import { inQuery, place, setQuery } from "../kit/router.js";
import { Button } from "../parts/button.js";
import { Combobox } from "../parts/combobox.js";
import { CurlButton, curlOf } from "../parts/curl.js";
import { QuerySelect } from "../parts/fields.js";
import { Icon } from "../parts/icon.js";
import { Loaded } from "../parts/loaded.js";
import { ShareBar } from "../parts/share_bar.js";
import { suggest } from "./events_filters.js";

const STEPS_MAX = 10;
const ADD = "add-step";
const ALL = { name: "", user: "", tags: {} };
const PATH = "/events/funnel";
const WINDOWS = [["24h", "1 day"], ["10m", "10 minutes"], ["1h", "1 hour"], ["7d", "7 days"], ["30d", "30 days"], ["90d", "90 days"]]
  .map(([value, length]) => ({ value, label: `Within ${length}` }));

function show(steps, focus = ADD) {
  setQuery({ step: steps });
  setTimeout(() => document.getElementById(focus)?.focus());
}

function Steps({ steps }) {
  const replace = (index, ...names) => steps.toSpliced(index, 1, ...names);
  const swap = (index) => show(steps.toSpliced(index - 1, 2, steps[index], steps[index - 1]), `step-${index - 1}`);
  return html`<section class="card"><header><${Icon} name="list" /><h2>Steps</h2><${QuerySelect} name="window" label="Window" options=${WINDOWS} /></header>
    <ol class="funnel-steps">${steps.map((step, index) => html`<li key=${`${index} ${step}`}>
        <${Combobox} id=${`step-${index}`} label=${`Step ${index + 1}`} isLabelUnseen value=${step} load=${suggest("name", ALL)} isFree
          onChoose=${(name) => name.trim() && name.trim() !== step && show(replace(index, name.trim()), `step-${index}`)} />
        ${index > 0 && html`<${Button} kind="plain small" label=${`Move step ${index + 1} up`} work=${() => swap(index)}><${Icon} name="arrow-up" /><//>`}
        <${Button} kind="plain small" label=${`Remove step ${index + 1}`} work=${() => show(replace(index))}><${Icon} name="x" /><//></li>`)}
      ${steps.length < STEPS_MAX && html`<li key="add"><${Combobox} id=${ADD} label="Add a step" isLabelUnseen isCleared icon="plus" placeholder=${steps.length > 0 ? "Then…" : "First, the name of an event"}
        load=${suggest("name", ALL)} isFree isTakenOnBlur=${false} onChoose=${(name) => name.trim() && show([...steps, name.trim()])} /></li>`}</ol></section>`;
}

function Bars({ data }) {
  return html`<ol class="funnel">${data.steps.map((step, index) => html`<li key=${index}>
      <p><span class="what">${index + 1}. ${step.name}</span><span class="number">${count(step.users, "user")}</span></p>
      <${ShareBar} part=${step.from_first} />
      <p class="quiet small"><span>${step.from_first === null ? "" : `${share(step.from_first)} of the first step`}</span>
        ${step.from_previous !== null && html`<span>${share(step.from_previous)} of the step before</span>`}
        ${step.median_ms !== null && html`<span>${duration(step.median_ms / 1000)} after it, in the median</span>`}</p></li>`)}</ol>
    <p class="quiet small">${amount(data.events)} events. Users that take all steps: ${data.conversion === null ? "none" : share(data.conversion)}${data.median_ms === null
      ? "" : `, in ${duration(data.median_ms / 1000)} in the median`}. Events without a user are not counted.</p>`;
}

function Result({ steps }) {
  const bodyOf = () => ({ steps: steps.map((name) => ({ name })), window: inQuery("window", WINDOWS[0].value), ...limitsOfQuery() });
  const load = (abort) => call("POST", PATH, { body: bodyOf(), abort });
  const [state] = useLoaded(load, refresh.value * 1000, JSON.stringify([steps, inQuery("window"), rangeKey.value]));
  const empty = { is: ({ data }) => data.steps[0].users === 0, text: "No user took the first step in this time." };
  return html`<section class="card"><header><${Icon} name="filter" /><h2>Funnel</h2><${CurlButton} command=${() => curlOf(PATH, { method: "POST", body: bodyOf() })} label="Copy the funnel as curl" /></header>
    <${Loaded} state=${state} show=${({ data }) => html`<${Bars} data=${data} />`} empty=${empty} /></section>`;
}

export function Funnel() {
  const steps = place.value.query.getAll("step").filter(Boolean).slice(0, STEPS_MAX);
  return html`<div class="sections"><${Steps} steps=${steps} />${steps.length > 0 && html`<${Result} steps=${steps} />`}</div>`;
}
