// The wiki of a repository, which the server writes at each sync.

import { get } from "../api/client.js";
import { html } from "../kit/html.js";
import { useLoaded } from "../kit/loading.js";
import { href, inQuery } from "../kit/router.js";
import { QuerySearch } from "../parts/fields.js";
import { Loaded } from "../parts/loaded.js";
import { Markdown } from "../parts/prose.js";
import { CodeFrame, useRepository } from "./code_frame.js";
import { apiOf, fileLink, FilePath, pathOf } from "./code_words.js";

/** @import { WikiPageSummary } from "telltale" */

const FIRST = "overview";

const wikiLink = (id, slug) => href(pathOf(id, `/wiki/${encodeURIComponent(slug)}`));

/** Returns the address of what a page links to: lines of a file, or another page. */
function linkTo(id, target) {
  const [, path, start, end] = /^([^#]+)#L(\d+)(?:-L(\d+))?$/.exec(target) ?? [];
  if (!path) return /^[\p{L}\p{N}-]+$/u.test(target) ? wikiLink(id, target) : null;
  try {
    return fileLink(id, decodeURIComponent(path), Number(start), Number(end ?? start));
  } catch {
    return null;
  }
}

/** @param {Props<{pages: WikiPageSummary[]}>} props */
function List({ id, pages, current }) {
  const text = inQuery("page").toLowerCase();
  const found = pages.filter((page) => page.title.toLowerCase().includes(text));
  return html`<nav class="card pages-list" aria-label="Pages of the wiki">${pages.length > 12 && html`<${QuerySearch} name="page" label="Find a page" />`}
    <ul>${found.map((page) => html`<li key=${page.slug}><a href=${wikiLink(id, page.slug)} aria-current=${page.slug === current ? "page" : null}><${FilePath} path=${page.title} /></a></li>`)}</ul>
    ${found.length === 0 && html`<p class="quiet small">No page has this in its title.</p>`}</nav>`;
}

function Article({ id, slug }) {
  const [state] = useLoaded((abort) => get(apiOf(id, `/wiki/${encodeURIComponent(slug)}`), abort), 0, slug);
  const show = (page) => html`<article class="card wiki"><${Markdown} text=${page.content} linkTo=${(target) => linkTo(id, target)} />
    <p class="quiet small">Written from the code at <span class="mono">${page.commit}</span>, and from nothing else.</p></article>`;
  return html`<${Loaded} state=${state} show=${show} />`;
}

function Wiki({ id, slug }) {
  const [state] = useLoaded((abort) => get(apiOf(id, "/wiki"), abort));
  return html`<div class="listed"><${Loaded} state=${state} show=${({ pages }) => html`<${List} id=${id} pages=${pages} current=${slug} />`} />
    <div class="content"><${Article} key=${slug} id=${id} slug=${slug} /></div></div>`;
}

export function Page({ params: { id, slug = FIRST } }) {
  const loaded = useRepository(id);
  return html`<${CodeFrame} id=${id} view="wiki" title="Wiki" loaded=${loaded} show=${() => html`<${Wiki} id=${id} slug=${slug} />`} />`;
}
