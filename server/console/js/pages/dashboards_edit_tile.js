// A widget while its dashboard is edited: it can be moved, resized, changed, copied and removed.

import { useElement } from "../kit/element.js";
import { html } from "../kit/html.js";
import { Icon } from "../parts/icon.js";
import { inWords } from "./dashboards_layout.js";
import { Content, usePosition } from "./dashboards_widget.js";
import { useVisible } from "./dashboards_visible.js";

/** The id of the text that says which keys do what. */
export const HELP = "board-help";

const STEPS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

function Act({ icon, label, run, kind = "" }) {
  return html`<button type="button" class=${`button plain small ${kind}`} aria-label=${label} title=${label} onClick=${run}><${Icon} name=${icon} /></button>`;
}

/** `on`: `{step, resize, swap, edit, copy, remove}`, each with the id of the widget; `onDrag(event, id, kind)`. */
export function EditTile({ board, widget, state, declared, isHeld, on, onDrag }) {
  const element = /** @type {ElementRef<HTMLDivElement>} */ (useElement());
  usePosition(element, widget.position);
  useVisible(element, (isVisible) => board.show(widget.id, isVisible));
  const { id, title } = widget;
  const isStored = id.startsWith("widget_");
  const onKeyDown = (event) => {
    if (event.target !== event.currentTarget || event.ctrlKey || event.metaKey || event.altKey) return;
    const step = STEPS[event.key];
    if (step) (event.shiftKey ? on.resize : on.step)(id, ...step);
    else if (event.key === "Enter") on.edit(id);
    else if (event.key === "Delete" || event.key === "Backspace") on.remove(id);
    else return;
    event.preventDefault();
  };
  return html`<div ref=${element} class=${isHeld ? "tile card editing held" : "tile card editing"} tabindex="0" role="group" aria-roledescription="widget"
      aria-label=${`${title}, ${inWords(widget.position)}`} aria-describedby=${HELP} data-id=${id} onKeyDown=${onKeyDown}>
    <header>
      <div class="grip" onPointerDown=${(event) => onDrag(event, id, "move")}><h2 title=${title}>${title || "(no title)"}</h2></div>
      <div class="tools">
        <${Act} kind="on-phones" icon="arrow-up" label=${`Move ${title} up`} run=${() => on.swap(id, -1)} />
        <${Act} kind="on-phones" icon="arrow-down" label=${`Move ${title} down`} run=${() => on.swap(id, 1)} />
        <${Act} icon="pencil" label=${`Edit ${title}`} run=${() => on.edit(id)} />
        <${Act} icon="copy-plus" label=${`Duplicate ${title}`} run=${() => on.copy(id)} />
        <${Act} icon="trash-2" label=${`Remove ${title}`} run=${() => on.remove(id)} />
      </div>
    </header>
    <div class="content" inert><${Content} widget=${widget} state=${state} declared=${declared} pending=${isStored ? "Loading…" : "Its values are shown after saving."} /></div>
    <span class="corner" aria-hidden="true" onPointerDown=${(event) => onDrag(event, id, "resize")}><${Icon} name="move-diagonal-2" /></span>
  </div>`;
}
