// What the pages of code say of repositories, and the addresses of what is in them.

import { get } from "../api/client.js";
import { html } from "../kit/html.js";
import { href } from "../kit/router.js";

const STATES = {
  pending: ["waiting for its first sync", "warn"],
  syncing: ["syncing", "warn"],
  synced: ["synced", "good"],
  failed: ["sync failed", "bad"],
};

export function State({ name }) {
  const [word, kind] = STATES[name] ?? [name, ""];
  return html`<span class=${`tag ${kind}`}>${word}</span>`;
}

/**
 * The path of the API for a repository.
 * @template {string} [R=""]
 * @param {string} id
 * @param {R} [rest]
 */
export const apiOf = (id, rest) =>
  /** @type {`/repositories/${string}${R}`} */ (`/repositories/${encodeURIComponent(id)}${rest ?? ""}`);
export const pathOf = (id, rest = "") => `/code/${encodeURIComponent(id)}${rest}`;

const encoded = (path) => path.split("/").map(encodeURIComponent).join("/");

/** Returns the path of the API for a file. */
export const fileApi = (id, path) => apiOf(id, `/files/${encoded(path)}`);

/** Returns lines as the API and addresses have them: `10-20`. */
export const linesText = (start, end) => (start === end || !end ? String(start) : `${start}-${end}`);

/** Returns the address of a file, at some lines. */
export function fileLink(id, path, start, end) {
  return href(pathOf(id, `/files/${encoded(path)}`), { lines: start ? linesText(start, end) : null });
}

/** Returns where lines are, in words. */
export const placeText = (path, start, end) => `${path}:${start === end ? start : `${start}–${end}`}`;

/** Parses `10-20`, or `10`. */
export function parseLines(text) {
  const [, start, end] = /^(\d{1,9})(?:-(\d{1,9}))?$/.exec(text.trim().replace("–", "-")) ?? [];
  const lines = start && { start: Number(start), end: Number(end ?? start) };
  return lines && lines.start >= 1 && lines.start <= lines.end ? lines : null;
}

/** A path that breaks where its folders end. */
export function FilePath({ path }) {
  return html`<span class="path">${path.split(/(?<=[/_.-])/).map((part, i) => html`<span key=${i}>${part}</span><wbr />`)}</span>`;
}

/** The repositories as they were loaded last: pages show their names at once. */
export const known = new Map();

export async function loadRepository(id, abort) {
  const repository = await get(apiOf(id), abort);
  known.set(id, repository);
  return repository;
}
