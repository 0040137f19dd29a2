// Requests to the API, in the session of the browser.
//
// Without a session a request waits until somebody signs in over the page, and is then sent again:
// nothing was done. A server that asks to wait is given that time.

import { signal } from "@preact/signals";
import { failed } from "../kit/failed.js";
import { parse } from "../kit/json.js";
import { pause } from "../kit/pause.js";
import { ApiFailure, failureOf, unreachable } from "./failure.js";

/** @import { Answer, Body, CallOptions, Route } from "./answers.js" */
/** @typedef {RequestInit & {isExact?: boolean}} Sent */

const WAITS_MAX = 3;
const WAIT_SECONDS_MAX = 60;

/** Whether requests wait for somebody to sign in. */
export const needsSignIn = signal(false);

/** Until when the server asked to wait, in milliseconds, and why; or null. */
export const waiting = signal(/** @type {{until: number, why: string} | null} */ (null));

/**
 * The ETags of responses.
 * @type {WeakMap<object, string>}
 */
const tags = new WeakMap();

/**
 * Returns the ETag of what `get` or `call` returned, or null.
 * @param {object} answer
 */
export const etagOf = (answer) => tags.get(answer) ?? null;

/** @type {{promise: Promise<void>, done: () => void} | null} */
let signedIn = null;

/** Waits until somebody has signed in. */
export function whenSignedIn() {
  if (!signedIn) {
    let done = () => {};
    const promise = new Promise((/** @type {(value: void) => void} */ resolve) => {
      done = resolve;
    });
    signedIn = { promise, done };
  }
  needsSignIn.value = true;
  return signedIn.promise;
}

/** Lets the requests that wait go on. */
export function resume() {
  needsSignIn.value = false;
  signedIn?.done();
  signedIn = null;
}

/** Returns a key that makes repeated requests count once. */
function randomKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/**
 * @param {string} method
 * @param {CallOptions} options
 * @returns {RequestInit}
 */
function init(method, { body, abort, ifMatch, headers: own }) {
  /** @type {Record<string, string>} */
  const headers = { Accept: "application/json", ...own };
  if (ifMatch) headers["If-Match"] = ifMatch;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (method === "POST") headers["Idempotency-Key"] = randomKey();
  return { method, headers, body: body === undefined ? undefined : JSON.stringify(body), signal: abort, cache: "no-cache" };
}

/**
 * Sends a request once and returns the JSON of its response.
 * @template {string} M
 * @template {string} P
 * @param {M} method
 * @param {P & Route<M, P>} path
 * @param {Pick<CallOptions<Body<M, P>>, "body" | "abort">} [options]
 * @returns {Promise<Answer<M, P>>}
 */
export async function send(method, path, { body, abort } = {}) {
  return attempt(path, init(method, { body, abort }));
}

/**
 * @param {string} path
 * @param {Sent} options
 */
async function attempt(path, options) {
  let response;
  try {
    response = await fetch(`/api/v1${path}`, options);
  } catch (error) {
    if (options.signal?.aborted) throw error;
    throw unreachable();
  }
  if (!response.ok) throw await failureOf(response);
  const answer = options.isExact ? parse(await response.text()) : await response.json();
  const tag = response.headers.get("ETag");
  if (tag && answer !== null && typeof answer === "object") tags.set(answer, tag);
  return answer;
}

/** @returns {failure is ApiFailure} */
function isBusy(failure) {
  return failure instanceof ApiFailure && [429, 503].includes(failure.status);
}

/**
 * @param {ApiFailure} failure
 * @param {AbortSignal} [abort]
 */
async function waitAsAsked(failure, abort) {
  const seconds = Math.min(failure.retryAfter ?? 1, WAIT_SECONDS_MAX);
  const until = Date.now() + seconds * 1000;
  waiting.value = { until, why: failure.message };
  await pause(seconds * 1000, abort);
  if (waiting.value?.until === until) waiting.value = null;
}

/**
 * Sends a request, as often as it takes, and returns the JSON of its response. With `ifMatch` it
 * fails with 412 if the resource has another ETag by now. `headers` are further ones, such as `Prefer`.
 * @template {string} M
 * @template {string} P
 * @param {M} method
 * @param {P & Route<M, P>} path
 * @param {CallOptions<Body<M, P>>} [given]
 * @returns {Promise<Answer<M, P>>}
 */
export async function call(method, path, given = {}) {
  const { abort, isExact = false } = given;
  const options = { ...init(method, given), isExact };
  for (let waits = 0; ; ) {
    try {
      return await attempt(path, options);
    } catch (failure) {
      if (failed(failure).status === 401) {
        await whenSignedIn();
      } else if (isBusy(failure) && waits < WAITS_MAX) {
        waits += 1;
        await waitAsAsked(failure, abort);
      } else {
        throw failure;
      }
      abort?.throwIfAborted();
    }
  }
}

/**
 * @template {string} P
 * @param {P & Route<"GET", P>} path
 * @param {AbortSignal} [abort]
 * @returns {Promise<Answer<"GET", P>>}
 */
export const get = (path, abort) => call("GET", /** @type {string} */ (path), { abort });

/**
 * Reads something whose numbers are shown exactly as they are; see `kit/json.js`.
 * @template {string} P
 * @param {P & Route<"GET", P>} path
 * @param {AbortSignal} [abort]
 * @returns {Promise<Answer<"GET", P>>}
 */
export const getExact = (path, abort) => call("GET", /** @type {string} */ (path), { abort, isExact: true });
