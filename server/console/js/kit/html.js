// Templates: htm bound to Preact. Every value in a template becomes a text node or a property.

import { h } from "preact";
import htm from "htm";

export const html = htm.bind(h);
