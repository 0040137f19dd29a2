// A dashboard while somebody edits it: a draft with the way back and forth, which nobody else sees.

import { useRef, useState } from "preact/hooks";
import { isSame, settled } from "./dashboards_layout.js";

/** @import { Dashboard } from "telltale" */
/** @typedef {Pick<Dashboard, "name" | "widgets"> & {description: string, variables: any[], overlays: any[]}} Draft */

const STEPS_MAX = 200;

/**
 * Returns the draft of a dashboard as it is stored.
 * @param {Pick<Dashboard, "name" | "description" | "variables" | "overlays" | "widgets">} dashboard
 * @returns {Draft}
 */
export function draftOf({ name, description, variables = [], overlays = [], widgets }) {
  return { name, description: description ?? "", variables, overlays, widgets: settled(widgets) };
}

/** What of a widget decides about its values: `format` and the like only change how they are shown. */
const SHOWN_ONLY = ["format", "style", "orientation", "show_legend", "thresholds"];

/** Returns a text that is the same for widgets with the same values. */
export function valuesKey({ type, query, options = {} }) {
  const asked = Object.entries(options).filter(([name]) => !SHOWN_ONLY.includes(name));
  return JSON.stringify([type, Object.entries(query).sort(), asked.sort()]);
}

const contentKey = ({ type, title, query, options }) => JSON.stringify([type, title, query, options ?? {}]);

/**
 * Returns how a draft differs from a dashboard: `{isRenamed, hasOtherChoices, added, removed, changed, moved}`; the last
 * four are lists of widgets.
 */
export function differences(dashboard, draft) {
  const stored = new Map(dashboard.widgets.map((widget) => [widget.id, widget]));
  const kept = new Set(draft.widgets.map(({ id }) => id));
  const both = draft.widgets.filter(({ id }) => stored.has(id));
  const isChanged = (widget) => contentKey(widget) !== contentKey(stored.get(widget.id));
  return {
    isRenamed: dashboard.name !== draft.name || (dashboard.description ?? "") !== draft.description,
    hasOtherChoices: JSON.stringify([dashboard.variables ?? [], dashboard.overlays ?? []]) !== JSON.stringify([draft.variables, draft.overlays]),
    added: draft.widgets.filter(({ id }) => !stored.has(id)),
    removed: dashboard.widgets.filter(({ id }) => !kept.has(id)),
    changed: both.filter(isChanged),
    moved: both.filter((widget) => !isChanged(widget) && !isSame(widget.position, stored.get(widget.id).position)),
  };
}

/** Returns the draft of a dashboard, and what changes it and takes changes back. */
export function useDraft(dashboard) {
  const first = useRef(/** @type {Draft | null} */ (null));
  first.current ??= draftOf(dashboard);
  /** @type {{before: Draft[], now: Draft, after: Draft[]}} */
  const begun = { before: [], now: first.current, after: [] };
  const [steps, setSteps] = useState(begun);
  const change = (draft) => {
    setSteps(({ before, now }) => (draft === now ? { before, now, after: [] } : { before: [...before, now].slice(-STEPS_MAX), now: draft, after: [] }));
  };
  const undo = () => setSteps((all) => {
    const { before, now, after } = all;
    return before.length === 0 ? all : { before: before.slice(0, -1), now: before[before.length - 1], after: [now, ...after] };
  });
  const redo = () => setSteps((all) => {
    const { before, now, after } = all;
    return after.length === 0 ? all : { before: [...before, now], now: after[0], after: after.slice(1) };
  });
  return {
    draft: steps.now,
    change,
    undo,
    redo,
    canUndo: steps.before.length > 0,
    canRedo: steps.after.length > 0,
    isChanged: JSON.stringify(steps.now) !== JSON.stringify(first.current),
    /** Begins again with a dashboard as it is stored now. */
    begin: (stored) => {
      first.current = draftOf(stored);
      setSteps({ before: [], now: first.current, after: [] });
    },
    /** Goes on with the draft from a dashboard as it is stored now. */
    goOnFrom: (stored) => {
      first.current = draftOf(stored);
    },
  };
}
