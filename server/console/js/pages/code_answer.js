// A question and its answer, whose numbers open the lines that they name.

import { share } from "../kit/format.js";
import { html } from "../kit/html.js";
import { Icon } from "../parts/icon.js";
import { Answer } from "../parts/prose.js";
import { Time } from "../parts/time.js";
import { FilePath } from "./code_words.js";

/** @import { ChatMessage } from "telltale" */

/** What the server says with an answer once, and does not keep: `session:position` → `{confidence, generated, commit}`. */
export const told = new Map();

const LOW = 0.2;
const HIGH = 0.7;

function confidenceOf(value) {
  if (value < LOW) return ["bad", "little or nothing was found for this"];
  return value < HIGH ? ["warn", "partly supported by what was found"] : ["good", "supported by what was found"];
}

function Confidence({ of }) {
  if (!of) return null;
  const [kind, words] = confidenceOf(of.confidence);
  return html`<p class="small quiet line start"><span class=${`tag ${kind}`}>confidence ${share(of.confidence)}</span><span>${words}${of.generated ? "; worded by a language model" : ""}; at <span class="mono">${of.commit}</span></span></p>`;
}

/**
 * `message` is an answer of the API, `open` the number of its reference that is shown beside, `onOpen(number)` shows one.
 * @param {Props<{message: ChatMessage}>} props
 */
export function AnswerOf({ message, about, open, onOpen }) {
  const references = message.references ?? [];
  const button = (number) => {
    const of = references[number - 1];
    if (!of) return null;
    return html`<button key=${number} type="button" class="reference" aria-pressed=${open === number ? "true" : "false"} data-reference=${number}
      aria-label=${`Reference ${number}: ${of.file_path}, lines ${of.line_start} to ${of.line_end}`} onClick=${() => onOpen(number)}>${number}</button>`;
  };
  return html`<article class="answer" aria-label="Answer"><${Answer} text=${message.content} onReference=${button} />
    <${Confidence} of=${about} />
    ${references.length > 0 && html`<ol class="references" aria-label="References">${references.map((of, i) => html`<li key=${i}><button type="button" class="button small" aria-pressed=${open === i + 1 ? "true" : "false"} data-reference=${i + 1}
      onClick=${() => onOpen(i + 1)}><span class="number">${i + 1}</span><span class="wrap"><${FilePath} path=${of.file_path} />:${of.line_start}${of.line_end > of.line_start ? `–${of.line_end}` : ""}</span></button></li>`)}</ol>`}
  </article>`;
}

export function QuestionOf({ text, at }) {
  return html`<article class="question" aria-label="Question"><${Icon} name="user" /><p class="wrap">${text}</p>${at && html`<span class="quiet small"><${Time} at=${at} /></span>`}</article>`;
}
