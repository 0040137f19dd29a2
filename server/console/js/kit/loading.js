// Data of a page that is loaded, kept and loaded again. An answer that a later request has
// overtaken is dropped; what was loaded stays while a later attempt fails. Nothing is loaded while
// nobody looks at the page.

import { signal } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { failed } from "./failed.js";

/**
 * @template T
 * @typedef {object} State
 * @property {T | undefined} data
 * @property {Failed | null} failure
 * @property {number} at
 * @property {boolean} isLoading
 */
/**
 * @template T
 * @typedef {import("@preact/signals").Signal<State<T>>} Loading
 */
/** @typedef {(() => Promise<void>) & {stop: () => void}} Again */

/**
 * Loads with `load(signal)` now, whenever `key` changes, and every `everyMs`. Returns a signal
 * (`{data, failure, at, isLoading}`) and a function to load again.
 * @template T
 * @param {(abort: AbortSignal) => Promise<T> | T} load
 * @param {number} [everyMs]
 * @param {unknown} [key]
 * @returns {[Loading<T>, Again]}
 */
export function useLoaded(load, everyMs = 0, key = "") {
  /** @type {State<T>} */
  const first = { data: undefined, failure: null, at: 0, isLoading: true };
  const state = useMemo(() => signal(first), []);
  const current = useRef(load);
  current.current = load;
  const again = useMemo(() => loader(current, state), []);
  useEffect(() => {
    again();
  }, [key]);
  useEffect(() => again.stop, []);
  useEvery(again, everyMs);
  return [state, again];
}

/**
 * Calls `again` of `useLoaded` every `everyMs` while somebody looks, and when somebody does again; never if it is
 * 0. A load that takes longer than that is not begun anew: it would never end.
 */
export function useEvery(again, everyMs) {
  useEffect(() => {
    if (!everyMs) return undefined;
    const tick = () => {
      if (!document.hidden && !again.isRunning()) again();
    };
    const timer = setInterval(tick, everyMs);
    document.addEventListener("visibilitychange", tick);
    return () => {
      clearInterval(timer);
      document.removeEventListener("visibilitychange", tick);
    };
  }, [everyMs]);
}

/**
 * @template T
 * @param {{current: (abort: AbortSignal) => Promise<T> | T}} load
 * @param {Loading<T>} state
 * @returns {Again}
 */
function loader(load, state) {
  /** @type {AbortController | null} */
  let current = null;
  const again = async () => {
    current?.abort();
    const own = new AbortController();
    current = own;
    state.value = { ...state.value, isLoading: true };
    try {
      const data = await load.current(own.signal);
      if (current === own) state.value = { data, failure: null, at: Date.now(), isLoading: false };
    } catch (failure) {
      if (current === own && !own.signal.aborted) state.value = { ...state.value, failure: failed(failure), isLoading: false };
    }
    if (current === own) current = null;
  };
  again.isRunning = () => current !== null;
  again.stop = () => {
    current?.abort();
    current = null;
  };
  return again;
}
