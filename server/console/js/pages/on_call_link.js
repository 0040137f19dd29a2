// The calendar of a schedule for calendar programs: a link that needs no key, or a file.

import { useState } from "preact/hooks";
import { call } from "../api/client.js";
import { failed } from "../kit/failed.js";
import { html } from "../kit/html.js";
import { toast } from "../kit/toasts.js";
import { Button } from "../parts/button.js";
import { Copyable } from "../parts/copy.js";
import { Dialog } from "../parts/dialog.js";
import { Icon } from "../parts/icon.js";
import { Failure } from "../parts/loaded.js";

/** @import { OnCallSchedule } from "telltale" */

/** @param {Props<{schedule: OnCallSchedule}>} props */
export function CalendarLink({ schedule, onClose }) {
  const path = /** @type {const} */ (`/on_call_schedules/${encodeURIComponent(schedule.id)}`);
  const [link, setLink] = useState(/** @type {string | null} */ (null));
  const [failure, setFailure] = useState(/** @type {Failed | null} */ (null));
  const attempt = async (work) => {
    try {
      await work();
      setFailure(null);
    } catch (error) {
      setFailure(failed(error));
    }
  };
  const make = () => attempt(async () => {
    const { data } = await call("POST", `${path}/calendar_link`);
    setLink(data.url ?? location.origin + data.path);
  });
  const end = () => attempt(async () => {
    await call("DELETE", `${path}/calendar_link`);
    setLink(null);
    toast("The link has ended.");
  });
  return html`<${Dialog} title="Calendar" onClose=${onClose}><div class="stack">
    <p>Calendar programs can subscribe to a link. Whoever knows it may read the shifts of the next 90 days. It is shown once, and a new one ends the one before.</p>
    ${link && html`<${Copyable} text=${link} label="the link" />`}
    ${failure && html`<${Failure} failure=${failure} />`}
    <p><a href=${`/api/v1${path}/calendar.ics`} download="on-call.ics"><${Icon} name="download" /> As a file, without a link</a></p>
    <div class="acts"><${Button} kind="grave" work=${end}>End the link<//><${Button} work=${make}>${link ? "Make another link" : "Make a link"}<//><${Button} kind="first" work=${onClose}>Close<//></div>
  </div><//>`;
}
