// What was thrown, as an error.

/**
 * Returns what was thrown as an error; the failure of a request says more than others.
 * @returns {Failed}
 */
export function failed(thrown) {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}
