// Rows of a list that are selected, by checkbox or by key.

import { useEffect, useRef, useState } from "preact/hooks";
import { useElement } from "../kit/element.js";
import { html } from "../kit/html.js";
import { bind } from "../kit/keys.js";

/** Returns which of the ids that are shown are selected, and functions that change it. */
export function useSelection(ids) {
  const [chosen, setChosen] = useState(() => new Set());
  const selected = ids.filter((id) => chosen.has(id));
  const toggle = (id) => setChosen((before) => {
    const changed = new Set(before);
    if (!changed.delete(id)) changed.add(id);
    return changed;
  });
  const setAll = (isSelected) => setChosen(new Set(isSelected ? ids : []));
  return { ids, selected, isSelected: (id) => chosen.has(id), toggle, setAll };
}

/** The checkbox of a row. */
export function SelectRow({ selection, id, label }) {
  return html`<label class="pick"><input type="checkbox" checked=${selection.isSelected(id)} onChange=${() => selection.toggle(id)} />
    <span class="unseen">Select ${label}</span></label>`;
}

/** The checkbox of all rows that are shown. */
export function SelectAll({ selection }) {
  const field = /** @type {ElementRef<HTMLInputElement>} */ (useElement());
  const [some, all] = [selection.selected.length, selection.ids.length];
  useEffect(() => {
    field.current.indeterminate = some > 0 && some < all;
  }, [some, all]);
  return html`<label class="check"><input type="checkbox" ref=${field} checked=${all > 0 && some === all} disabled=${all === 0}
    onChange=${(event) => selection.setAll(event.currentTarget.checked)} />${some > 0 ? `${some} selected` : "Select all shown"}</label>`;
}

const links = () => [.../** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("main [data-row]"))];

function current(all) {
  const row = document.activeElement?.closest("tr");
  return row ? all.findIndex((link) => row.contains(link)) : -1;
}

/** `j` and `k` move between the links of rows, which have `data-row`; `x` selects the row. */
export function useRowKeys(toggle) {
  const latest = useRef(toggle);
  latest.current = toggle;
  useEffect(() => {
    const move = (by) => {
      const all = links();
      const at = current(all);
      const target = at < 0 ? all[0] : all[Math.min(all.length - 1, Math.max(0, at + by))];
      target?.focus();
    };
    const select = () => {
      const all = links();
      const link = all[current(all)];
      if (link) latest.current(link.dataset.row);
    };
    const held = { isRepeated: true };
    const undo = [bind("j", "Next row", () => move(1), held), bind("k", "Row before", () => move(-1), held), bind("x", "Select the row", select)];
    return () => undo.forEach((one) => one());
  }, []);
}
