// What the server says of a file or of lines of it: an explanation, or the documentation of what it offers.

import { call } from "../api/client.js";
import { html } from "../kit/html.js";
import { useLoaded } from "../kit/loading.js";
import { Loaded } from "../parts/loaded.js";
import { Answer } from "../parts/prose.js";

/** @import { CodeDocumentation, CodeExplanation, CodeParameter } from "telltale" */

/** @param {Props<{of: CodeParameter[]}>} props */
function Parameters({ label, of }) {
  if (of.length === 0) return null;
  return html`<h3>${label}</h3><dl class="parameters">${of.map((one, i) => html`<div key=${i}><dt><code>${one.name}</code>${one.type && html` <code class="quiet">${one.type}</code>`}</dt>
    ${one.description && html`<dd><${Answer} text=${one.description} /></dd>`}</div>`)}</dl>`;
}

/** @param {Props<{explanation: CodeExplanation}>} props */
function Explanation({ explanation: of }) {
  return html`<${Answer} text=${of.summary} />
    ${of.steps.length > 0 && html`<h3>Steps</h3><ol class="numbers">${of.steps.map((step, i) => html`<li key=${i}><${Answer} text=${step} /></li>`)}</ol>`}
    <${Parameters} label="Inputs" of=${of.inputs} />
    <h3>Returns</h3><${Answer} text=${of.outputs.success} />
    <h3>Fails</h3><${Answer} text=${of.outputs.failure} />
    ${of.dependencies.length > 0 && html`<h3>Depends on</h3><ul class="tags">${of.dependencies.map((one) => html`<li key=${one}><code class="wrap">${one}</code></li>`)}</ul>`}`;
}

/** @param {Props<{documentation: CodeDocumentation}>} props */
function Documentation({ documentation: of }) {
  return html`<${Answer} text=${of.overview} />
    ${of.methods.length === 0 && html`<p class="quiet">The file has no public functions or methods.</p>`}
    ${of.methods.map((method, i) => html`<section key=${i} class="method"><h3><code class="wrap">${method.name}</code></h3><${Answer} text=${method.description} />
      ${method.parameters.length > 0 && html`<dl class="parameters">${method.parameters.map((one, j) => html`<div key=${j}><dt><code>${one.name}</code>${one.type && html` <code class="quiet">${one.type}</code>`}</dt>
        ${one.description && html`<dd><${Answer} text=${one.description} /></dd>`}</div>`)}</dl>`}
      ${method.examples.map((example, j) => html`<pre key=${j} class="fenced" tabindex="0" role="group" aria-label=${`Example of ${method.name}`}>${example}</pre>`)}</section>`)}
    ${of.usage_examples.length > 0 && html`<h3>Used like this</h3>${of.usage_examples.map((example, i) => html`<pre key=${i} class="fenced" tabindex="0" role="group" aria-label="Example of use">${example}</pre>`)}`}`;
}

/** `kind` is `explain` or `docs`; `lines` are those to explain, or nothing. */
export function Help({ id, path, kind, lines }) {
  const body = { repository: id, file: path, ...(kind === "explain" && lines ? { lines: { start: lines.start, end: lines.end } } : {}) };
  const load = (abort) => call("POST", kind === "explain" ? "/explain" : "/generate-docs", { body, abort });
  const [state] = useLoaded(load, 0, JSON.stringify([kind, body]));
  return html`<${Loaded} state=${state} show=${(data) => (data.explanation ? html`<${Explanation} explanation=${data.explanation} />` : html`<${Documentation} documentation=${data.documentation} />`)} />`;
}
