// A dashboard: its widgets on a grid, over a range that they share or each over its own.

import { useEffect, useMemo, useState } from "preact/hooks";
import { may } from "../api/session.js";
import { html } from "../kit/html.js";
import { bind } from "../kit/keys.js";
import { useLoaded } from "../kit/loading.js";
import { loadAgain, rangeKey, refresh } from "../kit/range.js";
import { go, inQuery, setQuery } from "../kit/router.js";
import { doing } from "../kit/toasts.js";
import { Button } from "../parts/button.js";
import { Dialog } from "../parts/dialog.js";
import { Head } from "../parts/head.js";
import { Icon } from "../parts/icon.js";
import { Failure, Loaded } from "../parts/loaded.js";
import { TimePicker } from "../parts/time_picker.js";
import { About, linkToWidget } from "./dashboards_about.js";
import { DeleteDashboard, duplicate, exportOf } from "./dashboards_actions.js";
import { Board, hasSharedRange, variablesKey } from "./dashboards_board.js";
import { Later } from "./dashboards_later.js";
import { inOrder, settled } from "./dashboards_layout.js";
import { MarkList, useAnnotations, useMarks } from "./dashboards_marks.js";
import { Screen, useScreen } from "./dashboards_screen.js";
import { Star, useStars } from "./dashboards_stars.js";
import { Variables } from "./dashboards_variables.js";
import { Tile } from "./dashboards_widget.js";

const OWN_RANGES = "Own ranges";
/** What readers do not need, loaded when somebody does. */
const loadEditor = () => import("./dashboards_editor.js").then(({ Editor }) => Editor);
const loadVersions = () => import("./dashboards_versions.js").then(({ Versions }) => Versions);
/** A screen on a wall loads again even if nobody chose how often. */
const SCREEN_REFRESH = 30;

function Empty({ onEdit }) {
  return html`<div class="card empty-board"><p>This dashboard has no widgets yet.</p>
    ${may("write") && html`<${Button} kind="first" work=${onEdit}><${Icon} name="plus" />Add the first<//>`}</div>`;
}

/** The widgets as they were saved, or the one that the address names alone. */
function Grid({ board, dashboard, marks, onAbout, onEdit }) {
  const { id, widgets, variables } = dashboard;
  const shown = useMemo(() => settled(widgets).sort(inOrder), [widgets]);
  const only = shown.find(({ id }) => id === inQuery("widget"));
  if (shown.length === 0) return html`<${Empty} onEdit=${onEdit} />`;
  if (only) {
    return html`<p class="alone"><a class="button" href=${linkToWidget(null)}><${Icon} name="chevron-left" />All widgets</a></p>
      <div class="board single"><${Tile} key=${only.id} board=${board} widget=${only} marks=${marks} declared=${variables} onAbout=${onAbout} /></div>`;
  }
  return html`<div class="board">${shown.map((widget) => html`<${Tile} key=${widget.id} board=${board} widget=${widget} sync=${id} marks=${marks}
    declared=${variables} onAbout=${onAbout} />`)}</div>`;
}

function More({ dashboard, onClose, onVersions, onDelete }) {
  return html`<${Dialog} title=${dashboard.name} onClose=${onClose}>
    <div class="stack">
      <ul class="menu">
        ${may("write") && html`<li><${Button} kind="plain" work=${() => doing(() => duplicate(dashboard))}><${Icon} name="copy" />Duplicate<//></li>`}
        <li><${Button} kind="plain" work=${onVersions}><${Icon} name="history" />Versions…<//></li>
        <li><a class="button plain" href=${exportOf(dashboard.id)} download=${`${dashboard.name}.json`}><${Icon} name="download" />Export as a file</a></li>
        ${may("write") && html`<li><${Button} kind="plain" work=${onDelete}><${Icon} name="trash-2" />Delete…<//></li>`}
      </ul>
      <div class="acts"><${Button} work=${onClose}>Close<//></div>
    </div>
  <//>`;
}

const edit = () => setQuery({ edit: 1, widget: null, screen: null });

/** @import { Widget } from "telltale" */

function Shown({ board, dashboard, state, loadKey, everyMs }) {
  const [open, setOpen] = useState(/** @type {{about?: Widget, isMore?: boolean, isVersions?: boolean, isDelete?: boolean}} */ ({}));
  const close = () => setOpen({});
  const isScreen = useScreen();
  const stars = useStars();
  const found = useAnnotations(dashboard, loadKey, everyMs);
  const marks = useMarks(found, dashboard.overlays);
  useEffect(() => {
    const undo = [bind("f", "Fill the screen", () => setQuery({ screen: isScreen ? null : 1 }))];
    if (may("write") && !isScreen) undo.push(bind("e", "Edit the dashboard", edit));
    return () => undo.forEach((one) => one());
  }, [isScreen]);
  const grid = html`<${Grid} board=${board} dashboard=${dashboard} marks=${marks} onAbout=${(about) => setOpen({ about })} onEdit=${edit} />`;
  const onRestored = (answer) => {
    board.adopt(answer);
    loadAgain();
  };
  const failure = state.value.failure && html`<${Failure} failure=${state.value.failure} since=${state.value.at} />`;
  const dialogs = html`
    ${open.about && html`<${About} dashboard=${dashboard} widget=${open.about} state=${board.valuesOf(open.about.id).value} onClose=${close} />`}
    ${open.isMore && html`<${More} dashboard=${dashboard} onClose=${close} onVersions=${() => setOpen({ isVersions: true })} onDelete=${() => setOpen({ isDelete: true })} />`}
    ${open.isVersions && html`<${Later} load=${loadVersions} dashboard=${dashboard} onRestored=${onRestored} onClose=${close} />`}
    ${open.isDelete && html`<${DeleteDashboard} dashboard=${dashboard} widgets=${dashboard.widgets.length} onDone=${() => go("/dashboards", { replace: true })} onClose=${close} />`}`;
  if (isScreen) return html`<${Screen} title=${dashboard.name} at=${state.value.at}>${failure}${grid}<//>${dialogs}`;
  return html`<${Head} title=${dashboard.name} above=${{ path: "/dashboards", label: "Dashboards" }}>
      <${Star} stars=${stars} dashboard=${dashboard} />
      <${TimePicker} none=${OWN_RANGES} />
      <${Button} label="Fill the screen" work=${() => setQuery({ screen: 1 })}><${Icon} name="maximize" /><//>
      <${Button} label="More about the dashboard" work=${() => setOpen({ isMore: true })}><${Icon} name="ellipsis" /><//>
      ${may("write") && html`<${Button} work=${edit}><${Icon} name="pencil" />Edit<//>`}<//>
    ${dashboard.description && html`<p class="about quiet">${dashboard.description}</p>`}
    <${Variables} variables=${dashboard.variables} />
    ${failure}${grid}<${MarkList} found=${found} overlays=${dashboard.overlays} />${dialogs}`;
}

export function Page({ params }) {
  const board = useMemo(() => new Board(params.id), [params.id]);
  const isScreen = Boolean(inQuery("screen"));
  const key = `${hasSharedRange()} ${rangeKey.value} ${variablesKey()}`;
  const every = refresh.value || (isScreen ? SCREEN_REFRESH : 0);
  const [state, again] = useLoaded((abort) => board.load(abort), every * 1000, key);
  const dashboard = board.board.value;
  // Shown as soon as it is known; its values come later.
  if (!dashboard) return html`<${Head} title="Dashboard" above=${{ path: "/dashboards", label: "Dashboards" }} /><${Loaded} state=${state} show=${() => null} />`;
  if (inQuery("edit") && may("write")) return html`<${Later} load=${loadEditor} board=${board} dashboard=${dashboard} onSaved=${again} />`;
  return html`<${Shown} board=${board} dashboard=${dashboard} state=${state} loadKey=${key} everyMs=${every * 1000} />`;
}
