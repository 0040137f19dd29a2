// Places the nodes of a directed graph in layers, so that most edges point one way, few of them cross,
// and none runs through a node: edges over several layers pass through places of their own.

const SWEEPS_MAX = 8;
/** So many places are moved in all sweeps together; a large drawing is ordered less often. */
const MOVES_MAX = 16_000;
const LAYER_GAP = 70;
const NODE_GAP = 16;
const WAY = { along: 4, across: 4 };
/** So many places edges have in layers that they pass; those beyond are drawn straight. */
const WAYS_MAX = 4_000;

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
  const after = new Map(ids.map((id) => [id, []]));
  const waits = new Map(ids.map((id) => [id, 0]));
  for (const { from, to } of arrows) {
    after.get(from).push(to);
    waits.set(to, waits.get(to) + 1);
  }
  // A node is done when all those before it are.
  const ready = ids.filter((id) => waits.get(id) === 0);
  for (let i = 0; i < ready.length; i += 1) {
    for (const to of after.get(ready[i])) {
      layer.set(to, Math.max(layer.get(to), layer.get(ready[i]) + 1));
      waits.set(to, waits.get(to) - 1);
      if (waits.get(to) === 0) ready.push(to);
    }
  }
  return layer;
}

/** Returns a place of a layer, with all that is found out about it: objects of one shape are fast. */
function placeIn(layer, { id = "", along, across }, isWay = false) {
  const found = { order: 0, wish: 0, at: 0, offset: 0, start: 0, size: 0 };
  return { id, along, across, isWay, layer, before: [], after: [], ...found };
}

/** Returns layers of places, and for each edge the places that it passes. */
function placed(nodes, arrows, layer) {
  const layers = [];
  const add = (place) => (layers[place.layer] ??= []).push(place);
  const byId = new Map(nodes.map((node) => [node.id, placeIn(layer.get(node.id), node)]));
  byId.forEach(add);
  let left = WAYS_MAX;
  const ways = arrows.map(({ edge, from, to }) => {
    const way = [byId.get(from)];
    const passed = layer.get(to) - layer.get(from) - 1;
    const isStraight = passed > left;
    left -= isStraight ? 0 : passed;
    for (let at = layer.get(from) + 1; at < layer.get(to) && !isStraight; at += 1) {
      const place = placeIn(at, WAY, true);
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

function sweepsOf(layers) {
  const places = layers.reduce((sum, { length }) => sum + length, 0);
  return Math.max(1, Math.min(SWEEPS_MAX, Math.floor(MOVES_MAX / places)));
}

const number = (layers) => layers.forEach((layer) => layer.forEach((place, i) => (place.order = i)));

/** Orders each layer by where the neighbours of its places are, down and up again. */
function order(layers) {
  number(layers);
  for (let sweep = 0, sweeps = sweepsOf(layers); sweep < sweeps; sweep += 1) {
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
    groups.push({ sum: place.at - offset, first: i, count: 1 });
    while (groups.length > 1 && mean(groups[groups.length - 2]) > mean(groups[groups.length - 1])) {
      const { sum, count } = groups.pop();
      const before = groups[groups.length - 1];
      before.sum += sum;
      before.count += count;
    }
  });
  for (const group of groups) {
    for (let i = group.first; i < group.first + group.count; i += 1) layer[i].at = mean(group) + layer[i].offset;
  }
}

const mean = ({ sum, count }) => sum / count;

function align(layers) {
  for (const layer of layers) {
    layer.forEach((place) => (place.at = 0));
    separate(layer);
  }
  for (let sweep = 0, sweeps = sweepsOf(layers); sweep < sweeps; sweep += 1) {
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
    const size = layer.reduce((most, { along }) => Math.max(most, along), 0);
    for (const place of layer) {
      place.start = start + (size - place.along) / 2;
      place.size = size;
    }
    start += size + LAYER_GAP;
  }
  const all = layers.flat();
  const least = all.reduce((before, { at, across }) => Math.min(before, at - across / 2), Infinity);
  const most = all.reduce((before, { at, across }) => Math.max(before, at + across / 2), -Infinity);
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
