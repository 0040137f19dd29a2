// The place of the page: its path below a base and its query. All state that a link should carry
// is in it. Knows no page.

import { signal } from "@preact/signals";

const BASE = "/console";

function read() {
  const path = location.pathname.slice(BASE.length) || "/";
  return { path, query: new URLSearchParams(location.search) };
}

/** The current place: `{path, query}`. */
export const place = signal(read());

/** Returns the URL of a path below the base, as links need it. */
export function href(path) {
  return path === "/" ? BASE : BASE + path;
}

/** Opens a path. */
export function go(path, { replace = false } = {}) {
  history[replace ? "replaceState" : "pushState"](null, "", href(path));
  place.value = read();
}

function takeFragment(name) {
  const value = new URLSearchParams(location.hash.slice(1)).get(name);
  if (value !== null) history.replaceState(null, "", location.pathname + location.search);
  return value;
}

/**
 * Returns a signal with the value that the fragment has under a name, now or when somebody opens a
 * link with it in this tab; it is removed from the address.
 */
export function fragment(name) {
  const value = signal(takeFragment(name) ?? "");
  addEventListener("hashchange", () => {
    value.value = takeFragment(name) ?? value.value;
  });
  return value;
}

function ownLink(event) {
  const isPlain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
  const link = event.target instanceof Element ? event.target.closest("a[href]") : null;
  if (!isPlain || !link || link.target || link.origin !== location.origin) return null;
  const isOwn = link.pathname === BASE || link.pathname.startsWith(`${BASE}/`);
  return isOwn && !link.hash ? link : null;
}

/** Follows links below the base without loading the document again. */
export function listen() {
  addEventListener("popstate", () => {
    place.value = read();
  });
  document.addEventListener("click", (event) => {
    const link = event.defaultPrevented ? null : ownLink(event);
    if (!link) return;
    event.preventDefault();
    go((link.pathname.slice(BASE.length) || "/") + link.search);
  });
}
