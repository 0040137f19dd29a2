// Style sheets that only some pages need, loaded once.

import { build } from "./session.js";

const loaded = new Map();

/** Loads a style sheet such as `css/errors.css`; without it a page is still of use. */
export function loadStyle(path) {
  if (!loaded.has(path)) loaded.set(path, attach(path));
  return loaded.get(path);
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
