// The colour scheme: that of the system, unless somebody chose one in this browser.

import { signal } from "@preact/signals";

const STORED = "telltale.theme";

/** `light`, `dark`, or `system`. */
export const theme = signal(localStorage.getItem(STORED) ?? "system");

/** Sets and remembers the scheme. */
export function choose(value) {
  theme.value = value;
  localStorage.setItem(STORED, value);
  show();
}

/** Shows the chosen scheme. */
export function show() {
  const { dataset } = document.documentElement;
  if (theme.value === "light" || theme.value === "dark") dataset.theme = theme.value;
  else delete dataset.theme;
}
