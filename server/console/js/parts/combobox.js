// A text with suggestions that come as it is typed: the combobox pattern of ARIA. Arrow keys move
// through the suggestions, Enter takes one, Escape closes the list and then clears what was typed.

import { useEffect, useRef, useState } from "preact/hooks";
import { useElement } from "../kit/element.js";
import { failed } from "../kit/failed.js";
import { amount } from "../kit/format.js";
import { html } from "../kit/html.js";
import { Icon } from "./icon.js";

/** So short that suggestions follow what is typed; a later key drops what an earlier one asked for. */
const TYPED_MS = 40;
/** @type {{options: any[], total: number, isOpen: boolean, active: number, failure: string}} */
const CLOSED = { options: [], total: 0, isOpen: false, active: -1, failure: "" };

/**
 * Asks for suggestions soon after something was typed; what a later text has overtaken is dropped. The first
 * one is active, unless what was typed can be meant as it is.
 */
function useSuggestions(load, onList, isFree) {
  const current = useRef({ timer: 0, abort: /** @type {AbortController | null} */ (null), isAsking: false, onList });
  current.current.onList = onList;
  const stop = () => {
    clearTimeout(current.current.timer);
    current.current.abort?.abort();
    current.current.abort = null;
    current.current.isAsking = false;
  };
  const setList = (list) => {
    current.current.isAsking = false;
    current.current.onList(list);
  };
  const ask = (text, wait = TYPED_MS) => {
    stop();
    current.current.isAsking = true;
    current.current.timer = setTimeout(async () => {
      const own = new AbortController();
      current.current.abort = own;
      try {
        const { options, total = options.length } = await load(text, own.signal);
        if (current.current.abort === own) setList({ options, total, isOpen: true, active: options.length > 0 && text && !isFree ? 0 : -1, failure: "" });
      } catch (thrown) {
        const failure = failed(thrown);
        if (current.current.abort === own && !own.signal.aborted) setList({ ...CLOSED, isOpen: true, failure: failure.message });
      }
    }, wait);
  };
  useEffect(() => stop, []);
  return { ask, stop, isAsking: () => current.current.isAsking };
}

function statusOf({ options, total, isOpen, failure }) {
  if (!isOpen) return "";
  if (failure) return `Not loaded: ${failure}.`;
  if (options.length === 0) return "Nothing found.";
  if (total > options.length) return `${options.length} of ${amount(total)} shown: type more to find the others.`;
  return `${options.length} found.`;
}

function targetOf(key, { options, active }) {
  const last = options.length - 1;
  if (key === "ArrowDown") return active >= last ? 0 : active + 1;
  if (key === "ArrowUp") return active <= 0 ? last : active - 1;
  return null;
}

function List({ id, label, list, onPick, onHover }) {
  return html`<div class="suggestions">
    <ul id=${id} role="listbox" aria-label=${label}>${list.options.map((option, index) => html`<li key=${option.value} id=${`${id}-${index}`} role="option"
      aria-selected=${index === list.active ? "true" : "false"} onMouseDown=${(event) => event.preventDefault()} onClick=${() => onPick(option)} onMouseMove=${() => onHover(index)}>
      <span class="what">${option.label ?? option.value}</span>${option.note && html`<span class="quiet small">${option.note}</span>`}</li>`)}</ul>
    ${(list.failure || list.options.length === 0 || list.total > list.options.length) && html`<p class="quiet small">${statusOf(list)}</p>`}
  </div>`;
}

/**
 * `load(text, signal)` returns `{options: [{value, label, note}], total}`; `onChoose(value)` gets the chosen
 * value, or what was typed if `isFree`: at Enter, and when the focus leaves if `isTakenOnBlur`. `value`
 * is what is chosen now; a field that is cleared goes back to it.
 */
export function Combobox({ id, label, value = "", load, onChoose, placeholder = "", isFree = false, isTakenOnBlur = isFree, isLabelUnseen = false, isFocused = false, isCleared = false, icon = "search" }) {
  const field = /** @type {ElementRef<HTMLInputElement>} */ (useElement());
  const [list, setList] = useState(CLOSED);
  // Whether Enter waits for the suggestions to what was typed, and whether one of those shown was picked since.
  const isEntered = useRef(false);
  const isPicked = useRef(false);
  const { ask, stop, isAsking } = useSuggestions(load, (next) => {
    const first = isEntered.current && next.active === 0 ? next.options[0] : null;
    isEntered.current = false;
    // What was picked from an earlier list stays picked, if it is in this one too.
    const picked = isPicked.current ? list.options[list.active]?.value : null;
    const kept = picked === null ? -1 : next.options.findIndex(({ value: suggested }) => suggested === picked);
    isPicked.current = kept >= 0;
    if (first) choose(first.value);
    else setList(kept >= 0 ? { ...next, active: kept } : next);
  }, isFree);
  const pick = (active) => {
    isPicked.current = true;
    setList({ ...list, active });
  };
  const close = () => {
    isEntered.current = false;
    stop();
    setList(CLOSED);
  };
  // The value can change under the field: a link, or the way back.
  useEffect(() => {
    if (field.current && field.current.value !== value) field.current.value = value;
  }, [value]);
  useEffect(() => {
    if (isFocused) field.current?.focus();
  }, []);
  useEffect(() => {
    if (list.active >= 0) document.getElementById(`${id}-list-${list.active}`)?.scrollIntoView({ block: "nearest" });
  }, [list.active]);
  const choose = (chosen) => {
    close();
    field.current.value = isCleared ? value : chosen;
    onChoose(chosen);
  };
  const onKeyDown = (event) => {
    if (event.isComposing) return;
    const target = targetOf(event.key, list);
    if (target !== null) {
      event.preventDefault();
      if (list.isOpen) pick(target);
      else ask(field.current.value === value ? "" : field.current.value, 0);
    } else if (event.key === "Enter") {
      event.preventDefault();
      // What is shown may be of an earlier text.
      const isOfEarlier = isAsking() && !isPicked.current;
      const option = list.isOpen && !isOfEarlier ? list.options[list.active] : null;
      if (isOfEarlier && !isFree) isEntered.current = true;
      else if (option) choose(option.value);
      else if (isFree) choose(field.current.value);
    } else if (event.key === "Escape" && (list.isOpen || field.current.value !== value)) {
      event.preventDefault();
      event.stopPropagation();
      if (!list.isOpen) field.current.value = value;
      close();
    }
  };
  const onInput = (event) => {
    isEntered.current = false;
    isPicked.current = false;
    ask(event.currentTarget.value);
  };
  const onBlur = () => {
    // A field that is taken away loses the focus as well.
    if (!field.current) return;
    const typed = field.current.value;
    if (typed === value) return close();
    if (isTakenOnBlur) return choose(typed);
    if (!isFree) field.current.value = value;
    return close();
  };
  const isShown = list.isOpen;
  return html`<div class="field combobox"><label for=${id} class=${isLabelUnseen ? "unseen" : null}>${label}</label>
    <div class="search"><${Icon} name=${icon} />
      <input id=${id} ref=${field} type="text" role="combobox" aria-autocomplete="list" aria-expanded=${isShown ? "true" : "false"}
        aria-controls=${isShown ? `${id}-list` : null} aria-activedescendant=${isShown && list.active >= 0 ? `${id}-list-${list.active}` : null}
        defaultValue=${value} placeholder=${placeholder} autocomplete="off" autocapitalize="off" spellcheck=${false}
        onInput=${onInput} onClick=${() => !list.isOpen && ask(field.current.value === value ? "" : field.current.value, 0)}
        onKeyDown=${onKeyDown} onBlur=${onBlur} />
      ${isShown && html`<${List} id=${`${id}-list`} label=${label} list=${list} onPick=${(option) => choose(option.value)}
        onHover=${(active) => active !== list.active && pick(active)} />`}</div>
    <p class="unseen" role="status">${statusOf(list)}</p></div>`;
}
