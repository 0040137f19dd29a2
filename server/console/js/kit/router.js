// The place of the page: its path below a base and its query. All state that a link should carry
// is in it. Knows no page.

import { computed, signal } from "@preact/signals";

const BASE = "/console";

function read() {
  const path = location.pathname.slice(BASE.length) || "/";
  return { path, query: new URLSearchParams(location.search) };
}

/** The current place: `{path, query}`. */
export const place = signal(read());

/** The path alone: what depends on it does not change with the query. */
export const path = computed(() => place.value.path);

/** Returns the URL of a path below the base, as links need it; `query` as `{name: value}`. */
export function href(path, query = {}) {
  const text = queryText(new URLSearchParams(), query);
  return (path === "/" ? BASE : BASE + path) + text;
}

function queryText(query, changes) {
  for (const [name, value] of Object.entries(changes)) {
    query.delete(name);
    const values = Array.isArray(value) ? value : [value];
    for (const one of values) if (one !== null && one !== undefined && one !== "") query.append(name, one);
  }
  const text = query.toString();
  return text && `?${text}`;
}

/** Returns the address of this place with other values in its query: `{name: value}`, where null removes. */
export function hrefHere(changes) {
  const { path, query } = place.value;
  return href(path) + queryText(new URLSearchParams(query), changes);
}

let guard = null;

/**
 * Has `holds(place)` decide whether the page must not be left for another place without asking; `ask(leave)`
 * then asks, and calls `leave` if it may. Returns a function that ends it.
 */
export function guardLeaving(holds, ask) {
  const own = { holds, ask };
  guard = own;
  return () => {
    if (guard === own) guard = null;
  };
}

/** Opens a path, which may have a query. */
export function go(path, { replace = false } = {}) {
  const [name, query = ""] = path.split("?");
  const move = () => {
    history[replace ? "replaceState" : "pushState"](null, "", href(path));
    place.value = read();
  };
  if (guard?.holds({ path: name, query: new URLSearchParams(query) })) guard.ask(move);
  else move();
}

/** Shows the place of the address after the way back or forward, unless a page asks first. */
function onPop() {
  const target = read();
  if (!guard?.holds(target)) {
    place.value = target;
    return;
  }
  const { path, query } = place.value;
  const text = query.toString();
  history.pushState(null, "", href(path) + (text && `?${text}`));
  const wanted = target.query.toString();
  guard.ask(() => {
    history.replaceState(null, "", href(target.path) + (wanted && `?${wanted}`));
    place.value = read();
  });
}

/** Changes the query: `{name: value}`, where null removes and a list repeats. */
export function setQuery(changes, { replace = false } = {}) {
  const { path, query } = place.value;
  go(path + queryText(new URLSearchParams(query), changes), { replace });
}

/** Returns a value of the query. */
export function inQuery(name, otherwise = "") {
  return place.value.query.get(name) ?? otherwise;
}

/**
 * Returns the parts of a path that a pattern such as `/errors/:id` names, or null. A last part such as
 * `*rest` takes all parts that are left, at least one.
 */
export function match(pattern, path) {
  const wanted = pattern.split("/");
  const parts = path.split("/");
  const rest = wanted[wanted.length - 1].startsWith("*") ? wanted.pop().slice(1) : null;
  if (rest === null ? wanted.length !== parts.length : wanted.length >= parts.length) return null;
  const params = {};
  if (rest !== null) {
    const values = parts.splice(wanted.length).map(decoded);
    if (!values.every(Boolean)) return null;
    params[rest] = values.join("/");
  }
  for (const [i, name] of wanted.entries()) {
    if (!name.startsWith(":")) {
      if (name !== parts[i]) return null;
      continue;
    }
    const value = decoded(parts[i]);
    if (!value) return null;
    params[name.slice(1)] = value;
  }
  return params;
}

function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return null;
  }
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
  addEventListener("popstate", onPop);
  document.addEventListener("click", (event) => {
    const link = event.defaultPrevented ? null : ownLink(event);
    if (!link) return;
    event.preventDefault();
    go((link.pathname.slice(BASE.length) || "/") + link.search);
  });
}
