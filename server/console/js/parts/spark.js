// A small chart of counts, without axes; a text beside it or its label says what it shows.

import { html } from "../kit/html.js";

const WIDTH = 96;
const HEIGHT = 24;

/** Bars of `values`, of which the highest fills the height. */
export function Spark({ values, label }) {
  const most = Math.max(1, ...values);
  const width = WIDTH / Math.max(1, values.length);
  return html`<svg class="spark" viewBox=${`0 0 ${WIDTH} ${HEIGHT}`} width=${WIDTH} height=${HEIGHT} role="img" aria-label=${label} preserveAspectRatio="none">
    ${values.map((value, i) => {
      const height = value > 0 ? Math.max(1, (value / most) * HEIGHT) : 0;
      return html`<rect key=${i} x=${i * width} y=${HEIGHT - height} width=${Math.max(0.5, width - 1)} height=${height} />`;
    })}</svg>`;
}
