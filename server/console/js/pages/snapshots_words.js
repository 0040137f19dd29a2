// What the pages of snapshots say of comparisons, snapshots and baselines.

import { html } from "../kit/html.js";
import { count } from "../kit/format.js";

/** @import { Comparison } from "telltale" */

const difference = new Intl.NumberFormat(undefined, { maximumFractionDigits: 4 });

/** The most rows that the API returns at once. */
export const LIST_MAX = 200;

/** Returns a difference in percent, with all digits that the API has. */
export const percent = (value) => `${difference.format(value)} %`;

/** States of comparisons and snapshots: `[word, kind of the tag]`. */
const STATES = {
  pending_review: ["to review", "warn"],
  approved: ["approved", "good"],
  rejected: ["rejected", "bad"],
  pending: ["waiting", ""],
  capturing: ["capturing", "warn"],
  completed: ["captured", "good"],
  failed: ["failed", "bad"],
};

/** How an image became a baseline. */
export const ORIGINS = {
  first: "the first snapshot of the page",
  chosen: "chosen",
  approved: "approved",
  updated: "taken over without a decision",
  restored: "restored",
};

export function State({ name }) {
  const [word, kind] = STATES[name] ?? [name, ""];
  return html`<span class=${`tag ${kind}`}>${word}</span>`;
}

/**
 * Says how much differs, and whether that is within the threshold.
 * @param {Props<{of: Comparison}>} props
 */
export function Difference({ of }) {
  const text = of.passed ? `within ${percent(of.threshold)}` : `above ${percent(of.threshold)}`;
  return html`<span class=${`differs ${of.passed ? "" : "much"}`}><strong>${percent(of.diff_percentage)}</strong> <span class="quiet small">${text}</span></span>`;
}

/**
 * Returns the window of a page in words.
 * @param {Pick<Comparison, "viewport" | "full_page"> & {device_scale_factor?: number}} of
 */
export function windowOf({ viewport, full_page: isFull, device_scale_factor: factor }) {
  const parts = [`${viewport.width} × ${viewport.height}`];
  if (factor && factor !== 1) parts.push(`${factor} pixels per CSS pixel`);
  parts.push(isFull ? "full page" : "only the viewport");
  return parts.join(", ");
}

/** Returns what of two snapshots has to be equal for them to be compared. */
export function placeOf({ page_id: page, browser, viewport, full_page: isFull }) {
  return `${page} ${browser} ${viewport.width}x${viewport.height} ${isFull}`;
}

/** Returns the path of a signed URL: images are loaded from here, whatever host it names. */
export function pathOfUrl(url) {
  const { pathname, search } = new URL(url, location.origin);
  return pathname + search;
}

/** Returns where an image of a comparison is: `baseline`, `snapshot` or `diff`. */
export const imageOf = (comparison, which) => pathOfUrl(comparison[`${which}_url`]);

/** A URL that breaks where its parts end. */
export function Address({ url }) {
  const parts = url.split(/(?<=[/?&=.])(?=[^/])/);
  return html`<span class="address">${parts.map((part, i) => html`<span key=${i}>${part}</span><wbr />`)}</span>`;
}

export const regionsOf = ({ regions_total: total }) => count(total, "region changed", "regions changed");

/** The snapshots that are to be compared as soon as they are captured: somebody asked for it in this tab. */
export const toCompare = new Set();
