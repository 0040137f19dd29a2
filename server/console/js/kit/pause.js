// Waits that an abort ends, and that leave nothing behind on its signal.

/** Waits until `begin(end)` has `end` called, or until aborted; what `begin` returns undoes it. */
function wait(begin, abort) {
  return new Promise((/** @type {(value: void) => void} */ resolve) => {
    const end = () => {
      undo();
      abort?.removeEventListener("abort", end);
      resolve();
    };
    const undo = begin(end);
    abort?.addEventListener("abort", end);
    if (abort?.aborted) end();
  });
}

/** Waits a while. */
export function pause(ms, abort) {
  return wait((end) => {
    const timer = setTimeout(end, ms);
    return () => clearTimeout(timer);
  }, abort);
}

/** Waits until somebody looks at the page. */
export function whenVisible(abort) {
  if (!document.hidden) return Promise.resolve();
  return wait((end) => {
    const changed = () => {
      if (!document.hidden) end();
    };
    document.addEventListener("visibilitychange", changed);
    return () => document.removeEventListener("visibilitychange", changed);
  }, abort);
}
