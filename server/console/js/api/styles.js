// Style sheets that only some pages need, loaded once.

import { build } from "./session.js";

const loaded = new Map();

/** Loads a style sheet such as `css/errors.css`; without it a page is still of use. */
export function loadStyle(path) {
  if (!loaded.has(path)) loaded.set(path, attach(path));
  return loaded.get(path);
}

const ofPages = new Set();

/** Loads the style sheets of a page, such as `errors`. */
export function loadPageStyles(names) {
  names.forEach((name) => ofPages.add(name));
  return Promise.all(names.map((name) => loadStyle(`css/${name}.css`)));
}

/** Applies the style sheets of a page, and those of no other page: their classes may have equal names. */
export function showPageStyles(names) {
  for (const name of ofPages) {
    const link = /** @type {HTMLLinkElement} */ (document.querySelector(`link[href$="/css/${name}.css"]`));
    link.media = names.includes(name) ? "all" : "not all";
  }
}

function attach(path) {
  const link = document.createElement("link");
  Object.assign(link, { rel: "stylesheet", href: `/console/-/${build}/${path}` });
  const done = new Promise((resolve) => {
    link.addEventListener("load", resolve);
    link.addEventListener("error", resolve);
  });
  document.head.append(link);
  return done;
}
