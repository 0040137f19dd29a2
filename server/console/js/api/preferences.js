// What a person has chosen, on every browser: an object that the server keeps for the user of the session.

import { signal } from "@preact/signals";
import { failed } from "../kit/failed.js";
import { call, etagOf, get } from "./client.js";

const PATH = "/preferences";
const TRIES = 3;

/** The preferences, or null until they are loaded, and where the server keeps none. */
export const preferences = signal(/** @type {import("telltale").Preferences["preferences"] | null} */ (null));

/** @type {string | null} */
let etag = null;

function take(answer) {
  etag = etagOf(answer);
  preferences.value = answer.data.preferences;
}

/** Loads the preferences once. */
export async function loadPreferences() {
  if (preferences.value === null) take(await get(PATH));
}

/** Changes preferences by `change(preferences)`, which returns new ones; what another browser changes meanwhile stays. */
export async function changePreferences(change) {
  for (let tries = 1; ; tries += 1) {
    try {
      take(await call("PUT", PATH, { body: { preferences: change(preferences.value ?? {}) }, ifMatch: etag }));
      return;
    } catch (failure) {
      if (failed(failure).status !== 412 || tries === TRIES) throw failure;
      take(await get(PATH));
    }
  }
}
