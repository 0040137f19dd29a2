// References to elements.

import { useRef } from "preact/hooks";

/**
 * Returns the reference to an element that a component always has: it is there in effects and handlers.
 * @template {Element} T
 * @returns {ElementRef<T>}
 */
export const useElement = () => useRef(/** @type {any} */ (null));
