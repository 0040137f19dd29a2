// What can be done with a monitor: check it now, pause it, resume it.

import { call } from "../api/client.js";
import { doing, toast } from "../kit/toasts.js";
import { forgetUptime } from "./status_bars.js";

/** @import { Monitor } from "telltale" */

const pathOf = ({ id }) => /** @type {const} */ (`/monitors/${encodeURIComponent(id)}`);

/**
 * Checks a monitor, and says what came of it.
 * @param {Monitor} monitor
 * @param {(changed: Monitor) => void} onChange
 */
export async function checkNow(monitor, onChange) {
  await doing(async () => {
    const checked = await call("POST", `${pathOf(monitor)}/check`);
    forgetUptime(monitor.id);
    onChange(checked);
    const { result, response_ms: time, reason } = checked.last_check ?? {};
    toast(`${monitor.name}: ${result ?? "checked"}${time === null || time === undefined ? "" : ` in ${time} ms`}${reason ? `, ${reason}` : ""}`, { kind: result === "failed" ? "bad" : "good" });
  });
}

/**
 * Pauses a monitor, or ends its pause.
 * @param {Monitor} monitor
 * @param {(changed: Monitor) => void} onChange
 */
export async function setPaused(monitor, onChange) {
  const act = monitor.paused ? "resume" : "pause";
  const again = async () => onChange(await call("POST", `${pathOf(monitor)}/${monitor.paused ? "pause" : "resume"}`));
  await doing(async () => {
    onChange(await call("POST", `${pathOf(monitor)}/${act}`));
    toast(monitor.paused ? `${monitor.name} is checked again.` : `${monitor.name} is paused: its time does not count.`, { undo: () => doing(again, "Undone.") });
  });
}
