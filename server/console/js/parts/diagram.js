// A graph as a drawing: boxes in layers with arrows, one of which can be looked at alone.

import { useMemo } from "preact/hooks";
import { html } from "../kit/html.js";
import { layout } from "../kit/layered.js";

const LINE = 17;
const PAD = 10;
const MARGIN = 12;
const LABEL_MAX = 44;
const LEAST_WIDTH = 48;

const short = (text) => ([...text].length > LABEL_MAX ? `${[...text].slice(0, LABEL_MAX).join("")}…` : text);

/** @type {CanvasRenderingContext2D | null} */
let measure = null;

/** Returns how wide a text is, in the font of the drawing. */
function widthOf(text) {
  if (!measure) {
    measure = /** @type {CanvasRenderingContext2D} */ (document.createElement("canvas").getContext("2d"));
    measure.font = `13px ${getComputedStyle(document.documentElement).getPropertyValue("--mono").trim()}`;
  }
  return measure.measureText(text).width;
}

function boxOf(node) {
  const texts = [node.note && `«${node.note}»`, short(node.label)].filter(Boolean);
  const members = node.members.map(short);
  const width = Math.max(LEAST_WIDTH, ...[...texts, ...members].map(widthOf)) + 2 * PAD + 4;
  const height = (texts.length + members.length) * LINE + 2 * PAD - 4 + (members.length > 0 ? PAD : 0);
  return { id: node.id, texts, members, width, height };
}

/** Returns the path through points, which leaves and enters along the direction. */
function pathOf(points, isFlat) {
  const at = ([along, across]) => (isFlat ? `${along} ${across}` : `${across} ${along}`);
  const parts = points.slice(1).map(([along, across], i) => {
    const [before, beside] = points[i];
    const middle = (before + along) / 2;
    return `C ${at([middle, beside])} ${at([middle, across])} ${at([along, across])}`;
  });
  return `M ${at(points[0])} ${parts.join(" ")}`;
}

/** The mark at an end of an edge, which points along (1) or against (-1) the direction. */
function Mark({ kind, point: [along, across], way, isFlat }) {
  const at = (back, beside) => (isFlat ? `${along - back * way},${across + beside}` : `${across + beside},${along - back * way}`);
  if (kind === "contains") return html`<polygon class="filled" points=${[at(0, 0), at(7, -5), at(14, 0), at(7, 5)].join(" ")} />`;
  const isHollow = kind !== "uses";
  return html`<polygon class=${isHollow ? "hollow" : "filled"} points=${[at(0, 0), at(10, -5), at(10, 5)].join(" ")} />`;
}

function Edge({ way, isFlat, kind }) {
  const { edge, points, isReversed } = way;
  // The mark is at the end that is used; for what contains, at the one that contains.
  const isAtBegin = (edge.kind === "contains") !== isReversed;
  const [begin, end] = [points[0], points[points.length - 1]];
  return html`<g class=${`edge ${edge.kind} ${kind}`}><path d=${pathOf(points, isFlat)} />
    <${Mark} kind=${edge.kind} point=${isAtBegin ? begin : end} way=${isAtBegin ? -1 : 1} isFlat=${isFlat} />
    ${edge.isMutual && html`<${Mark} kind=${edge.kind} point=${isAtBegin ? end : begin} way=${isAtBegin ? 1 : -1} isFlat=${isFlat} />`}</g>`;
}

function Box({ box, x, y, kind, onChoose }) {
  const line = (text, i, offset, name) => html`<text key=${`${name}${i}`} class=${name} x=${name === "member" ? PAD : box.width / 2} y=${offset + (i + 1) * LINE - 4}>${text}</text>`;
  const headEnd = box.texts.length * LINE + PAD;
  return html`<g class=${`box ${kind}`} transform=${`translate(${x} ${y})`} onClick=${onChoose}>
    <rect width=${box.width} height=${box.height} rx="6" />
    ${box.texts.map((text, i) => line(text, i, PAD - 2, i === box.texts.length - 1 ? "name" : "note"))}
    ${box.members.length > 0 && html`<line x1="0" x2=${box.width} y1=${headEnd} y2=${headEnd} />`}
    ${box.members.map((text, i) => line(text, i, headEnd + 4, "member"))}
  </g>`;
}

/** `graph` is what `kit/mermaid.js` reads; `chosen` the id of a node whose edges stand out; `isWhole` fits it to the width. */
export function Diagram({ graph, label, chosen = "", onChoose, isWhole = false }) {
  const { boxes, drawn } = useMemo(() => {
    const made = graph.nodes.map(boxOf);
    const sized = made.map((box) => (graph.isLeftToRight ? { id: box.id, along: box.width, across: box.height } : { id: box.id, along: box.height, across: box.width }));
    return { boxes: made, drawn: layout(sized, graph.edges) };
  }, [graph]);
  const isFlat = graph.isLeftToRight;
  const [width, height] = isFlat ? [drawn.length, drawn.breadth] : [drawn.breadth, drawn.length];
  const near = new Set(graph.edges.filter(({ from, to }) => from === chosen || to === chosen).flatMap(({ from, to }) => [from, to]));
  const kindOf = (is) => (!chosen ? "" : is ? "near" : "far");
  const size = [Math.ceil(width + 2 * MARGIN), Math.ceil(height + 2 * MARGIN)];
  return html`<div class="diagram" tabindex="0" role="region" aria-label=${label}>
    <svg class=${isWhole ? "whole" : ""} viewBox=${`${-MARGIN} ${-MARGIN} ${size[0]} ${size[1]}`} width=${isWhole ? null : size[0]} height=${isWhole ? null : size[1]} role="img" aria-label=${label}>
      ${drawn.ways.map((way, i) => html`<${Edge} key=${i} way=${way} isFlat=${isFlat} kind=${kindOf(way.edge.from === chosen || way.edge.to === chosen)} />`)}
      ${boxes.map((box) => {
        const place = drawn.nodes.get(box.id);
        const [x, y] = isFlat ? [place.start, place.at - box.height / 2] : [place.at - box.width / 2, place.start];
        const kind = box.id === chosen ? "chosen" : kindOf(near.has(box.id));
        return html`<${Box} key=${box.id} box=${box} x=${x} y=${y} kind=${kind} onChoose=${() => onChoose?.(box.id === chosen ? "" : box.id)} />`;
      })}
    </svg></div>`;
}
