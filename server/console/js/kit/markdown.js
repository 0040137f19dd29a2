// Reads the part of Markdown that the server writes, as data: headings, paragraphs, lists, tables,
// code and links. Nothing becomes markup: whoever shows it makes elements with text in them.

const ENTITIES = { lt: "<", gt: ">", amp: "&", quot: '"' };
const PUNCTUATION = /[!-/:-@[-`{-~]/;

/** Returns how many backticks there are at a position. */
function backticksAt(text, at) {
  let end = at;
  while (text[end] === "`") end += 1;
  return end - at;
}

/** Returns the code that begins at a run of backticks, and where the text goes on; null without an end. */
function codeAt(text, at) {
  const fence = backticksAt(text, at);
  for (let end = at + fence; ; ) {
    end = text.indexOf("`", end);
    if (end < 0) return null;
    const run = backticksAt(text, end);
    if (run === fence) {
      const code = text.slice(at + fence, end);
      const isPadded = code.length > 2 && code.startsWith(" ") && code.endsWith(" ") && code.trim();
      return { code: isPadded ? code.slice(1, -1) : code, next: end + run };
    }
    end += run;
  }
}

/** Returns where the bracket at a position ends, or -1. Escaped ones and those in code do not count. */
function closing(text, at, open, close) {
  let depth = 0;
  for (let i = at; i < text.length; i += 1) {
    const code = text[i] === "`" ? codeAt(text, i) : null;
    if (text[i] === "\\") i += 1;
    else if (code) i = code.next - 1;
    else if (text[i] === open) depth += 1;
    else if (text[i] === close && (depth -= 1) === 0) return i;
  }
  return -1;
}

function linkAt(text, at) {
  const end = closing(text, at, "[", "]");
  if (end < 0 || text[end + 1] !== "(") return null;
  const last = text.indexOf(")", end + 2);
  if (last < 0) return null;
  return { text: text.slice(at + 1, end), target: text.slice(end + 2, last), next: last + 1 };
}

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
  const parts = [];
  let plain = "";
  const push = (part) => {
    if (plain) parts.push({ text: plain });
    plain = "";
    if (part) parts.push(part);
  };
  for (let at = 0; at < text.length; ) {
    const char = text[at];
    const code = char === "`" ? codeAt(text, at) : null;
    const link = char === "[" && !isPlain ? linkAt(text, at) : null;
    const reference = char === "[" && isPlain ? referenceAt(text, at) : null;
    const entity = char === "&" && !isPlain ? entityAt(text, at) : null;
    if (char === "\\" && PUNCTUATION.test(text[at + 1] ?? "")) {
      plain += text[at + 1];
      at += 2;
    } else if (code) {
      push({ code: code.code });
      at = code.next;
    } else if (link) {
      push({ link: inline(link.text), target: link.target });
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
    const heading = /^(#{1,6}) +(.*)$/.exec(line);
    const take = (is) => {
      const from = i;
      while (i < lines.length && is(lines[i])) i += 1;
      return lines.slice(from, i);
    };
    if (!line.trim()) {
      i += 1;
    } else if (heading) {
      found.push({ heading: inline(heading[2]), level: heading[1].length });
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
