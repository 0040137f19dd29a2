// Places the nodes of a directed graph in layers, so that most edges point one way, few of them cross,
// and none runs through a node: edges over several layers pass through places of their own.

const SWEEPS = 8;
const LAYER_GAP = 70;
const NODE_GAP = 16;
const WAY_SIZE = 4;

/** Marks the edges that would close a circle: they are drawn against the direction. */
function withoutCircles(ids, edges) {
  const below = new Map(ids.map((id) => [id, []]));
  edges.forEach((edge) => below.get(edge.from).push(edge));
  const seen = new Map();
  const against = new Set();
  const visit = (root) => {
    const stack = [[root, 0]];
    seen.set(root, "open");
    while (stack.length > 0) {
      const top = stack[stack.length - 1];
      const edge = below.get(top[0])[top[1]++];
      if (!edge) {
        seen.set(top[0], "done");
        stack.pop();
      } else if (seen.get(edge.to) === "open") {
        against.add(edge);
      } else if (!seen.has(edge.to)) {
        seen.set(edge.to, "open");
        stack.push([edge.to, 0]);
      }
    }
  };
  // Nodes that nothing points to come first.
  const targets = new Set(edges.map(({ to }) => to));
  for (const id of [...ids].sort((a, b) => Number(targets.has(a)) - Number(targets.has(b)))) if (!seen.has(id)) visit(id);
  return edges.map((edge) => (against.has(edge) ? { edge, from: edge.to, to: edge.from } : { edge, from: edge.from, to: edge.to }));
}

/** Returns the layer of each node: one after all those that point to it. */
function layersOf(ids, arrows) {
  const layer = new Map(ids.map((id) => [id, 0]));
  for (let round = 0; round < ids.length; round += 1) {
    let isChanged = false;
    for (const { from, to } of arrows) {
      if (layer.get(to) > layer.get(from)) continue;
      layer.set(to, layer.get(from) + 1);
      isChanged = true;
    }
    if (!isChanged) break;
  }
  return layer;
}

/** Returns layers of places, and for each edge the places that it passes. */
function placed(nodes, arrows, layer) {
  const layers = [];
  const add = (place) => (layers[place.layer] ??= []).push(place);
  const byId = new Map(nodes.map((node) => [node.id, { ...node, layer: layer.get(node.id), before: [], after: [] }]));
  byId.forEach(add);
  const ways = arrows.map(({ edge, from, to }) => {
    const way = [byId.get(from)];
    for (let at = layer.get(from) + 1; at < layer.get(to); at += 1) {
      const place = { isWay: true, along: WAY_SIZE, across: WAY_SIZE, layer: at, before: [], after: [] };
      add(place);
      way.push(place);
    }
    way.push(byId.get(to));
    for (let i = 1; i < way.length; i += 1) {
      way[i - 1].after.push(way[i]);
      way[i].before.push(way[i - 1]);
    }
    return { edge, way, isReversed: from !== edge.from };
  });
  for (let i = 0; i < layers.length; i += 1) layers[i] ??= [];
  return { layers, ways, byId };
}

const number = (layers) => layers.forEach((layer) => layer.forEach((place, i) => (place.order = i)));

/** Orders each layer by where the neighbours of its places are, down and up again. */
function order(layers) {
  number(layers);
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    const side = sweep % 2 === 0 ? "before" : "after";
    for (const layer of side === "before" ? layers : [...layers].reverse()) {
      for (const place of layer) {
        const near = place[side];
        place.wish = near.length ? near.reduce((sum, one) => sum + one.order, 0) / near.length : place.order;
      }
      layer.sort((a, b) => a.wish - b.wish || a.order - b.order);
      layer.forEach((place, i) => (place.order = i));
    }
  }
}

/** Moves places apart that are too near, each as little as possible: those that touch are moved together. */
function separate(layer) {
  const gap = (a, b) => (a.across + b.across) / 2 + (a.isWay && b.isWay ? NODE_GAP / 2 : NODE_GAP);
  let offset = 0;
  const groups = [];
  layer.forEach((place, i) => {
    if (i > 0) offset += gap(layer[i - 1], place);
    place.offset = offset;
    groups.push({ sum: place.at - offset, places: [place] });
    while (groups.length > 1 && mean(groups[groups.length - 2]) > mean(groups[groups.length - 1])) {
      const { sum, places } = groups.pop();
      const before = groups[groups.length - 1];
      before.sum += sum;
      before.places.push(...places);
    }
  });
  for (const group of groups) for (const place of group.places) place.at = mean(group) + place.offset;
}

const mean = ({ sum, places }) => sum / places.length;

function align(layers) {
  for (const layer of layers) {
    layer.forEach((place) => (place.at = 0));
    separate(layer);
  }
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    const side = sweep % 2 === 0 ? "before" : "after";
    for (const layer of side === "before" ? layers : [...layers].reverse()) {
      for (const place of layer) if (place[side].length) place.at = place[side].reduce((sum, one) => sum + one.at, 0) / place[side].length;
      separate(layer);
    }
  }
}

/**
 * `nodes`: `[{id, along, across}]`, their sizes in and across the direction; `edges`: `[{from, to}]`.
 * Returns `{length, breadth, nodes: Map(id → {start, at}), ways: [{edge, points: [[along, across]], isReversed}]}`.
 */
export function layout(nodes, edges) {
  const ids = nodes.map(({ id }) => id);
  const arrows = withoutCircles(ids, edges);
  const { layers, ways, byId } = placed(nodes, arrows, layersOf(ids, arrows));
  order(layers);
  align(layers);
  let start = 0;
  for (const layer of layers) {
    const size = Math.max(0, ...layer.map(({ along }) => along));
    for (const place of layer) Object.assign(place, { start: start + (size - place.along) / 2, size });
    start += size + LAYER_GAP;
  }
  const all = layers.flat();
  const least = Math.min(...all.map(({ at, across }) => at - across / 2));
  const most = Math.max(...all.map(({ at, across }) => at + across / 2));
  for (const place of all) place.at -= least;
  return {
    length: start - LAYER_GAP,
    breadth: most - least,
    nodes: byId,
    ways: ways.map(({ edge, way, isReversed }) => ({ edge, isReversed, points: pointsOf(way) })),
  };
}

function pointsOf(way) {
  return way.flatMap((place, i) => {
    if (i === 0) return [[place.start + place.along, place.at]];
    if (i === way.length - 1) return [[place.start, place.at]];
    // Straight through the layer, so that it crosses no node of it.
    const middle = place.start + place.along / 2;
    return [[middle - place.size / 2, place.at], [middle + place.size / 2, place.at]];
  });
}
