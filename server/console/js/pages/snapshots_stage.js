// The images of a comparison over each other, in the pixels of the larger one: side by side, under a
// slider, as an overlay, as a difference, blinking.

import { useEffect, useMemo, useState } from "preact/hooks";
import { useElement } from "../kit/element.js";
import { html } from "../kit/html.js";
import { inQuery, setQuery } from "../kit/router.js";
import { Button } from "../parts/button.js";
import { Icon } from "../parts/icon.js";
import { imageOf } from "./snapshots_words.js";

/** @import { Comparison } from "telltale" */

const BLINK_MS = 800;
const NUDGE = 5;

/** The views: the first is the one without a name in the address. */
export const VIEWS = [
  { name: "sides", label: "Side by side", icon: "columns-2" },
  { name: "slider", label: "Slider", icon: "flip-horizontal" },
  { name: "overlay", label: "Overlay", icon: "blend" },
  { name: "diff", label: "Difference", icon: "scan-eye" },
  { name: "blink", label: "Blink", icon: "zap" },
];

/** Magnifications; 0 fits the width. */
const ZOOMS = [0, 0.25, 0.5, 1, 2, 4];

const viewOf = () => VIEWS.find(({ name }) => name === inQuery("view")) ?? VIEWS[0];
const zoomOf = () => ZOOMS.find((zoom) => String(zoom) === inQuery("zoom")) ?? 0;

/** @typedef {{width: number, height: number, failed?: boolean}} Size */

/**
 * Loads the images and returns their sizes in pixels: null while they load, `{failed}` for one that does not.
 * @param {Comparison} of
 */
export function useSizes(of) {
  const [sizes, setSizes] = useState(/** @type {Record<string, Size> | null} */ (null));
  useEffect(() => {
    let isCurrent = true;
    setSizes(null);
    const load = (which) => new Promise((/** @type {(loaded: [string, Size]) => void} */ resolve) => {
      const image = new Image();
      image.addEventListener("load", () => resolve([which, { width: image.naturalWidth, height: image.naturalHeight }]));
      image.addEventListener("error", () => resolve([which, { width: 1, height: 1, failed: true }]));
      image.src = imageOf(of, which);
    });
    Promise.all(["baseline", "snapshot", "diff"].map(load)).then((all) => isCurrent && setSizes(Object.fromEntries(all)));
    return () => {
      isCurrent = false;
    };
  }, [of.id]);
  return sizes;
}

/**
 * An SVG as large as both images; what is in it has the coordinates of pixels.
 * @param {Props<{of: Comparison}>} props
 */
function Frame({ of, sizes, label, regions, children }) {
  const width = Math.max(sizes.baseline.width, sizes.snapshot.width);
  const height = Math.max(sizes.baseline.height, sizes.snapshot.height);
  const zoom = zoomOf();
  const kind = zoom >= 2 ? "pixelated" : zoom === 0 ? "fitting" : "";
  const boxes = regions.isShown ? of.regions : [];
  return html`<div class="frame-of-image" tabindex="0" role="group" aria-label=${label}>
    <svg class=${kind} viewBox=${`0 0 ${width} ${height}`} width=${zoom ? Math.round(width * zoom) : null} height=${zoom ? Math.round(height * zoom) : null} role="img" aria-label=${label}>
      <rect class="nothing" width=${width} height=${height} />
      ${children({ width, height })}
      ${boxes.map((one, i) => html`<rect key=${i} class=${`region ${i === regions.current ? "current" : ""}`} data-region=${i} x=${one.x} y=${one.y} width=${one.width} height=${one.height} />`)}
    </svg></div>`;
}

/** @param {Props<{of: Comparison}>} props */
function Picture({ of, sizes, which, ...rest }) {
  return html`<image href=${imageOf(of, which)} width=${sizes[which].width} height=${sizes[which].height} ...${rest} />`;
}

const CAPTIONS = { baseline: "Baseline", snapshot: "Snapshot", diff: "Difference: changes in red, anti-aliasing in yellow" };

/** @param {Props<{of: Comparison}>} props */
function Sides({ of, sizes, regions, only }) {
  return html`<div class=${`sides n${only.length}`}>${only.map((which) => html`<figure key=${which}><figcaption>${CAPTIONS[which]}${sizes[which].failed
      ? html` <span class="tag bad">cannot be read</span>` : html` <span class="quiet small">${sizes[which].width} × ${sizes[which].height}</span>`}</figcaption>
    <${Frame} of=${of} sizes=${sizes} label=${CAPTIONS[which]} regions=${regions}>${() => html`<${Picture} of=${of} sizes=${sizes} which=${which} />`}<//></figure>`)}</div>`;
}

function Range({ label, value, onInput }) {
  return html`<label class="range"><span class="small">${label}</span><input type="range" min="0" max="100" step="1" value=${value}
    onInput=${(event) => onInput(Number(event.currentTarget.value))} /><output class="small">${value} %</output></label>`;
}

/**
 * Moves the slider by pointer as well, where it is.
 * @param {Props<{of: Comparison}>} props
 */
function Slider({ of, sizes, regions }) {
  const [value, setValue] = useState(50);
  const move = (event) => {
    if (event.buttons !== 1 || event.pointerType === "touch") return;
    const box = event.currentTarget.querySelector("svg").getBoundingClientRect();
    setValue(Math.round(Math.max(0, Math.min(100, ((event.clientX - box.left) / box.width) * 100))));
  };
  return html`<${Range} label="Baseline to the left, snapshot to the right" value=${value} onInput=${setValue} />
    <div class="slidable" onPointerMove=${move} onPointerDown=${move}><${Frame} of=${of} sizes=${sizes} label="Baseline to the left of the line, snapshot to the right" regions=${regions}>${({ width, height }) => html`
      <${Picture} of=${of} sizes=${sizes} which="snapshot" />
      <svg width=${(width * value) / 100} height=${height}><rect class="nothing" width=${width} height=${height} /><${Picture} of=${of} sizes=${sizes} which="baseline" /></svg>
      <line class="split" x1=${(width * value) / 100} x2=${(width * value) / 100} y1="0" y2=${height} />`}<//></div>`;
}

/** @param {Props<{of: Comparison}>} props */
function Overlay({ of, sizes, regions }) {
  const [value, setValue] = useState(50);
  return html`<${Range} label="Snapshot over the baseline" value=${value} onInput=${setValue} />
    <${Frame} of=${of} sizes=${sizes} label=${`The snapshot over the baseline, ${value} % opaque`} regions=${regions}>${() => html`
      <${Picture} of=${of} sizes=${sizes} which="baseline" /><${Picture} of=${of} sizes=${sizes} which="snapshot" opacity=${value / 100} />`}<//>`;
}

/** @param {Props<{of: Comparison}>} props */
function Blink({ of, sizes, regions }) {
  const isStill = useMemo(() => matchMedia("(prefers-reduced-motion: reduce)").matches, []);
  const [isOver, setOver] = useState(true);
  const [isOn, setOn] = useState(!isStill);
  useEffect(() => {
    if (!isOn) return undefined;
    const timer = setInterval(() => setOver((is) => !is), BLINK_MS);
    return () => clearInterval(timer);
  }, [isOn]);
  const swap = () => {
    setOn(false);
    setOver(!isOver);
  };
  return html`<div class="range"><${Button} work=${() => setOn(!isOn)}><${Icon} name=${isOn ? "pause" : "play"} />${isOn ? "Pause" : "Blink"}<//>
      <${Button} work=${swap}>Show the ${isOver ? "baseline" : "snapshot"}<//>
      <span class="small" aria-live=${isOn ? "off" : "polite"}>Shown: ${isOver ? "snapshot" : "baseline"}</span></div>
    <${Frame} of=${of} sizes=${sizes} label="Baseline and snapshot by turns" regions=${regions}>${() => html`
      <${Picture} of=${of} sizes=${sizes} which="baseline" /><g visibility=${isOver ? "visible" : "hidden"}><rect class="nothing" width="100%" height="100%" /><${Picture} of=${of} sizes=${sizes} which="snapshot" /></g>`}<//>`;
}

/** Buttons for the views and the magnification, and whether the regions are shown. */
export function Tools({ regions, onRegions }) {
  const view = viewOf();
  const zoom = zoomOf();
  return html`<div class="tools">
    <div class="choices" role="group" aria-label="View">${VIEWS.map(({ name, label, icon }, i) => html`<button key=${name} type="button" class="button"
      aria-pressed=${name === view.name ? "true" : "false"} onClick=${() => setQuery({ view: i === 0 ? null : name })}><${Icon} name=${icon} />${label} <kbd aria-hidden="true">${i + 1}</kbd></button>`)}</div>
    <label class="zoom"><span class="unseen">Magnification</span><select value=${String(zoom)} onChange=${(event) => setQuery({ zoom: event.currentTarget.value === "0" ? null : event.currentTarget.value })}>
      ${ZOOMS.map((one) => html`<option key=${one} value=${String(one)}>${one === 0 ? "Fit the width" : `${one * 100} %`}</option>`)}</select></label>
    <label class="check"><input type="checkbox" checked=${regions.isShown} onChange=${onRegions} />Boxes around changes <kbd aria-hidden="true">b</kbd></label>
  </div>`;
}

/** Moves a range control of the page by arrow keys pressed elsewhere. */
export function nudge(by) {
  /** @type {HTMLInputElement | null} */
  const field = document.querySelector(".stage input[type=range]");
  if (!field) return;
  field.value = String(Number(field.value) + by * NUDGE);
  field.dispatchEvent(new Event("input", { bubbles: true }));
}

/** @param {Props<{of: Comparison}>} props */
export function Stage({ of, sizes, regions }) {
  const box = /** @type {ElementRef<HTMLDivElement>} */ (useElement());
  const view = viewOf().name;
  // The chosen region comes into view.
  useEffect(() => {
    box.current?.querySelector(".region.current")?.scrollIntoView({ block: "center", inline: "center" });
  }, [regions.current, view]);
  const common = { of, sizes, regions };
  return html`<div class="stage" ref=${box}>
    ${view === "sides" && html`<${Sides} ...${common} only=${["baseline", "snapshot"]} />`}
    ${view === "diff" && html`<${Sides} ...${common} only=${["diff"]} />`}
    ${view === "slider" && html`<${Slider} ...${common} />`}
    ${view === "overlay" && html`<${Overlay} ...${common} />`}
    ${view === "blink" && html`<${Blink} ...${common} />`}
  </div>`;
}
