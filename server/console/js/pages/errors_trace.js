// Stack traces as data: frames, which of them belong together, and the trace as plain text.

import { text } from "../kit/json.js";

const CUT = 500;

/** Returns a frame as the API writes it in `backtrace`. */
export function placeOf({ file, module, line, function: name }) {
  const at = line === undefined ? "" : `:${text(line)}`;
  return `${file ?? module ?? "?"}${at}${name === undefined ? "" : ` in ${name}`}`;
}

/** Returns the chain of exceptions of an occurrence, the raised one first, with frames newest first. */
export function chainOf({ details, exception }) {
  const chain = details?.exceptions ?? [];
  const newestFirst = (frames = []) => [...frames].reverse();
  if (chain.length > 0) return [...chain].reverse().map((one) => ({ ...one, frames: newestFirst(one.frames) }));
  const frames = newestFirst(details?.frames);
  return [{ type: exception?.type ?? null, value: exception?.message ?? details?.message ?? null, frames }];
}

/** Returns runs of frames: `{isOwn, frames: [{frame, index}]}`; own ones are those of the program itself. */
export function runsOf(frames) {
  const runs = [];
  frames.forEach((frame, index) => {
    const isOwn = frame.in_app === true;
    const last = runs[runs.length - 1];
    if (last && last.isOwn === isOwn) last.frames.push({ frame, index });
    else runs.push({ isOwn, frames: [{ frame, index }] });
  });
  return runs;
}

/** Returns the first line of an exception. */
export function titleOf({ type, value }) {
  return [type, value].filter((part) => part !== null && part !== undefined && part !== "").join(": ") || "(no message)";
}

/** Returns the trace as text, such as people paste into a ticket. */
export function textOf(chain) {
  return chain
    .map((one, i) => {
      const frames = one.frames.map((frame) => `    at ${placeOf(frame)}${frame.column === undefined ? "" : ` (column ${text(frame.column)})`}`);
      return [`${i > 0 ? "Caused by: " : ""}${titleOf(one)}`, ...frames].join("\n");
    })
    .join("\n");
}

/** Returns the lines of repositories by frame: those of the newest occurrence also suit others with the same place. */
export function sourcesOf({ source = [], exception }) {
  return new Map(source.map((one) => [exception?.backtrace[one.frame], one]));
}

/** Returns lines around the one of a frame: `[{number, text, isNow}]`. */
export function linesOf(frame, source) {
  if (source) {
    const lines = source.snippet.replace(/\n$/, "").split("\n");
    return lines.map((line, i) => ({ number: source.line_start + i, text: line, isNow: source.line_start + i === source.line }));
  }
  return frame.context === undefined ? [] : [{ number: text(frame.line), text: frame.context.slice(0, CUT), isNow: true }];
}
