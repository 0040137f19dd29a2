// The values of a widget that is not stored: while it is edited, and the trend of a number.

import { call } from "../api/client.js";
import { queryText } from "./dashboards_board.js";

/**
 * Returns what a widget would show: `{values, range, moment}`. `moment` is what values are loaded for, `declared` the
 * variables of the dashboard.
 */
export async function loadPreview({ type, query, options }, moment, declared, abort) {
  const body = { type, query, options: options ?? {}, ...(declared.length > 0 && { variables: declared }) };
  const { data } = await call("POST", `/dashboards/preview${queryText(moment, moment.variables)}`, { body, abort });
  const { type: _, from, to, ...values } = data;
  return { values, range: { from: Date.parse(from), to: Date.parse(to) }, moment };
}
