// Reads ahead: what somebody will probably open next is there when they do.

import { getExact } from "./client.js";

/** @import { Answer, Route } from "./answers.js" */

const FRESH_MS = 15_000;
const KEPT_MAX = 24;
const ahead = new Map();

/** Begins to read a path. */
export function readAhead(path) {
  const known = ahead.get(path);
  if (known && Date.now() - known.at < FRESH_MS) return;
  const promise = getExact(path);
  promise.catch(() => ahead.delete(path));
  ahead.set(path, { at: Date.now(), promise });
  if (ahead.size > KEPT_MAX) ahead.delete(ahead.keys().next().value);
}

/**
 * Reads a path, or takes what was read ahead, once.
 * @template {string} P
 * @param {P & Route<"GET", P>} path
 * @param {AbortSignal} [abort]
 * @returns {Promise<Answer<"GET", P>>}
 */
export function take(path, abort) {
  const known = ahead.get(path);
  ahead.delete(path);
  return known && Date.now() - known.at < FRESH_MS ? known.promise : getExact(/** @type {string} */ (path), abort);
}
