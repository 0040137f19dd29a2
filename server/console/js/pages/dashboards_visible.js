// Tells which elements are in view, or nearly so.

import { useEffect } from "preact/hooks";

const MARGIN = "200px";
const watched = new WeakMap();
let observer = null;

/** Calls `onChange(isVisible)` whenever an element comes into view or leaves it. */
export function useVisible(element, onChange) {
  useEffect(() => {
    observer ??= new IntersectionObserver((entries) => {
      for (const { target, isIntersecting } of entries) watched.get(target)?.(isIntersecting);
    }, { rootMargin: MARGIN });
    const target = element.current;
    watched.set(target, onChange);
    observer.observe(target);
    return () => {
      observer.unobserve(target);
      watched.delete(target);
      onChange(false);
    };
  }, []);
}
