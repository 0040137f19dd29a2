// Compares scripts with what is shipped of them: the syntax trees must be the same. Prints the names of
// those that differ as a JSON list, after the number of scripts.
//
// Arguments: the folder of the scripts, and that of what is shipped of them.

const { readdirSync, readFileSync } = require("node:fs");
const { join } = require("node:path");
const ts = require("typescript");

/** Returns a syntax tree as a text, without comments and places; markup without white space at the begin of its lines. */
function treeOf(source) {
  const file = ts.createSourceFile("a.js", source, ts.ScriptTarget.Latest, false, ts.ScriptKind.JS);
  const parts = [file.parseDiagnostics.length];
  let isMarkup = false;
  const visit = (node) => {
    const before = isMarkup;
    if (ts.isTaggedTemplateExpression(node)) isMarkup = node.tag.escapedText === "html";
    parts.push(node.kind, node.flags & ts.NodeFlags.BlockScoped, node.operator ?? "");
    if (node.text !== undefined) {
      const text = node.rawText ?? node.text;
      parts.push(isMarkup ? text.replace(/\n */g, "\n") : text);
    }
    ts.forEachChild(node, (child) => {
      const outside = isMarkup;
      if (!ts.isTemplateExpression(child) && !ts.isTemplateSpan(child) && !ts.isTemplateLiteralToken(child)) isMarkup = false;
      visit(child);
      isMarkup = outside;
    });
    parts.push("end");
    isMarkup = before;
  };
  ts.forEachChild(file, visit);
  return JSON.stringify(parts);
}

const [source, shipped] = process.argv.slice(-2);
const names = readdirSync(source, { recursive: true }).filter((name) => name.endsWith(".js"));
const differ = names.filter((name) => treeOf(readFileSync(join(source, name), "utf8")) !== treeOf(readFileSync(join(shipped, name), "utf8")));
console.log(JSON.stringify([names.length, differ]));
