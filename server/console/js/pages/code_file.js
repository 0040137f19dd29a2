// A file of a repository: its lines, some of which can be chosen, linked to and explained.

import { useEffect, useState } from "preact/hooks";
import { get } from "../api/client.js";
import { areas } from "../api/session.js";
import { useElement } from "../kit/element.js";
import { amount, bytes, count } from "../kit/format.js";
import { html } from "../kit/html.js";
import { useLoaded } from "../kit/loading.js";
import { href, inQuery, place, setQuery } from "../kit/router.js";
import { Button } from "../parts/button.js";
import { CodeLines, linesOf } from "../parts/code_lines.js";
import { Icon } from "../parts/icon.js";
import { Loaded } from "../parts/loaded.js";
import { CodeFrame, useRepository } from "./code_frame.js";
import { Crumbs } from "./code_files.js";
import { Help } from "./code_help.js";
import { fileApi, linesText, parseLines, placeText } from "./code_words.js";

/** @import { CodeFileText } from "telltale" */

const SHOWN_MAX = 2_000;

/** Returns where the part of the file begins that is shown. */
function firstOf(lines, total) {
  const wanted = Number(inQuery("from")) || lines?.start || 1;
  return Math.floor((Math.max(1, Math.min(wanted, total)) - 1) / SHOWN_MAX) * SHOWN_MAX + 1;
}

function Parts({ first, total }) {
  if (total <= SHOWN_MAX) return null;
  const last = Math.min(total, first + SHOWN_MAX - 1);
  const link = (from) => href(place.value.path, { from: String(from) });
  return html`<nav class="pager" aria-label="Parts of the file"><span>Lines ${amount(first)} to ${amount(last)} of ${amount(total)}</span>
    ${first > 1 && html`<a class="button" href=${link(first - SHOWN_MAX)}><${Icon} name="chevron-left" />Before</a>`}
    ${last < total && html`<a class="button" href=${link(last + 1)}>After<${Icon} name="chevron-right" /></a>`}</nav>`;
}

/** Chooses lines by their numbers. */
function Choose({ lines, total }) {
  const field = /** @type {ElementRef<HTMLInputElement>} */ (useElement());
  const [wrong, setWrong] = useState("");
  useEffect(() => {
    field.current.value = lines ? linesText(lines.start, lines.end) : "";
    setWrong("");
  }, [lines?.start, lines?.end]);
  const submit = (event) => {
    event.preventDefault();
    const text = field.current.value;
    const wanted = parseLines(text);
    if (text.trim() && (!wanted || wanted.end > total)) return setWrong(`Lines from 1 to ${total}, such as 10-20.`);
    return setQuery({ lines: wanted && linesText(wanted.start, wanted.end), from: null }, { replace: true });
  };
  return html`<form class="choose" onSubmit=${submit} novalidate><label class="small" for="chosen-lines">Lines</label>
    <input id="chosen-lines" ref=${field} inputmode="numeric" autocomplete="off" placeholder="10-20" aria-describedby="chosen-wrong" aria-invalid=${wrong ? "true" : null} /><${Button} type="submit" kind="small">Choose<//>
    <span id="chosen-wrong" class="wrong" role="alert">${wrong}</span></form>`;
}

function Aside({ id, path, kind, lines }) {
  const heading = /** @type {ElementRef<HTMLHeadingElement>} */ (useElement());
  const close = () => setQuery({ help: null }, { replace: true });
  useEffect(() => heading.current?.focus({ preventScroll: true }), [kind, lines?.start, lines?.end]);
  const what = kind === "docs" ? "Documentation" : lines ? `Explanation of ${lines.start === lines.end ? `line ${lines.start}` : `lines ${lines.start} to ${lines.end}`}` : "Explanation";
  return html`<aside class="card panel" aria-label=${what} onKeyDown=${(event) => event.key === "Escape" && close()}>
    <header><h2 tabindex="-1" ref=${heading}>${what}</h2><${Button} kind="plain small" label="Close" work=${close}><${Icon} name="x" /><//></header>
    <${Help} id=${id} path=${path} kind=${kind} lines=${lines} /></aside>`;
}

/** @param {Props<{of: CodeFileText}>} props */
function File({ id, path, of }) {
  const lines = linesOf(of.content);
  const total = lines.length;
  const wanted = parseLines(inQuery("lines"));
  const chosen = wanted && wanted.end <= total ? wanted : null;
  const first = firstOf(chosen, total);
  const help = areas.value.includes("code_help") ? inQuery("help") : "";
  const kind = help === "explain" || help === "docs" ? help : "";
  const choose = (next) => setQuery({ lines: next && linesText(next.start, next.end), from: null }, { replace: true });
  const explained = chosen ? (chosen.start === chosen.end ? `line ${chosen.start}` : `lines ${chosen.start} to ${chosen.end}`) : "the file";
  return html`<div class="line tools"><p class="quiet small">${of.language ?? "text"}, ${count(of.lines, "line")}, ${bytes(of.bytes)}, at <span class="mono">${of.commit}</span></p>
      <${Choose} lines=${chosen} total=${total} />
      ${areas.value.includes("code_help") && total > 0 && html`<${Button} work=${() => setQuery({ help: "explain" })}><${Icon} name="sparkles" />Explain ${explained}<//>
        <${Button} work=${() => setQuery({ help: "docs" })}><${Icon} name="book-open" />Document the file<//>`}</div>
    ${wanted && !chosen && html`<p class="notice warn">The file has ${count(total, "line")}: the lines ${inQuery("lines")} are not there at this commit.</p>`}
    <div class=${kind ? "split with" : "split"}>
      <div class="content">${total === 0 ? html`<p class="none">The file is empty.</p>` : html`<${CodeLines} path=${path} language=${of.language} lines=${lines.slice(first - 1, first - 1 + SHOWN_MAX)} first=${first}
        label=${`${path}; arrow keys choose lines`} chosen=${chosen} onChoose=${choose} /><${Parts} first=${first} total=${total} />`}
        <p class="unseen" aria-live="polite">${chosen ? `Chosen: ${placeText(path, chosen.start, chosen.end)}` : ""}</p></div>
      ${kind && html`<${Aside} id=${id} path=${path} kind=${kind} lines=${chosen} />`}
    </div>`;
}

function Loading({ id, path }) {
  const [state] = useLoaded((abort) => get(fileApi(id, path), abort));
  return html`<${Loaded} state=${state} show=${(of) => html`<${File} id=${id} path=${path} of=${of} />`} />`;
}

export function Page({ params: { id, path } }) {
  const loaded = useRepository(id);
  const at = path.lastIndexOf("/");
  const show = () => html`<${Crumbs} id=${id} path=${path.slice(0, at + 1)} name=${path.slice(at + 1)} /><${Loading} id=${id} path=${path} />`;
  return html`<${CodeFrame} id=${id} view="files" title=${path.slice(at + 1)} loaded=${loaded} show=${show} />`;
}
