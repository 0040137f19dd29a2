// Kinds of words in source code: comments, strings, numbers, keywords and types, line by line. It
// knows the languages that the server indexes; whatever else is shown as it is.

const C_LIKE = { line: ["//"], block: ["/*", "*/"], quotes: ['"', "'"] };
const SCRIPT = { line: ["//"], block: ["/*", "*/"], quotes: ['"', "'"], long: ["`"] };

const words = (text) => new Set(text.split(" "));
const C = "auto break case char const continue default do double else enum extern float for goto if inline int long register return short signed sizeof static struct switch typedef union unsigned void volatile while";
const JS = "as async await break case catch class const continue debugger default delete do else export extends false finally for from function get if import in instanceof let new null of return set static super switch this throw true try typeof undefined var void while with yield";

const LANGUAGES = {
  rust: { ...C_LIKE, quotes: ['"'], keywords: words("as async await break const continue crate dyn else enum extern false fn for if impl in let loop match mod move mut pub ref return self Self static struct super trait true type unsafe use where while") },
  python: { line: ["#"], quotes: ['"', "'"], long: ['"""', "'''"], keywords: words("and as assert async await break class continue def del elif else except False finally for from global if import in is lambda match None nonlocal not or pass raise return True try while with yield") },
  ruby: { line: ["#"], quotes: ['"', "'"], keywords: words("alias and begin break case class def do else elsif end ensure false for if in module next nil not or redo rescue retry return self super then true undef unless until when while yield require attr_reader attr_accessor") },
  go: { ...C_LIKE, long: ["`"], keywords: words("break case chan const continue default defer else fallthrough false for func go goto if import interface map nil package range return select struct switch true type var") },
  java: { ...C_LIKE, long: ['"""'], keywords: words("abstract assert boolean break byte case catch char class const continue default do double else enum extends false final finally float for if implements import instanceof int interface long native new null package private protected public record return short static super switch synchronized this throw throws transient true try var void volatile while") },
  c: { ...C_LIKE, keywords: words(C) },
  cpp: { ...C_LIKE, keywords: words(`${C} bool catch class concept constexpr consteval decltype delete explicit export false friend mutable namespace new noexcept nullptr operator override private protected public requires template this throw true try typename using virtual`) },
  "javascript": { ...SCRIPT, keywords: words(JS) },
  typescript: { ...SCRIPT, keywords: words(`${JS} abstract any boolean declare enum implements interface keyof namespace never number private protected public readonly string type unknown`) },
};
LANGUAGES.tsx = LANGUAGES.typescript;

const EXTENSIONS = {
  rs: "rust", py: "python", pyi: "python", rb: "ruby", rake: "ruby", go: "go", java: "java", c: "c", h: "c", cc: "cpp", cpp: "cpp", cxx: "cpp",
  hpp: "cpp", hh: "cpp", js: "javascript", mjs: "javascript", cjs: "javascript", jsx: "javascript", ts: "typescript", mts: "typescript", tsx: "typescript",
};
const WORD = /[\p{L}\p{N}_$]/u;

/** Returns the language of a path, by its extension. */
export function languageOf(path) {
  return EXTENSIONS[/\.([a-z]+)$/i.exec(path)?.[1].toLowerCase()] ?? "";
}

function wordKind(word, keywords) {
  if (keywords.has(word)) return "keyword";
  if (/^\d/.test(word)) return "number";
  return /^\p{Lu}.*\p{Ll}/u.test(word) ? "type" : "";
}

/** Returns where a string of one line ends. */
function quotedEnd(line, at, quote) {
  for (let i = at + 1; i < line.length; i += 1) {
    if (line[i] === "\\") i += 1;
    else if (line[i] === quote) return i + 1;
  }
  return line.length;
}

/** Reads one line; `open` is the end of what an earlier line began, with its kind. */
function readLine(line, rules, open) {
  const tokens = [];
  let [at, plain] = [0, ""];
  let within = open;
  const push = (kind, end) => {
    if (plain) tokens.push({ kind: "", text: plain });
    plain = "";
    if (end > at) tokens.push({ kind, text: line.slice(at, end) });
    at = end;
  };
  const until = (end, kind, from) => {
    const found = line.indexOf(end, from);
    push(kind, found < 0 ? line.length : found + end.length);
    return found < 0 ? { end, kind } : null;
  };
  while (at < line.length) {
    if (within) {
      within = until(within.end, within.kind, at);
      continue;
    }
    const begins = (mark) => line.startsWith(mark, at);
    const long = rules.long?.find(begins);
    const quote = rules.quotes.find(begins);
    if (rules.block && begins(rules.block[0])) {
      within = until(rules.block[1], "comment", at + rules.block[0].length);
    } else if (rules.line.some(begins)) {
      push("comment", line.length);
    } else if (long) {
      within = until(long, "string", at + long.length);
    } else if (quote) {
      push("string", quotedEnd(line, at, quote));
    } else if (WORD.test(line[at])) {
      let end = at + 1;
      while (end < line.length && WORD.test(line[end])) end += 1;
      const kind = wordKind(line.slice(at, end), rules.keywords);
      if (kind) push(kind, end);
      else {
        plain += line.slice(at, end);
        at = end;
      }
    } else {
      plain += line[at];
      at += 1;
    }
  }
  push("", line.length);
  return { tokens, within };
}

/** Returns the tokens of each line: `{kind, text}`, which together are the line. */
export function highlight(lines, language) {
  const rules = LANGUAGES[language];
  if (!rules) return lines.map((line) => [{ kind: "", text: line }]);
  let within = null;
  return lines.map((line) => {
    const read = readLine(line, rules, within);
    within = read.within;
    return read.tokens;
  });
}
