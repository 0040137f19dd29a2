// The palette: goes to any page, and to anything that has a name, in any area. Arrow keys move
// through what is found, Enter goes there.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { failed } from "../kit/failed.js";
import { html } from "../kit/html.js";
import { go } from "../kit/router.js";
import { Dialog } from "./dialog.js";
import { Icon } from "./icon.js";

const TYPED_MS = 120;

/** Returns the pages whose names have all words of a text, those that begin with it first. */
function pagesFor(pages, text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = ({ label }) => words.every((word) => label.toLowerCase().includes(word));
  const begins = ({ label }) => label.toLowerCase().startsWith(text.toLowerCase());
  const found = pages.filter(fits).map(({ path, label, icon, keys }) => ({ key: path, label, icon, path, note: keys ? `page · ${keys}` : "page" }));
  return found.sort((a, b) => begins(b) - begins(a));
}

/**
 * Searches soon after something was typed; what a later text has overtaken is dropped.
 * @returns {[{text: string, places: any[], failure: string}, (text: string) => void]}
 */
function useSearch(search) {
  const [found, setFound] = useState({ text: "", places: /** @type {any[]} */ ([]), failure: "" });
  const current = useRef({ timer: 0, abort: /** @type {AbortController | null} */ (null) });
  const stop = () => {
    clearTimeout(current.current.timer);
    current.current.abort?.abort();
  };
  useEffect(() => stop, []);
  const ask = (text) => {
    stop();
    if (!text.trim()) {
      setFound({ text, places: [], failure: "" });
      return;
    }
    const abort = new AbortController();
    current.current = {
      abort,
      timer: setTimeout(async () => {
        try {
          const places = await search(text.trim(), abort.signal);
          if (!abort.signal.aborted) setFound({ text, places, failure: "" });
        } catch (thrown) {
          const failure = failed(thrown);
          if (!abort.signal.aborted) setFound({ text, places: [], failure: failure.message });
        }
      }, TYPED_MS),
    };
  };
  return [found, ask];
}

function Item({ item, index, isActive, onGo, onHover }) {
  return html`<li id=${`palette-${index}`} role="option" aria-selected=${isActive ? "true" : "false"} onMouseMove=${() => onHover(index)} onClick=${() => onGo(item)}>
    <${Icon} name=${item.icon ?? "arrow-right"} /><span class="what">${item.label}</span><span class="quiet small">${item.note}</span></li>`;
}

/** `pages`: `{path, label, icon, keys}`; `search(text, signal)` returns `[{key, label, note, path}]`. */
export function Palette({ pages, search, onClose }) {
  const [text, setText] = useState("");
  const [active, setActive] = useState(0);
  const [found, ask] = useSearch(search);
  const isEntered = useRef(false);
  const items = useMemo(() => [...pagesFor(pages, text.trim()), ...(text.trim() ? found.places : [])], [pages, text, found]);
  const at = Math.min(active, items.length - 1);
  useEffect(() => document.getElementById(`palette-${at}`)?.scrollIntoView({ block: "nearest" }), [at]);
  const goTo = (item) => {
    onClose();
    go(item.path);
  };
  const isAsking = Boolean(text.trim()) && found.text !== text;
  // Enter was pressed before the answer to this text was there.
  useEffect(() => {
    if (!isEntered.current || isAsking) return;
    isEntered.current = false;
    if (items[at]) goTo(items[at]);
  }, [found]);
  const onInput = (event) => {
    isEntered.current = false;
    setText(event.currentTarget.value);
    setActive(0);
    ask(event.currentTarget.value);
  };
  const onKeyDown = (event) => {
    if (event.isComposing) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && items.length > 0) {
      event.preventDefault();
      setActive((at + step + items.length) % items.length);
    } else if (event.key === "Enter") {
      event.preventDefault();
      // What is first may be of an earlier text.
      if (isAsking && at <= 0 && (!items[at] || found.places.includes(items[at]))) isEntered.current = true;
      else if (items[at]) goTo(items[at]);
    }
  };
  const status = isAsking ? "Searching…" : found.failure ? `Not searched: ${found.failure}.` : items.length === 0 ? "Nothing found." : `${items.length} found.`;
  return html`<${Dialog} title="Go to" onClose=${onClose}>
    <div class="palette">
      <div class="search"><label class="unseen" for="palette-text">Page, or the name of anything</label><${Icon} name="search" />
        <input id="palette-text" type="text" role="combobox" aria-expanded="true" aria-controls="palette-list" aria-autocomplete="list" autofocus
          aria-activedescendant=${items.length > 0 ? `palette-${at}` : null} placeholder="Page, or the name of anything" autocomplete="off" spellcheck=${false}
          onInput=${onInput} onKeyDown=${onKeyDown} /></div>
      <ul id="palette-list" role="listbox" aria-label="What was found">${items.map((item, index) => html`<${Item} key=${item.key} item=${item} index=${index} isActive=${index === at} onGo=${goTo} onHover=${setActive} />`)}</ul>
      <p class="quiet small" role="status">${status}</p>
    </div>
  <//>`;
}
