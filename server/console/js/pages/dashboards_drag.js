// Moves and resizes widgets with a pointer: they snap to the grid while they are dragged, so that what
// one sees is what it will be.

import { useEffect, useRef } from "preact/hooks";
import { COLUMNS, isSame, placed, within } from "./dashboards_layout.js";

const EDGE = 56;
const SCROLL_MAX = 14;

/** Returns how far one column and one row are, in pixels. */
function pitchOf(grid) {
  const { columnGap, rowGap, gridAutoRows } = getComputedStyle(grid);
  const gap = parseFloat(columnGap) || 0;
  return { x: (grid.clientWidth + gap) / COLUMNS, y: (parseFloat(gridAutoRows) || 64) + (parseFloat(rowGap) || 0) };
}

/** Returns how far the page scrolls by itself at a height of the pointer. */
function scrollAt(y) {
  if (y < EDGE) return -Math.ceil(((EDGE - y) / EDGE) * SCROLL_MAX);
  const below = y - (innerHeight - EDGE);
  return below > 0 ? Math.ceil((below / EDGE) * SCROLL_MAX) : 0;
}

/**
 * Returns a function to begin with: `(event, id, kind)`, where `kind` is `move` or `resize`. `onShow(items)` shows
 * how it would be, `onDone(items)` keeps it, `onDone(null)` does not.
 */
export function useDrag(items, { onShow, onDone }) {
  const current = useRef(/** @type {{id: string, items: any[], shown: any[], at: any, stop: () => void} | null} */ (null));
  const latest = useRef({ onShow, onDone });
  latest.current = { onShow, onDone };
  const end = (isKept) => {
    const drag = current.current;
    if (!drag) return;
    current.current = null;
    drag.stop();
    latest.current.onDone(isKept && drag.shown !== drag.items ? drag.shown : null, drag.id);
  };
  useEffect(() => () => end(false), []);
  return (event, id, kind) => {
    if (event.button !== 0 || current.current) return;
    const grid = event.currentTarget.closest(".board");
    const { position } = items.find((item) => item.id === id);
    const pitch = pitchOf(grid);
    const begin = { x: event.clientX, y: event.clientY, scroll: scrollY };
    const target = event.currentTarget;
    const drag = { id, items, shown: items, at: position, stop: () => {} };
    let pointer = { x: event.clientX, y: event.clientY };
    const show = () => {
      const dx = Math.round((pointer.x - begin.x) / pitch.x);
      const dy = Math.round((pointer.y - begin.y + scrollY - begin.scroll) / pitch.y);
      const wanted = kind === "move"
        ? { ...position, x: position.x + dx, y: position.y + dy }
        : { ...position, width: Math.min(COLUMNS - position.x, position.width + dx), height: position.height + dy };
      const at = within(wanted);
      if (isSame(at, drag.at)) return;
      drag.at = at;
      drag.shown = isSame(at, position) ? items : placed(items, id, at);
      latest.current.onShow(drag.shown);
    };
    const onMove = (moved) => {
      pointer = { x: moved.clientX, y: moved.clientY };
      show();
    };
    const onUp = () => end(true);
    const onCancel = () => end(false);
    const onKeyDown = (pressed) => {
      if (pressed.key !== "Escape") return;
      pressed.preventDefault();
      pressed.stopPropagation();
      end(false);
    };
    const timer = setInterval(() => {
      const by = scrollAt(pointer.y);
      if (by === 0) return;
      scrollBy(0, by);
      show();
    }, 16);
    drag.stop = () => {
      clearInterval(timer);
      target.removeEventListener("pointermove", onMove);
      target.removeEventListener("pointerup", onUp);
      target.removeEventListener("pointercancel", onCancel);
      document.removeEventListener("keydown", onKeyDown, true);
    };
    current.current = drag;
    target.setPointerCapture(event.pointerId);
    target.addEventListener("pointermove", onMove);
    target.addEventListener("pointerup", onUp);
    target.addEventListener("pointercancel", onCancel);
    document.addEventListener("keydown", onKeyDown, true);
  };
}
