// Shows a part of a page whose modules are loaded only now.

import { useEffect, useState } from "preact/hooks";
import { html } from "../kit/html.js";
import { Failure } from "../parts/loaded.js";

const AWAY = { message: "this part of the page could not be loaded; reload the page" };

/** `load()` returns what shows the other properties. */
export function Later({ load, ...rest }) {
  const [found, setFound] = useState(/** @type {{Part?: import("preact").ComponentType<any>, failure?: object}} */ ({}));
  useEffect(() => {
    let isCurrent = true;
    load().then(
      (Part) => isCurrent && setFound({ Part }),
      () => isCurrent && setFound({ failure: { ...AWAY, missingScope: null } }),
    );
    return () => {
      isCurrent = false;
    };
  }, [load]);
  if (found.failure) return html`<${Failure} failure=${found.failure} />`;
  return found.Part ? html`<${found.Part} ...${rest} />` : html`<p class="quiet" role="status">Loading…</p>`;
}
