// A dashboard on the whole screen, for a wall: nothing but its widgets.

import { useEffect } from "preact/hooks";
import { hour } from "../kit/format.js";
import { html } from "../kit/html.js";
import { inQuery, setQuery } from "../kit/router.js";
import { Icon } from "../parts/icon.js";

const leave = () => setQuery({ screen: null });

/** Returns whether the address asks for the whole screen, and takes the frame away while it does. */
export function useScreen() {
  const isOn = Boolean(inQuery("screen"));
  useEffect(() => {
    const { dataset } = document.documentElement;
    if (!isOn) return undefined;
    dataset.screen = "";
    // Browsers refuse it without a click; the frame is gone in any case.
    document.documentElement.requestFullscreen?.().catch(() => undefined);
    const onKeyDown = (event) => {
      if (event.key === "Escape" && !document.querySelector("dialog[open]")) leave();
    };
    // Escape ends it before any script hears the key.
    const onChange = () => {
      if (!document.fullscreenElement) leave();
    };
    document.addEventListener("keydown", onKeyDown);
    document.addEventListener("fullscreenchange", onChange);
    return () => {
      delete dataset.screen;
      document.removeEventListener("keydown", onKeyDown);
      document.removeEventListener("fullscreenchange", onChange);
      if (document.fullscreenElement) document.exitFullscreen().catch(() => undefined);
    };
  }, [isOn]);
  return isOn;
}

/** `at` is when the values were loaded, in milliseconds. */
export function Screen({ title, at, children }) {
  useEffect(() => {
    document.title = `${title} · Telltale`;
  }, [title]);
  return html`<div class="screen">
    <header><h1 tabindex="-1">${title}</h1><span class="quiet small">${at ? `as of ${hour(at)}` : ""}</span>
      <button type="button" class="button plain small" aria-label="Leave the full screen" onClick=${leave}><${Icon} name="minimize-2" /></button></header>
    ${children}
  </div>`;
}
