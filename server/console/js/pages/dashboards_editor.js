// A dashboard in edit mode: widgets are added, changed, moved and removed in a draft, which is stored
// when somebody saves it.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { useElement } from "../kit/element.js";
import { failed } from "../kit/failed.js";
import { count } from "../kit/format.js";
import { html } from "../kit/html.js";
import { guardLeaving, place, setQuery } from "../kit/router.js";
import { toast } from "../kit/toasts.js";
import { Button } from "../parts/button.js";
import { Confirm } from "../parts/confirm.js";
import { Dialog } from "../parts/dialog.js";
import { Field } from "../parts/fields.js";
import { Head } from "../parts/head.js";
import { Icon } from "../parts/icon.js";
import { Failure } from "../parts/loaded.js";
import { Choices } from "./dashboards_choices.js";
import { Conflict } from "./dashboards_conflict.js";
import { useDrag } from "./dashboards_drag.js";
import { differences, useDraft, valuesKey } from "./dashboards_draft.js";
import { EditTile, HELP } from "./dashboards_edit_tile.js";
import { WidgetForm } from "./dashboards_form.js";
import * as layout from "./dashboards_layout.js";
import { saveDraft } from "./dashboards_save.js";

let ids = 0;
const newId = () => `new-${(ids += 1)}`;

/** Returns what each widget of the draft shows: the values of the stored one, or those of its preview. */
function useStates(board, base, previews) {
  const stored = new Map(base.widgets.map((widget) => [widget.id, valuesKey(widget)]));
  return (widget) => {
    const key = valuesKey(widget);
    if (stored.get(widget.id) === key) return board.valuesOf(widget.id).value;
    return previews.get(key);
  };
}

/** Asks before a changed draft is left, inside the console and by the browser. */
function useGuard(isChanged, isSaved, onAsk) {
  useEffect(() => {
    if (!isChanged) return undefined;
    const path = place.value.path;
    const holds = (next) => !isSaved.current && (next.path !== path || !next.query.get("edit"));
    const end = guardLeaving(holds, onAsk);
    const onUnload = (event) => event.preventDefault();
    addEventListener("beforeunload", onUnload);
    return () => {
      end();
      removeEventListener("beforeunload", onUnload);
    };
  }, [isChanged]);
}

/** Takes changes back and forth by the usual keys, and saves. */
function useEditKeys({ undo, redo, save }) {
  const latest = useRef({ undo, redo, save });
  latest.current = { undo, redo, save };
  useEffect(() => {
    const onKeyDown = (event) => {
      const isTyping = event.target instanceof Element && event.target.closest("input, textarea, select");
      if (!(event.ctrlKey || event.metaKey) || event.altKey || isTyping || document.querySelector("dialog[open]")) return;
      const key = event.key.toLowerCase();
      const run = key === "z" ? (event.shiftKey ? latest.current.redo : latest.current.undo) : { y: latest.current.redo, s: latest.current.save }[key];
      if (!run) return;
      event.preventDefault();
      run();
    };
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  }, []);
}

function Naming({ draft, onDone, onClose }) {
  const [failure, setFailure] = useState(/** @type {{field: string, message: string} | null} */ (null));
  const submit = (event) => {
    event.preventDefault();
    const data = new FormData(event.currentTarget);
    const name = String(data.get("name")).trim();
    if (!name) return setFailure({ field: "name", message: "A name is needed." });
    return onDone({ name, description: String(data.get("description")).trim() });
  };
  return html`<${Dialog} title="Name and description" onClose=${onClose}>
    <form onSubmit=${submit} novalidate>
      <${Field} id="board-name" name="name" label="Name" failure=${failure} defaultValue=${draft.name} maxlength="200" autocomplete="off" />
      <div class="field"><label for="board-description">Description</label><textarea id="board-description" name="description" maxlength="2000" defaultValue=${draft.description}></textarea></div>
      <div class="acts"><${Button} work=${onClose}>Cancel<//><${Button} type="submit" kind="first">Done<//></div>
    </form>
  <//>`;
}

const leaveEditing = () => setQuery({ edit: null });

/** Returns what changes the widgets of a draft, and says what was done. */
function useChanges({ draft, change, say, setOpen }) {
  const widgets = (changed, text) => {
    if (changed !== draft.widgets) change({ ...draft, widgets: changed });
    say(text(changed));
  };
  const positionSaid = (id) => (changed) => {
    const { title, position } = changed.find((one) => one.id === id);
    return `${title}: ${layout.inWords(position)}`;
  };
  const focusOn = (selector) => /** @type {HTMLElement | null} */ (document.querySelector(selector))?.focus();
  const focusAfter = (id) => requestAnimationFrame(() => focusOn(`.tile[data-id="${CSS.escape(id)}"]`));
  return {
    step: (id, dx, dy) => widgets(layout.stepped(draft.widgets, id, dx, dy), positionSaid(id)),
    resize: (id, dx, dy) => widgets(layout.resized(draft.widgets, id, dx, dy), positionSaid(id)),
    swap: (id, by) => widgets(layout.swapped(draft.widgets, id, by), (changed) => {
      const order = [...changed].sort(layout.inOrder);
      const at = order.findIndex((one) => one.id === id);
      return `${order[at].title}: number ${at + 1} of ${order.length}`;
    }),
    edit: (id) => setOpen({ widget: draft.widgets.find((one) => one.id === id) }),
    copy: (id) => {
      const own = draft.widgets.find((one) => one.id === id);
      const copy = { ...own, id: newId(), title: `${own.title} (copy)`.slice(0, 200), position: layout.freePlace(draft.widgets, own.position) };
      widgets(layout.settled([...draft.widgets, copy], copy.id), () => `${own.title} was copied`);
      focusAfter(copy.id);
    },
    remove: (id) => {
      const order = [...draft.widgets].sort(layout.inOrder);
      const at = order.findIndex((one) => one.id === id);
      const next = order[at + 1] ?? order[at - 1];
      widgets(layout.settled(draft.widgets.filter((one) => one.id !== id)), () => `${order[at].title} was removed; undo brings it back`);
      if (next) focusAfter(next.id);
      else requestAnimationFrame(() => focusOn(".edit-bar button"));
    },
    put: (widget) => {
      const isNew = !draft.widgets.some((one) => one.id === widget.id);
      const size = layout.SIZES[widget.type];
      const put = isNew ? { ...widget, id: newId(), position: layout.freePlace(draft.widgets, size) } : widget;
      const others = draft.widgets.map((one) => (one.id === put.id ? put : one));
      widgets(layout.settled(isNew ? [...others, put] : others), () => `${put.title} was ${isNew ? "added" : "changed"}`);
      setOpen({});
      focusAfter(put.id);
    },
  };
}

/**
 * The dialog that is open: the form of a widget, of which a new one has nothing, and so on.
 * @typedef {{widget?: object, isChoices?: boolean, isNaming?: boolean, theirs?: any, leave?: () => void}} Open
 */

export function Editor({ board, dashboard, onSaved }) {
  // Somebody else may change the dashboard meanwhile: what is saved is compared with what was there.
  const [base, setBase] = useState(dashboard);
  const { draft, change, undo, redo, canUndo, canRedo, isChanged, begin, goOnFrom } = useDraft(base);
  const latest = useRef(draft);
  latest.current = draft;
  const [shown, setShown] = useState(/** @type {any[] | null} */ (null));
  const [held, setHeld] = useState(/** @type {string | null} */ (null));
  const [open, setOpen] = useState(/** @type {Open} */ ({}));
  const [failure, setFailure] = useState(/** @type {Failed | null} */ (null));
  const previews = useMemo(() => new Map(), []);
  const said = /** @type {ElementRef<HTMLParagraphElement>} */ (useElement());
  const isSaved = useRef(false);
  const isSaving = useRef(false);
  const stateOf = useStates(board, base, previews);
  const say = (text) => {
    if (said.current) said.current.textContent = text;
  };
  const close = () => setOpen({});
  const on = useChanges({ draft, change, say, setOpen });
  const widgets = shown ?? draft.widgets;
  const drag = useDrag(draft.widgets, {
    onShow: setShown,
    onDone: (items, id) => {
      setShown(null);
      setHeld(null);
      if (!items) return;
      change({ ...draft, widgets: items });
      const { title, position } = items.find((one) => one.id === id);
      say(`${title}: ${layout.inWords(position)}`);
    },
  });
  const onDrag = (event, id, kind) => {
    if (matchMedia("(max-width: 48rem)").matches) return;
    setHeld(id);
    drag(event, id, kind);
  };
  useGuard(isChanged, isSaved, (leave) => setOpen({ leave }));
  const saveOver = async (stored) => {
    if (isSaving.current) return;
    isSaving.current = true;
    setFailure(null);
    try {
      board.adopt(await saveDraft(stored, draft));
    } catch (thrown) {
      const error = failed(thrown);
      if (error.status === 412) await board.loadDefinitions().then((theirs) => setOpen({ theirs }), setFailure);
      else setFailure(error);
      return;
    } finally {
      isSaving.current = false;
    }
    if (latest.current !== draft) {
      goOnFrom(board.board.value);
      setBase(board.board.value);
      toast(`“${draft.name}” was saved, without what was changed meanwhile.`);
      return;
    }
    isSaved.current = true;
    toast(`“${draft.name}” was saved.`);
    leaveEditing();
    onSaved();
  };
  const save = () => (isChanged ? saveOver(base) : leaveEditing());
  const undoSaid = () => canUndo && (undo(), say("Undone"));
  const redoSaid = () => canRedo && (redo(), say("Redone"));
  useEditKeys({ undo: undoSaid, redo: redoSaid, save });
  const takeTheirs = () => {
    setBase(open.theirs);
    begin(open.theirs);
    close();
  };
  const { added, removed, changed, moved } = differences(base, draft);
  const edited = added.length + removed.length + changed.length + moved.length;
  return html`<${Head} title=${`Edit ${draft.name}`} above=${{ path: "/dashboards", label: "Dashboards" }} />
    <div class="edit-bar" role="toolbar" aria-label="Editing">
      <${Button} kind="first" work=${() => setOpen({ widget: {} })}><${Icon} name="plus" />Add a widget<//>
      <${Button} label="Name" work=${() => setOpen({ isNaming: true })}><${Icon} name="file-text" /><span class="wide-only">Name</span><//>
      <${Button} label="Variables" work=${() => setOpen({ isChoices: true })}><${Icon} name="filter" /><span class="wide-only">Variables</span><//>
      <${Button} label="Undo" work=${undoSaid}><${Icon} name="undo-2" /><//>
      <${Button} label="Redo" work=${redoSaid}><${Icon} name="redo-2" /><//>
      <span class="state quiet small">${isChanged ? `Not saved${edited > 0 ? `: ${count(edited, "widget")} differ${edited === 1 ? "s" : ""}` : ""}` : "No changes"}</span>
      <${Button} work=${leaveEditing}>${isChanged ? "Discard" : "Done"}<//>
      <${Button} kind="first" work=${save}><${Icon} name="save" />Save<//>
    </div>
    <p class="unseen" aria-live="polite" ref=${said}></p>
    <p id=${HELP} class="quiet small edit-help"><span class="wide-only">Drag a widget by its title, its size by its corner. By keyboard: Tab to a widget, arrow keys move it, Shift and arrow keys
      resize it, Enter edits it, Delete removes it, Ctrl Z undoes.</span></p>
    ${failure && html`<div class="edit-failure"><${Failure} failure=${failure} /></div>`}
    ${widgets.length === 0 && html`<p class="card none-here quiet">No widgets. Add the first.</p>`}
    <div class="board editing">${widgets.map((widget) => html`<${EditTile} key=${widget.id} board=${board} widget=${widget} state=${stateOf(widget)} declared=${draft.variables} isHeld=${held === widget.id}
      on=${on} onDrag=${onDrag} />`)}</div>
    ${open.widget && html`<${WidgetForm} widget=${open.widget} declared=${draft.variables} previews=${previews} onDone=${on.put} onClose=${close} />`}
    ${open.isChoices && html`<${Choices} draft=${draft} onClose=${close} onDone=${(choices) => { change({ ...draft, ...choices }); close(); }} />`}
    ${open.isNaming && html`<${Naming} draft=${draft} onClose=${close} onDone=${(naming) => { change({ ...draft, ...naming }); close(); }} />`}
    ${open.theirs && html`<${Conflict} base=${base} draft=${draft} theirs=${open.theirs} onMine=${() => { close(); return saveOver(open.theirs); }} onTheirs=${takeTheirs} onClose=${close} />`}
    ${open.leave && html`<${Confirm} title="Leave without saving?" act="Leave" onClose=${close} work=${() => { isSaved.current = true; open.leave?.(); }}>
      <p class="what">What you changed on “${base.name}” is not saved, and is lost if you leave.</p><//>`}`;
}
