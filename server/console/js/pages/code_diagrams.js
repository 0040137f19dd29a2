// The diagrams of a repository: which modules use which, and how types are related.

import { useEffect, useMemo } from "preact/hooks";
import { get } from "../api/client.js";
import { count } from "../kit/format.js";
import { html } from "../kit/html.js";
import { bind } from "../kit/keys.js";
import { useLoaded } from "../kit/loading.js";
import { read } from "../kit/mermaid.js";
import { href, inQuery, setQuery } from "../kit/router.js";
import { Copyable } from "../parts/copy.js";
import { Diagram } from "../parts/diagram.js";
import { Loaded } from "../parts/loaded.js";
import { CodeFrame, useRepository } from "./code_frame.js";
import { apiOf, FilePath, pathOf } from "./code_words.js";

/** @typedef {import("telltale").Diagram} Source */

const WORDS = { uses: "uses", extends: "extends", implements: "implements", contains: "contains" };
const LEGENDS = { module_graph: "An arrow points to the module that is used; modules with arrows at both ends use each other.", class_diagram: "A hollow arrow points to what is extended (or implemented, dashed); a diamond is at the type that contains the other." };

function Relations({ graph, chosen }) {
  const labels = new Map(graph.nodes.map((node) => [node.id, node.label]));
  const edges = chosen ? graph.edges.filter(({ from, to }) => from === chosen || to === chosen) : graph.edges;
  return html`<details class="card"><summary>As a list <span class="tag">${edges.length}</span></summary>
    <ul class="relations">${edges.map(({ from, to, kind, isMutual }, i) => html`<li key=${i}><code class="wrap">${labels.get(from)}</code> ${isMutual ? "and" : WORDS[kind]} <code class="wrap">${labels.get(to)}</code>${isMutual && " use each other"}</li>`)}</ul></details>`;
}

/** Whether a diagram is fitted to the width: unless somebody chose, those without members. */
const isWholeOf = (of) => inQuery("size", of.kind === "module_graph" ? "whole" : "full") === "whole";

/** @param {Props<{of: Source}>} props */
function Drawn({ of }) {
  const graph = useMemo(() => read(of.mermaid), [of.mermaid]);
  const chosen = graph?.nodes.some(({ id }) => id === inQuery("node")) ? inQuery("node") : "";
  const isWhole = isWholeOf(of);
  const resize = () => setQuery({ size: isWholeOf(of) ? "full" : "whole" }, { replace: true });
  useEffect(() => bind("z", "Fit the diagram, or show it in full size", resize), [of]);
  const choose = (id) => setQuery({ node: id }, { replace: true });
  if (!graph) return html`<p class="notice warn">The diagram has a form that this page cannot draw.</p><${Copyable} text=${of.mermaid} label="the diagram in Mermaid's language" />`;
  return html`<section class="card drawing" aria-label=${of.title}><header><h2 class="wrap">${of.title}</h2><span class="quiet small">${count(graph.nodes.length, of.kind === "module_graph" ? "module" : "type")}, ${count(graph.edges.length, "relation")}</span></header>
      <div class="filters"><label class="small" for="chosen-node">Show the relations of</label>
        <select id="chosen-node" value=${chosen} onChange=${(event) => choose(event.currentTarget.value)}><option value="">all</option>${graph.nodes.map(({ id, label }) => html`<option key=${id} value=${id}>${label}</option>`)}</select>
        <label class="check"><input type="checkbox" checked=${isWhole} onChange=${resize} />Fit the width <kbd aria-hidden="true">z</kbd></label></div>
      <${Diagram} graph=${graph} label=${`${of.title}: ${count(graph.nodes.length, "box", "boxes")} and ${count(graph.edges.length, "relation")}; the same is below as a list`} chosen=${chosen} onChoose=${choose} isWhole=${isWhole} />
      <p class="quiet small">${LEGENDS[of.kind]}</p></section>
    <${Relations} graph=${graph} chosen=${chosen} />
    <details class="card"><summary>Source for Mermaid</summary><${Copyable} text=${of.mermaid} label="the diagram in Mermaid's language" /></details>`;
}

/** @param {Props<{diagrams: Source[]}>} props */
function Diagrams({ id, diagrams }) {
  const current = diagrams.find(({ slug }) => slug === inQuery("diagram")) ?? diagrams[0];
  return html`<div class="listed"><nav class="card pages-list" aria-label="Diagrams"><ul>${diagrams.map((one) => html`<li key=${one.slug}>
      <a href=${href(pathOf(id, "/diagrams"), { diagram: one.slug, size: inQuery("size") })} aria-current=${one === current ? "page" : null}><${FilePath} path=${one.title} /></a></li>`)}</ul></nav>
    <div class="content sections"><${Drawn} key=${current.slug} of=${current} /></div></div>`;
}

function Loading({ id }) {
  const [state] = useLoaded((abort) => get(apiOf(id, "/diagrams"), abort));
  const empty = { is: ({ diagrams }) => diagrams.length === 0, text: "There is nothing to draw: no modules use each other, and no types are related." };
  return html`<${Loaded} state=${state} show=${({ diagrams }) => html`<${Diagrams} id=${id} diagrams=${diagrams} />`} empty=${empty} />`;
}

export function Page({ params: { id } }) {
  const loaded = useRepository(id);
  return html`<${CodeFrame} id=${id} view="diagrams" title="Diagrams" loaded=${loaded} show=${() => html`<${Loading} id=${id} />`} />`;
}
