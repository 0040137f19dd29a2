// The stack trace of an occurrence: frames of the program first, or the raw text; which of them is
// in the address.

import { count } from "../kit/format.js";
import { html } from "../kit/html.js";
import { text as textOfJson } from "../kit/json.js";
import { href, inQuery, setQuery } from "../kit/router.js";
import { CopyButton, Copyable } from "../parts/copy.js";
import { Icon } from "../parts/icon.js";
import { Pairs, pairsOf } from "../parts/pairs.js";
import { chainOf, linesOf, placeOf, runsOf, sourcesOf, textOf, titleOf } from "./errors_trace.js";

const VIEWS = [
  ["", "App"],
  ["all", "All frames"],
  ["raw", "Raw"],
];

/** The address of the line in the pages of repositories. */
function codeHref({ repository, file_path: path, line }) {
  const parts = [repository, "files", ...path.split("/")].map(encodeURIComponent);
  return href(`/code/${parts.join("/")}`, { lines: line });
}

function Place({ frame }) {
  const { file, module, line, column, function: name } = frame;
  // A number that is too large for JavaScript is an object that keeps its digits.
  const at = [line, column].filter((number) => number !== undefined).map((number) => `:${textOfJson(number)}`).join("");
  return html`<span class="place"><bdi class="mono">${file ?? module ?? "?"}${at}</bdi>
    ${name !== undefined && html` <span class="quiet">in</span> <bdi class="mono strong">${name}</bdi>`}</span>`;
}

function Lines({ lines, label }) {
  return html`<pre class="lines" tabindex="0" role="region" aria-label=${label}>${lines.map(({ number, text, isNow }, i) => html`<span key=${i} class=${isNow ? "now" : null}><span
    class="no" aria-hidden="true">${number ?? ""}</span><bdi>${text || " "}</bdi>${"\n"}</span>`)}</pre>`;
}

function Frame({ frame, source, isOpen }) {
  const lines = linesOf(frame, source);
  const vars = pairsOf(frame.vars);
  const kind = frame.in_app ? "call own" : "call";
  const head = html`<${Place} frame=${frame} />${frame.in_app && html`<span class="tag">app</span>`}`;
  if (lines.length === 0 && vars.length === 0) return html`<li class=${kind}><p class="bare">${head}</p></li>`;
  return html`<li class=${kind}><details open=${isOpen}><summary>${head}</summary>
    ${lines.length > 0 && html`<${Lines} lines=${lines} label=${`Source of ${placeOf(frame)}`} />`}
    ${source && html`<p class="quiet small"><a class="mono" href=${codeHref(source)}><bdi>${source.file_path}</bdi></a> at the commit <span class="mono">${source.commit.slice(0, 12)}</span></p>`}
    ${vars.length > 0 && html`<${Pairs} pairs=${vars} />`}</details></li>`;
}

function Frames({ frames, sources, isFirst, isAll }) {
  if (frames.length === 0) return html`<p class="quiet">No stack trace was sent.</p>`;
  const hasOwn = frames.some((frame) => frame.in_app);
  const opened = frames.findIndex((frame) => frame.in_app || !hasOwn);
  const show = ({ frame, index }) => html`<${Frame} key=${index} frame=${frame} source=${sources.get(placeOf(frame))} isOpen=${isFirst && index === opened} />`;
  return html`<ol class="calls">${runsOf(frames).map((run) => (run.isOwn || isAll || !hasOwn ? run.frames.map(show)
    : html`<li key=${`run ${run.frames[0].index}`} class="run"><details><summary>${count(run.frames.length, "frame")} of libraries</summary><ol class="calls">${run.frames.map(show)}</ol></details></li>`))}</ol>`;
}

function Exception({ one, isCause, sources, isFirst, isAll }) {
  const about = [one.module, one.mechanism && `mechanism ${one.mechanism}`, one.handled === false ? "not handled" : one.handled === true ? "handled" : null].filter(Boolean);
  const message = one.value ?? "";
  return html`<section class="exception">
    ${isCause && html`<p class="quiet small">Caused by</p>`}
    <h3><bdi>${one.type ?? (message ? "Message" : titleOf(one))}</bdi></h3>
    ${message !== "" && html`<p class="message"><bdi>${message}</bdi></p>`}
    ${about.length > 0 && html`<p class="quiet small">${about.join(" · ")}</p>`}
    <${Frames} frames=${one.frames} sources=${sources} isFirst=${isFirst} isAll=${isAll} />
  </section>`;
}

/** `error` is the detail of the API, `occurrence` has `details`. */
export function Stack({ error, occurrence }) {
  const view = inQuery("trace");
  const chain = chainOf(occurrence);
  const sources = sourcesOf(error);
  const text = textOf(chain);
  return html`<section class="card"><header><${Icon} name="layers" /><h2>Stack trace</h2><div class="acts">
      <div class="picker" role="group" aria-label="Frames">${VIEWS.map(([name, label]) => html`<button key=${name} type="button" class="button small" aria-pressed=${view === name ? "true" : "false"}
        onClick=${() => setQuery({ trace: name }, { replace: true })}>${label}</button>`)}</div>
      ${view !== "raw" && html`<${CopyButton} text=${text} label="the stack trace" />`}</div></header>
    ${view === "raw" ? html`<${Copyable} text=${text} label="the raw stack trace" />`
      : chain.map((one, i) => html`<${Exception} key=${i} one=${one} isCause=${i > 0} sources=${sources} isFirst=${i === 0} isAll=${view === "all"} />`)}
    ${occurrence.details?.cut && html`<p class="quiet small">The occurrence was too large: parts of it were left out.</p>`}
  </section>`;
}
