// The monitors that a status page shows, in its groups: add, take off.

import { useState } from "preact/hooks";
import { call } from "../api/client.js";
import { count } from "../kit/format.js";
import { html } from "../kit/html.js";
import { useLoaded } from "../kit/loading.js";
import { href } from "../kit/router.js";
import { toast } from "../kit/toasts.js";
import { Button } from "../parts/button.js";
import { Confirm } from "../parts/confirm.js";
import { Dialog } from "../parts/dialog.js";
import { Field } from "../parts/fields.js";
import { FormEnd, useDraft, useSave } from "../parts/form.js";
import { Icon } from "../parts/icon.js";
import { Loaded } from "../parts/loaded.js";
import { Pick } from "../parts/pick.js";
import { Table } from "../parts/table.js";
import { loadMonitors } from "./status.js";
import { MONITOR_ICON, MONITOR_KIND, targetOf, uptimeText } from "./status_words.js";

/** @import { StatusPage, StatusPageMonitor } from "telltale" */

const pathOf = (page) => /** @type {const} */ (`/status-pages/${encodeURIComponent(page.id)}/monitors`);

/** @returns {Column<StatusPageMonitor>[]} */
function columns(onRemove) {
  return [
    { label: "Shown as", cell: (one) => html`<span><a class="name" href=${href(`/status/monitors/${encodeURIComponent(one.id)}`)}>${one.display_name ?? one.name}</a>${one.display_name && html` <span class="quiet small">${one.name}</span>`}</span>` },
    { label: "Group", cell: (one) => one.group ?? html`<span class="quiet">none</span>` },
    { label: "Status", cell: (one) => html`<span class=${`tag ${MONITOR_KIND[one.status] ?? ""}`}><${Icon} name=${MONITOR_ICON[one.status] ?? "clock"} />${one.status}</span>` },
    { label: "Uptime, 90 days", isNumber: true, cell: (one) => uptimeText(one.uptime_90d) },
    { label: "Actions", isUnseen: true, isEnd: true, cell: (one) => html`<${Button} kind="plain" label=${`Take ${one.display_name ?? one.name} off the page`} work=${() => onRemove(one)}><${Icon} name="trash-2" /><//>` },
  ];
}

function AddMonitors({ page, again, onClose }) {
  const [state] = useLoaded(loadMonitors);
  const [draft, set] = useDraft({ monitors: [], display_name: "", group: "" });
  const isOne = draft.monitors.length === 1;
  const saving = useSave(async () => {
    const all = draft.monitors;
    for (const [done, id] of all.entries()) {
      try {
        await call("POST", pathOf(page), { body: { monitor_id: id, display_name: isOne ? draft.display_name || null : null, group: draft.group || null } });
      } catch (failure) {
        set({ monitors: all.slice(done) });
        if (done > 0) again();
        throw failure;
      }
    }
    toast(`${count(all.length, "monitor")} added.`);
    again();
    onClose();
  });
  const shown = new Set(page.monitors.map(({ id }) => id));
  const text = (name) => ({ id: `component-${name}`, name, value: draft[name], failure: saving.failure, autocomplete: "off", onInput: (event) => set({ [name]: event.currentTarget.value }) });
  const show = (all) => html`<${Pick} name="monitor_id" label="Monitors" none="There are no other monitors." items=${all.filter(({ id }) => !shown.has(id)).map((one) => ({ id: one.id, label: one.name, about: targetOf(one) }))}
    chosen=${draft.monitors} failure=${saving.failure} onChange=${(monitors) => set({ monitors })} />`;
  return html`<${Dialog} title="Add monitors" onClose=${onClose}><form ref=${saving.form} onSubmit=${saving.submit} novalidate>
    <${Loaded} state=${state} show=${show} />
    ${isOne && html`<${Field} label="Shown as" hint="Empty: by its name" maxlength="100" ...${text("display_name")} />`}
    <${Field} label="Group" hint="Empty: in none" maxlength="100" list="groups" ...${text("group")} />
    <datalist id="groups">${[...new Set(page.monitors.map(({ group }) => group).filter(Boolean))].map((group) => html`<option key=${group} value=${group} />`)}</datalist>
    <${FormEnd} saving=${saving} act=${draft.monitors.length > 1 ? `Add ${draft.monitors.length}` : "Add"} onCancel=${onClose} /></form><//>`;
}

/** @param {Props<{page: StatusPage}>} props */
export function PageMonitors({ page, again }) {
  const [open, setOpen] = useState(/** @type {{add?: boolean, removed?: import("telltale").StatusPageMonitor}} */ ({}));
  const close = () => setOpen({});
  const remove = async () => {
    if (!open.removed) return;
    await call("DELETE", `${pathOf(page)}/${encodeURIComponent(open.removed.id)}`);
    toast("The monitor is off the page.");
    again();
  };
  return html`<section class="card"><header><h2>In this order</h2><${Button} work=${() => setOpen({ add: true })}><${Icon} name="plus" />Add monitors<//></header>
    ${page.monitors.length === 0 ? html`<p class="quiet">The page shows no monitors yet.</p>` : html`<${Table} label="Monitors of the page" columns=${columns((removed) => setOpen({ removed }))} rows=${page.monitors} keyOf=${({ id }) => id} />`}
    ${open.add && html`<${AddMonitors} page=${page} again=${again} onClose=${close} />`}
    ${open.removed && html`<${Confirm} title="Take the monitor off the page?" act="Take it off" work=${remove} onClose=${close}>
      <p><strong>${open.removed.display_name ?? open.removed.name}</strong> is also removed from the incidents and the scheduled maintenances of the page. The monitor stays.</p><//>`}
  </section>`;
}
