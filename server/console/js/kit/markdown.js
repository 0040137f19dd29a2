// Reads the part of Markdown that the server writes, as data: headings, paragraphs, lists, tables,
// code and links. Nothing becomes markup: whoever shows it makes elements with text in them.

const ENTITIES = { lt: "<", gt: ">", amp: "&", quot: '"' };
const PUNCTUATION = /[!-/:-@[-`{-~]/;

/**
 * Returns a function that says what a run of backticks begins: `{from, to, next}`, the code and where the text goes
 * on; without an end `from` is -1, and the text goes on after the run. The runs are found once, for all of them.
 */
function codesOf(text) {
  const starts = new Map();
  for (const { 0: { length }, index } of text.matchAll(/`+/g)) {
    if (!starts.has(length)) starts.set(length, []);
    starts.get(length).push(index);
  }
  const firstFrom = (list, at) => {
    let [low, high] = [0, list.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (list[middle] < at) low = middle + 1;
      else high = middle;
    }
    return list[low] ?? -1;
  };
  return (at) => {
    let from = at + 1;
    while (text[from] === "`") from += 1;
    const to = firstFrom(starts.get(from - at) ?? [], from);
    return to < 0 ? { from: -1, to: -1, next: from } : { from, to, next: to + from - at };
  };
}

function codeText(text, { from, to }) {
  const code = text.slice(from, to);
  const isPadded = code.length > 2 && code.startsWith(" ") && code.endsWith(" ") && code.trim();
  return isPadded ? code.slice(1, -1) : code;
}

/**
 * Returns a function that reads the link at a bracket: `{text, target, next}`, or null. The ends of brackets are
 * found once, for all of them; escaped ones and those in code do not count.
 */
function linksOf(text, codeAt) {
  const ends = new Map();
  const open = [];
  for (let i = 0; i < text.length; i += 1) {
    if (text[i] === "\\") i += 1;
    else if (text[i] === "`") i = codeAt(i).next - 1;
    else if (text[i] === "[") open.push(i);
    else if (text[i] === "]" && open.length > 0) ends.set(open.pop(), i);
  }
  const lastClose = text.lastIndexOf(")");
  return (at) => {
    const end = ends.get(at);
    if (end === undefined || text[end + 1] !== "(" || end > lastClose) return null;
    const last = text.indexOf(")", end + 2);
    return { text: text.slice(at + 1, end), target: text.slice(end + 2, last), next: last + 1 };
  };
}

const noLinks = () => null;

function entityAt(text, at) {
  const [whole = "", number, name] = /^&(?:#(\d{1,7})|([a-z]{2,4}));/.exec(text.slice(at, at + 12)) ?? [];
  if (number && Number(number) <= 0x10ffff) return { char: String.fromCodePoint(Number(number)), next: at + whole.length };
  return name && ENTITIES[name] ? { char: ENTITIES[name], next: at + whole.length } : null;
}

function referenceAt(text, at) {
  if (at > 0 && !/[\s\]]/.test(text[at - 1])) return null;
  const [whole, number] = /^\[(\d{1,4})\]/.exec(text.slice(at, at + 6)) ?? [];
  return whole ? { number: Number(number), next: at + whole.length } : null;
}

/**
 * Returns the parts of a line: `{text}`, `{code}`, `{link: parts, target}`, `{reference}`. With
 * `isPlain` it is text with code and numbers of references, as answers have it: no links or entities.
 */
export function inline(text, isPlain = false) {
  if (!/[`[\\&]/.test(text)) return text ? [{ text }] : [];
  const codeAt = codesOf(text);
  return partsOf(text, { codeAt, linkAt: isPlain ? noLinks : linksOf(text, codeAt), isPlain });
}

function partsOf(text, { codeAt, linkAt, isPlain }) {
  const parts = [];
  let plain = "";
  const push = (part) => {
    if (plain) parts.push({ text: plain });
    plain = "";
    if (part) parts.push(part);
  };
  for (let at = 0; at < text.length; ) {
    const char = text[at];
    const code = char === "`" ? codeAt(at) : null;
    const link = char === "[" ? linkAt(at) : null;
    const reference = char === "[" && isPlain ? referenceAt(text, at) : null;
    const entity = char === "&" && !isPlain ? entityAt(text, at) : null;
    if (char === "\\" && PUNCTUATION.test(text[at + 1] ?? "")) {
      plain += text[at + 1];
      at += 2;
    } else if (code) {
      if (code.from < 0) plain += text.slice(at, code.next);
      else push({ code: codeText(text, code) });
      at = code.next;
    } else if (link) {
      // A link has no links in it.
      push({ link: partsOf(link.text, { codeAt: codesOf(link.text), linkAt: noLinks, isPlain }), target: link.target });
      at = link.next;
    } else if (reference) {
      push({ reference: reference.number });
      at = reference.next;
    } else if (entity) {
      plain += entity.char;
      at = entity.next;
    } else {
      plain += char;
      at += 1;
    }
  }
  push(null);
  return parts;
}

/** Returns the cells of a row of a table. */
function cells(line) {
  const text = line.trim().replace(/^\|/, "").replace(/\|$/, "");
  return text.split(/(?<!\\)\|/).map((cell) => inline(cell.trim()));
}

/** Returns the blocks of a text: `{heading, level}`, `{paragraph}`, `{list}`, `{head, rows}`, `{fenced}`. */
export function blocks(text) {
  const found = [];
  const lines = text.split("\n");
  for (let i = 0; i < lines.length; ) {
    const line = lines[i];
    const heading = /^(#{1,6}) +(\S[^\n]*)?$/.exec(line);
    const take = (is) => {
      const from = i;
      while (i < lines.length && is(lines[i])) i += 1;
      return lines.slice(from, i);
    };
    if (!line.trim()) {
      i += 1;
    } else if (heading) {
      found.push({ heading: inline(heading[2] ?? ""), level: heading[1].length });
      i += 1;
    } else if (line.startsWith("```")) {
      i += 1;
      found.push({ fenced: take((one) => !one.startsWith("```")).join("\n") });
      i += 1;
    } else if (/^[-*] /.test(line)) {
      found.push({ list: take((one) => /^[-*] /.test(one)).map((one) => inline(one.slice(2))) });
    } else if (line.startsWith("|") && /^\|[-| :]+$/.test(lines[i + 1] ?? "")) {
      const [head, , ...rows] = take((one) => one.startsWith("|"));
      found.push({ head: cells(head), rows: rows.map(cells) });
    } else {
      const isText = (one, at = i) => one.trim() && !/^(#{1,6} |[-*] |```|\|)/.test(one) && at >= i;
      const own = take((one) => isText(one));
      // A line that only looks like the beginning of a block.
      if (own.length === 0) own.push(lines[i++]);
      found.push({ paragraph: inline(own.join(" ")) });
    }
  }
  return found;
}
