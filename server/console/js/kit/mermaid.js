// Reads the part of Mermaid's language that the server writes: flowcharts with nodes and arrows, and
// class diagrams. Every label is a text.

const KINDS = { "<|--": "extends", "<|..": "implements", "*--": "contains" };

/** Returns a label with its numbered entities as characters. */
function labelOf(text) {
  return text.replace(/#(\d{1,7});/g, (whole, number) => (Number(number) <= 0x10ffff ? String.fromCodePoint(Number(number)) : whole));
}

function addNode(nodes, id, label) {
  if (!nodes.has(id)) nodes.set(id, { id, label: labelOf(label), members: [] });
}

function flowLine(line, { nodes, edges }) {
  const [, id, label] = /^(n\d+)\["(.*)"\]$/.exec(line) ?? [];
  if (id) return addNode(nodes, id, label);
  const [, from, to] = /^(n\d+) --> (n\d+)$/.exec(line) ?? [];
  return from && edges.push({ from, to, kind: "uses" });
}

function classLine(line, { nodes, edges }) {
  const [, id, label] = /^class (c\d+)\["(.*)"\]$/.exec(line) ?? [];
  if (id) return addNode(nodes, id, label);
  const [, note, noted] = /^<<(.+)>> (c\d+)$/.exec(line) ?? [];
  if (nodes.has(noted)) return (nodes.get(noted).note = note);
  const [, owner, member] = /^(c\d+) : (.*)$/.exec(line) ?? [];
  if (nodes.has(owner)) return nodes.get(owner).members.push(labelOf(member));
  const [, left, mark, right] = /^(c\d+) (<\|--|<\|\.\.|\*--) (c\d+)$/.exec(line) ?? [];
  if (!left) return undefined;
  // The mark of what is extended or implemented is on the left.
  return edges.push(mark === "*--" ? { from: left, to: right, kind: KINDS[mark] } : { from: right, to: left, kind: KINDS[mark] });
}

/** Joins two modules' edges to each other into one that is `isMutual`. */
function mutual(edges) {
  const joined = new Map();
  for (const edge of edges) {
    const back = edge.kind === "uses" && joined.get(`${edge.to} ${edge.from} uses`);
    if (back) back.isMutual = true;
    else joined.set(`${edge.from} ${edge.to} ${edge.kind}`, edge);
  }
  return [...joined.values()];
}

/** Returns `{isLeftToRight, nodes: [{id, label, note, members}], edges: [{from, to, kind, isMutual}]}`, or null if the text is something else. */
export function read(text) {
  const [first, ...lines] = text.split("\n").map((line) => line.trim());
  const isLeftToRight = first === "flowchart LR";
  const found = { nodes: new Map(), edges: [] };
  const readLine = isLeftToRight ? flowLine : first === "classDiagram" ? classLine : null;
  if (!readLine) return null;
  for (const line of lines) readLine(line, found);
  const { nodes, edges } = found;
  const between = edges.filter(({ from, to }) => nodes.has(from) && nodes.has(to) && from !== to);
  return nodes.size > 0 ? { isLeftToRight, nodes: [...nodes.values()], edges: mutual(between) } : null;
}
