// Lines of source code with their numbers, in colours; some of them can be chosen, by clicks on the
// numbers or by the arrow keys, with shift for more than one.

import { useEffect, useMemo, useRef } from "preact/hooks";
import { useElement } from "../kit/element.js";
import { highlight, languageOf } from "../kit/highlight.js";
import { html } from "../kit/html.js";

const COLOURED_CHARS_MAX = 300_000;
const COLOURED_LINE_MAX = 2_000;

function tokensOf(lines, language) {
  const chars = lines.reduce((sum, line) => sum + line.length, 0);
  const isPlain = chars > COLOURED_CHARS_MAX || lines.some((line) => line.length > COLOURED_LINE_MAX);
  return highlight(lines, isPlain ? "" : language);
}

/** Returns the lines of a text; the end of the last one begins no further line. */
export function linesOf(text) {
  if (!text) return [];
  return (text.endsWith("\n") ? text.slice(0, -1) : text).split(/\r?\n/);
}

/** Moves the chosen lines by a key; returns them, or nothing for other keys. */
function moved(event, chosen, first, last) {
  const by = { ArrowDown: 1, ArrowUp: -1, PageDown: 20, PageUp: -20 }[event.key];
  if (!by) return null;
  if (!chosen) return { start: first, end: first, head: first };
  const within = (line) => Math.max(first, Math.min(last, line));
  const head = within((chosen.head ?? (by > 0 ? chosen.end : chosen.start)) + by);
  if (!event.shiftKey) return { start: head, end: head, head };
  const tail = chosen.head === chosen.start ? chosen.end : chosen.start;
  return { start: Math.min(head, tail), end: Math.max(head, tail), head };
}

/** `chosen` is `{start, end}`; `onChoose` gets it, or null. */
export function CodeLines({ path, language, lines, first = 1, label, chosen, onChoose }) {
  const box = /** @type {ElementRef<HTMLDivElement>} */ (useElement());
  const head = useRef(/** @type {number | null} */ (null));
  const rows = useMemo(() => tokensOf(lines, language || languageOf(path)).map((tokens, i) => html`<span key=${i} class="source-line" data-line=${first + i}>${tokens.map(({ kind, text }, j) => (kind
    ? html`<span key=${j} class=${`tk-${kind}`}>${text}</span>` : text))}${"\n"}</span>`), [lines, first, language, path]);
  useEffect(() => {
    const all = box.current.querySelectorAll(".source-line");
    all.forEach((row, i) => row.classList.toggle("chosen", Boolean(chosen) && first + i >= chosen.start && first + i <= chosen.end));
    const row = all[(head.current ?? chosen?.start ?? 0) - first];
    if (chosen && row) row.scrollIntoView({ block: head.current === null ? "center" : "nearest" });
  }, [chosen?.start, chosen?.end, rows]);
  const choose = (next) => {
    head.current = next?.head ?? null;
    onChoose(next);
  };
  const onKeyDown = (event) => {
    if (!onChoose || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape" && chosen) return choose(null);
    const next = moved(event, chosen && { ...chosen, head: head.current }, first, first + lines.length - 1);
    if (!next) return undefined;
    event.preventDefault();
    return choose(next);
  };
  const onClick = (event) => {
    const row = event.target.closest(".source-line");
    if (!onChoose || !row || event.clientX - row.getBoundingClientRect().left > Number.parseFloat(getComputedStyle(row).paddingLeft)) return;
    const line = Number(row.dataset.line);
    if (event.shiftKey && chosen) choose({ start: Math.min(chosen.start, line), end: Math.max(chosen.end, line), head: line });
    else choose({ start: line, end: line, head: line });
  };
  return html`<div class=${`source ${onChoose ? "choosing" : ""} digits${String(first + lines.length).length}`} ref=${box} tabindex="0" role="region" aria-label=${label} onKeyDown=${onKeyDown}
    onClick=${onClick}><code>${rows}</code></div>`;
}
