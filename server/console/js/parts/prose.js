// Text with code, links and references, from the data of kit/markdown.js: every string is a text node.

import { html } from "../kit/html.js";
import { blocks, inline } from "../kit/markdown.js";

/** `linkTo(target)` returns an address of the console for the target of a link, or nothing; `onReference(number)` may return an element. */
function Parts({ parts, linkTo, onReference }) {
  return parts.map((part, i) => {
    if (part.code !== undefined) return html`<code key=${i}>${part.code}</code>`;
    if (part.reference !== undefined) return onReference?.(part.reference) ?? `[${part.reference}]`;
    if (!part.link) return part.text;
    const address = linkTo?.(part.target);
    const shown = html`<${Parts} parts=${part.link} />`;
    return address ? html`<a key=${i} href=${address}>${shown}</a>` : shown;
  });
}

/** Text of an answer: paragraphs and lists with code between backticks and numbers of references. */
export function Answer({ text, onReference }) {
  const paragraphs = text.split(/\n{2,}/).filter((one) => one.trim());
  return html`<div class="prose">${paragraphs.map((paragraph, i) => {
    const lines = paragraph.split("\n");
    const show = (line, key) => html`<${Parts} key=${key} parts=${inline(line, true)} onReference=${onReference} />`;
    if (lines.every((line) => line.startsWith("- "))) return html`<ul key=${i} class="dots">${lines.map((line, j) => html`<li key=${j}>${show(line.slice(2), j)}</li>`)}</ul>`;
    return html`<p key=${i}>${lines.map((line, j) => html`${j > 0 && html`<br />`}${show(line, j)}`)}</p>`;
  })}</div>`;
}

function Block({ block, linkTo }) {
  const show = (parts) => html`<${Parts} parts=${parts} linkTo=${linkTo} />`;
  if (block.heading) return block.level === 1 ? html`<h2 class="title">${show(block.heading)}</h2>` : html`<h3>${show(block.heading)}</h3>`;
  if (block.list) return html`<ul class="dots">${block.list.map((item, i) => html`<li key=${i}>${show(item)}</li>`)}</ul>`;
  if (block.fenced !== undefined) return html`<pre class="fenced" tabindex="0">${block.fenced}</pre>`;
  if (block.head) {
    return html`<div class="wide" tabindex="0" role="region" aria-label="Table"><table><thead><tr>${block.head.map((cell, i) => html`<th key=${i} scope="col">${show(cell)}</th>`)}</tr></thead>
      <tbody>${block.rows.map((row, i) => html`<tr key=${i}>${row.map((cell, j) => html`<td key=${j}>${show(cell)}</td>`)}</tr>`)}</tbody></table></div>`;
  }
  return html`<p>${show(block.paragraph)}</p>`;
}

/** A page in the Markdown that the server writes. */
export function Markdown({ text, linkTo }) {
  return html`<div class="prose">${blocks(text).map((block, i) => html`<${Block} key=${i} block=${block} linkTo=${linkTo} />`)}</div>`;
}
