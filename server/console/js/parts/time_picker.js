// Chooses the range of time of a page, its zone, and how often it loads again.

import { useEffect, useState } from "preact/hooks";
import { useElement } from "../kit/element.js";
import { count, instant } from "../kit/format.js";
import { html } from "../kit/html.js";
import { bind } from "../kit/keys.js";
import * as range from "../kit/range.js";
import { inQuery, place, setQuery } from "../kit/router.js";
import { chooseZone, currentZone, fromLocal, isKnown, toLocal, zone } from "../kit/zone.js";
import { Button } from "./button.js";
import { Dialog } from "./dialog.js";
import { Icon } from "./icon.js";
import { refreshName } from "./refresher.js";
import { Zones } from "./zone_field.js";

const NOUNS = { s: "second", m: "minute", h: "hour", d: "day", w: "week" };

function lengthName(length) {
  return `Last ${count(parseInt(length, 10), NOUNS[length.slice(-1)])}`;
}

/** Whether the address has no range although one is not needed. */
function isNone(none) {
  return Boolean(none) && !inQuery("last") && !inQuery("from");
}

function label(none) {
  if (isNone(none)) return none;
  const { last, from, to } = range.chosen.value;
  return last ? lengthName(last) : `${instant(from)} – ${instant(to)}`;
}

function Between({ onDone }) {
  const from = /** @type {ElementRef<HTMLInputElement>} */ (useElement());
  const to = /** @type {ElementRef<HTMLInputElement>} */ (useElement());
  const [wrong, setWrong] = useState("");
  const { from: first, to: last } = range.limits();
  const submit = (event) => {
    event.preventDefault();
    const [begin, end] = [fromLocal(from.current.value), fromLocal(to.current.value)];
    if (Number.isNaN(begin) || Number.isNaN(end)) return setWrong("Both times are needed.");
    if (begin >= end) return setWrong("The first time has to be before the second.");
    range.showBetween(begin, end);
    return onDone();
  };
  return html`<form onSubmit=${submit} novalidate>
    <div class="pair">
      <div class="field"><label for="range-from">From</label><input id="range-from" type="datetime-local" step="1" ref=${from} defaultValue=${toLocal(first)}
        aria-describedby="range-wrong" /></div>
      <div class="field"><label for="range-to">To</label><input id="range-to" type="datetime-local" step="1" ref=${to} defaultValue=${toLocal(last)}
        aria-describedby="range-wrong" /></div>
    </div>
    <p id="range-wrong" class="wrong" role="alert">${wrong}</p>
    <div class="acts"><${Button} type="submit" kind="first">Show<//></div>
  </form>`;
}

function Zone() {
  const [wrong, setWrong] = useState("");
  const onChange = (event) => {
    const name = event.currentTarget.value.trim();
    setWrong(name && !isKnown(name) ? `“${name}” is no time zone.` : "");
    chooseZone(name);
  };
  return html`<div class="field"><label for="range-zone">Time zone</label>
    <input id="range-zone" list="range-zones" defaultValue=${zone.value} placeholder=${currentZone()} autocomplete="off" onChange=${onChange}
      aria-describedby="range-zone-hint" />
    <${Zones} id="range-zones" />
    <p id="range-zone-hint" class=${wrong ? "wrong" : "hint"}>${wrong || "Empty: that of the browser"}</p></div>`;
}

function Choices({ none, onClose }) {
  const last = isNone(none) ? null : range.chosen.value.last;
  const chooseNone = () => {
    setQuery({ last: null, from: null, to: null });
    onClose();
  };
  const choose = (length) => {
    range.showLast(length);
    onClose();
  };
  return html`<${Dialog} title="Time" onClose=${onClose}>
    <div class="stack">
      ${none && html`<div class="choices"><button type="button" class="button small" aria-pressed=${isNone(none) ? "true" : "false"} onClick=${chooseNone}>${none}</button></div>`}
      <div class="choices" role="group" aria-label="Last">${range.LENGTHS.map((length) => html`<button key=${length} type="button" class="button small"
        aria-pressed=${length === last ? "true" : "false"} onClick=${() => choose(length)}><span class="unseen">Last </span>${length}</button>`)}</div>
      <${Between} onDone=${onClose} />
      <${Zone} />
      <div class="field"><label for="range-refresh">Load again every</label>
        <select id="range-refresh" value=${range.refresh.value} onChange=${(event) => range.refreshEvery(Number(event.currentTarget.value))}>
          ${range.REFRESHES.map((seconds) => html`<option key=${seconds} value=${seconds}>${refreshName(seconds)}</option>`)}</select></div>
      <div class="acts"><${Button} work=${onClose}>Close<//></div>
    </div>
  <//>`;
}

/**
 * The control; the address always carries the range that it shows. On a page that needs none, `none` is
 * what it shows without one.
 */
export function TimePicker({ none = "" }) {
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    const undo = [
      bind("t", "Choose the time", () => setOpen(true)),
      bind("r", "Refresh", range.loadAgain),
      bind("-", "Show twice the time", () => range.zoomOut()),
      bind("[", "Show the time before", () => range.shift(-1)),
      bind("]", "Show the time after", () => range.shift(1)),
    ];
    return () => undo.forEach((one) => one());
  }, []);
  useEffect(() => {
    if (none || inQuery("last") || inQuery("from")) return;
    const { last, from, to } = range.chosen.value;
    const texts = last !== undefined ? { last } : { from: new Date(from).toISOString(), to: new Date(to).toISOString() };
    setQuery(texts, { replace: true });
  }, [place.value]);
  const every = range.refresh.value;
  return html`<div class="picker" role="group" aria-label="Time">
    <${Button} label="The time before" work=${() => range.shift(-1)}><${Icon} name="chevron-left" /><//>
    <${Button} label=${`Time: ${label(none)}`} work=${() => setOpen(true)}><${Icon} name="clock" /><span>${label(none)}</span><//>
    <${Button} label="The time after" work=${() => range.shift(1)}><${Icon} name="chevron-right" /><//>
    <${Button} label="Twice the time" work=${() => range.zoomOut()}><${Icon} name="zoom-out" /><//>
    <${Button} label=${every ? `Refresh; every ${refreshName(every)} by itself` : "Refresh"} work=${range.loadAgain}><${Icon} name="refresh-cw" />${every
      ? html`<span class="small">${refreshName(every)}</span>` : null}<//>
    ${isOpen && html`<${Choices} none=${none} onClose=${() => setOpen(false)} />`}
  </div>`;
}
