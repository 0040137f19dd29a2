// Shortcuts of one key or of `g` and a letter. They can be turned off, and never take what is
// typed into a field.

import { signal } from "@preact/signals";

const SEQUENCE_MS = 1_200;
const STORED = "telltale.shortcuts";

/** What each key does: of several, the one declared last. */
const shortcuts = new Map();
let pending = "";
let pendingSince = 0;

/** Whether shortcuts work. */
export const areOn = signal(localStorage.getItem(STORED) !== "off");

/** Turns shortcuts on or off, in this browser. */
export function turn(on) {
  areOn.value = on;
  localStorage.setItem(STORED, on ? "on" : "off");
}

/**
 * Declares what a key does, such as `r` or `g h`; `isRepeated` has it done again while the key is held down. Returns
 * a function that undoes it: the key does again what it did before.
 */
export function bind(keys, label, run, { isRepeated = false } = {}) {
  const own = { label, run, isRepeated };
  shortcuts.set(keys, [...(shortcuts.get(keys) ?? []), own]);
  return () => {
    const left = (shortcuts.get(keys) ?? []).filter((one) => one !== own);
    if (left.length > 0) shortcuts.set(keys, left);
    else shortcuts.delete(keys);
  };
}

/** Returns the keys with their labels. */
export function list() {
  return [...shortcuts].map(([keys, all]) => ({ keys, label: all[all.length - 1].label }));
}

function isTyping(target) {
  const fields = "input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable]";
  return target instanceof Element && target.closest(fields) !== null;
}

/** Runs something at Ctrl and a letter, or Command and it, also while somebody types. */
export function onCommand(letter, run) {
  document.addEventListener("keydown", (event) => {
    if (!(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey || event.key !== letter) return;
    if (document.querySelector("dialog[open]")) return;
    event.preventDefault();
    run();
  });
}

/** Runs shortcuts from now on. */
export function listen() {
  document.addEventListener("keydown", (event) => {
    const isShortcut = areOn.value && !event.ctrlKey && !event.metaKey && !event.altKey && event.key.length === 1;
    if (!isShortcut || isTyping(event.target) || document.querySelector("dialog[open]")) return;
    const isFollowing = pending && event.timeStamp - pendingSince < SEQUENCE_MS;
    const keys = isFollowing ? `${pending} ${event.key}` : event.key;
    pending = "";
    const found = shortcuts.get(keys)?.at(-1);
    if (found) {
      event.preventDefault();
      if (!event.repeat || found.isRepeated) found.run();
    } else if (event.key === "g") {
      pending = "g";
      pendingSince = event.timeStamp;
    }
  });
}
