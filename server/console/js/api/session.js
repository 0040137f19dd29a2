// Who is signed in, and what the server has.

import { computed, effect, signal } from "@preact/signals";
import { get, needsSignIn, resume, send, whenSignedIn } from "./client.js";

/** @import { Caller, ServerDescription, SignInInput } from "telltale" */

const STORED = "telltale.signed_in";

/** The build that this page was loaded with, a part of the paths of its files. */
export const build = new URL(import.meta.url).pathname.split("/")[3];

/** The caller, or null: `{user, scopes, key, session}`. */
export const caller = signal(/** @type {Caller | null} */ (null));

/** The server, or null: `{version, areas, console_build}`. */
export const server = signal(/** @type {ServerDescription | null} */ (null));

/** Whether the server has another build of the console than this page. */
export const isOutdated = signal(false);

/** Returns whether the caller has a scope. */
export const may = (scope) => {
  const scopes = caller.value?.scopes ?? [];
  return scopes.includes(scope) || scopes.includes("admin");
};

export const areas = computed(() => server.value?.areas ?? []);

/**
 * Opens a session with `{key}` or `{code}`; requests that waited for one go on. Those of another user are dropped
 * with all that is shown: nothing is done in the name of somebody who did not ask for it.
 * @param {SignInInput} credential
 */
export async function signIn(credential) {
  const { data } = await send("POST", "/session", { body: credential });
  if (caller.value && caller.value.user !== data.user) {
    location.reload();
    return;
  }
  caller.value = data;
  resume();
}

/** Ends the session. */
export async function signOut() {
  await send("DELETE", "/session");
  localStorage.removeItem(STORED);
  location.assign("/console");
}

effect(() => {
  if (needsSignIn.value) localStorage.removeItem(STORED);
});

/** Learns who is signed in, and waits until somebody is. */
async function loadCaller() {
  caller.value = (await get("/session")).data;
}

/**
 * Learns who is signed in and what the server has. A browser in which nobody was signed in before asks first whether
 * there is a session: it logs requests that fail.
 */
export async function loadSession() {
  if (localStorage.getItem(STORED) === null && !(await get("/session/state")).data.signed_in) await whenSignedIn();
  await Promise.all([loadCaller(), loadServer()]);
  localStorage.setItem(STORED, "yes");
}

/** Learns what the server has, and whether this page is of another build. */
export async function loadServer() {
  const { data } = await get("/server");
  server.value = data;
  if (data.console_build !== build) isOutdated.value = true;
}
