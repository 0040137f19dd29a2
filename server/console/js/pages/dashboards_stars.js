// The dashboards that a person has starred.

import { useEffect } from "preact/hooks";
import { changePreferences, loadPreferences, preferences } from "../api/preferences.js";
import { html } from "../kit/html.js";
import { doing } from "../kit/toasts.js";
import { Button } from "../parts/button.js";
import { Icon } from "../parts/icon.js";

const STORED = "starred_dashboards";
const STARS_MAX = 200;

/** Returns the ids of the starred dashboards, or null where there are no stars. */
export function useStars() {
  useEffect(() => {
    loadPreferences().catch(() => undefined);
  }, []);
  const stored = preferences.value;
  if (stored === null) return null;
  return Array.isArray(stored[STORED]) ? stored[STORED] : [];
}

function toggled(stored, id) {
  const ids = Array.isArray(stored[STORED]) ? stored[STORED] : [];
  return { ...stored, [STORED]: ids.includes(id) ? ids.filter((one) => one !== id) : [id, ...ids].slice(0, STARS_MAX) };
}

export function Star({ stars, dashboard }) {
  if (stars === null) return null;
  const isStarred = stars.includes(dashboard.id);
  const work = () => doing(() => changePreferences((stored) => toggled(stored, dashboard.id)));
  return html`<${Button} kind=${isStarred ? "plain star on" : "plain star"} label=${isStarred ? `Unstar ${dashboard.name}` : `Star ${dashboard.name}`} work=${work}><${Icon} name="star" /><//>`;
}
