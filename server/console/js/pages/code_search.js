// Searches the code of a repository, by words or by the name of a definition.

import { get } from "../api/client.js";
import { html } from "../kit/html.js";
import { useLoaded } from "../kit/loading.js";
import { inQuery } from "../kit/router.js";
import { CodeLines, linesOf } from "../parts/code_lines.js";
import { QuerySearch, QuerySelect } from "../parts/fields.js";
import { Loaded } from "../parts/loaded.js";
import { CodeFrame, useRepository } from "./code_frame.js";
import { apiOf, fileLink, FilePath } from "./code_words.js";

/** @import { CodeSearchResult } from "telltale" */

const KINDS = [{ value: "q", label: "Words" }, { value: "symbol", label: "Definitions of a name" }];
const RESULTS_MAX = 20;
const wordOf = (kind) => kind.replaceAll("_", " ");

/** @param {Props<{of: CodeSearchResult}>} props */
function Result({ id, of }) {
  const { file_path: path, line_start: start, line_end: end, snippet, symbol } = of;
  return html`<li class="card result">
    <p><a href=${fileLink(id, path, start, end)}><${FilePath} path=${path} />:${start}${end > start ? `–${end}` : ""}</a></p>
    ${symbol && html`<p class="small"><span class="tag">${wordOf(symbol.kind)}</span> <code class="wrap">${symbol.container ? `${symbol.container}.` : ""}${symbol.name}</code>
      ${symbol.line_end - symbol.line_start >= 1 && html` <a class="small" href=${`${fileLink(id, path, symbol.line_start, symbol.line_end)}&help=explain`}>Explain it</a>`}</p>`}
    <${CodeLines} path=${path} lines=${linesOf(snippet)} first=${start} label=${`${path} from line ${start}`} />
  </li>`;
}

function Results({ id, kind, text }) {
  const path = apiOf(id, `/search?${kind}=${encodeURIComponent(text)}&limit=${RESULTS_MAX}`);
  const [state] = useLoaded((abort) => get(path, abort), 0, path);
  const empty = { is: ({ results }) => results.length === 0, text: kind === "symbol" ? "No definition has this name." : "Nothing in the code fits these words." };
  const show = ({ results, commit }) => html`<p class="quiet small" role="status">${results.length === RESULTS_MAX ? `The ${RESULTS_MAX} best results` : results.length === 1 ? "1 result" : `${results.length} results`} at <span class="mono">${commit}</span></p>
    <ol class="results">${results.map((of) => html`<${Result} key=${`${of.file_path}:${of.line_start}-${of.line_end} ${of.symbol?.name}`} id=${id} of=${of} />`)}</ol>`;
  return html`<${Loaded} state=${state} show=${show} empty=${empty} />`;
}

export function Page({ params: { id } }) {
  const loaded = useRepository(id);
  const kind = inQuery("kind") === "symbol" ? "symbol" : "q";
  const text = inQuery("text").trim();
  const show = () => html`<div class="filters"><${QuerySearch} name="text" label=${kind === "symbol" ? "Name, such as Parser.parse" : "Words or identifiers"} /><${QuerySelect} name="kind" label="What is searched" options=${KINDS} /></div>
    ${text ? html`<${Results} id=${id} kind=${kind} text=${text} />` : html`<p class="quiet">${kind === "symbol" ? "The name of a function, a type or a constant finds where it is defined." : "Words find the passages that fit them best: identifiers count by their words."}</p>`}`;
  return html`<${CodeFrame} id=${id} view="search" title="Search" loaded=${loaded} show=${show} />`;
}
