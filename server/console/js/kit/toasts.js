// Short messages about what was done, which go away by themselves.

import { signal } from "@preact/signals";
import { failed } from "./failed.js";

const SHOWN_MS = 6_000;
const SHOWN_MAX = 4;
let ids = 0;

/** @typedef {() => unknown} Undo */
/** @typedef {{id: number, text: string, kind: string, undo: Undo | null}} Toast */

/** The messages that are shown: `[{id, text, kind, undo}]`. */
export const toasts = signal(/** @type {Toast[]} */ ([]));

/** Takes a message away. */
export function dismiss(id) {
  toasts.value = toasts.value.filter((toast) => toast.id !== id);
}

/**
 * Shows a message; `kind` is `good` or `bad`. One with `undo`, or that is bad, stays longer.
 * @param {string} text
 * @param {{kind?: string, undo?: Undo | null}} [options]
 */
export function toast(text, { kind = "good", undo = null } = {}) {
  const id = (ids += 1);
  toasts.value = [...toasts.value, { id, text, kind, undo }].slice(-SHOWN_MAX);
  setTimeout(() => dismiss(id), undo || kind === "bad" ? 2 * SHOWN_MS : SHOWN_MS);
}

/**
 * Does something and says that it is done, or why it failed. Returns whether it is done. `text` may
 * be a function of what `work` returns.
 * @template T
 * @param {() => T | Promise<T>} work
 * @param {string | ((result: T) => string) | null} [text]
 * @param {{undo?: Undo | null}} [options]
 */
export async function doing(work, text, options) {
  try {
    const result = await work();
    if (text) toast(typeof text === "function" ? text(result) : text, options);
    return true;
  } catch (thrown) {
    const failure = failed(thrown);
    const scope = failure.missingScope;
    toast(scope ? `Your key lacks the scope “${scope}”.` : `Not done: ${failure.message}.`, { kind: "bad" });
    return false;
  }
}
