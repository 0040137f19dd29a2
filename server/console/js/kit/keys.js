// Shortcuts of one key or of `g` and a letter. They can be turned off, and never take what is
// typed into a field.

import { signal } from "@preact/signals";

const SEQUENCE_MS = 1_200;
const STORED = "telltale.shortcuts";

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

/** Declares what a key does, such as `r` or `g h`. Returns a function that undoes it. */
export function bind(keys, label, run) {
  shortcuts.set(keys, { label, run });
  return () => shortcuts.delete(keys);
}

/** Returns the keys with their labels. */
export function list() {
  return [...shortcuts].map(([keys, { label }]) => ({ keys, label }));
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
    const found = shortcuts.get(keys);
    if (found) {
      event.preventDefault();
      found.run();
    } else if (event.key === "g") {
      pending = "g";
      pendingSince = event.timeStamp;
    }
  });
}
