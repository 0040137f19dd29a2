// Where widgets are on the grid: nothing overlaps, and everything is as high up as it can be. Knows
// no page; an item is anything with an `id` and a `position`: `{x, y, width, height}`.

/** How many columns the grid has. */
export const COLUMNS = 12;

/** The last row that the server takes. */
const ROWS_MAX = 10_000;

/** The size of a new widget. */
export const SIZES = {
  number: { width: 3, height: 2 },
  graph: { width: 6, height: 4 },
  bar: { width: 4, height: 4 },
  pie: { width: 4, height: 4 },
  table: { width: 6, height: 4 },
  heatmap: { width: 6, height: 4 },
};

function overlaps(a, b) {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
}

/** Returns a position that is on the grid. */
export function within({ x, y, width, height }) {
  const wide = Math.min(COLUMNS, Math.max(1, Math.round(width)));
  const high = Math.min(ROWS_MAX, Math.max(1, Math.round(height)));
  const clamp = (value, most) => Math.min(most, Math.max(0, Math.round(value)));
  return { x: clamp(x, COLUMNS - wide), y: clamp(y, ROWS_MAX - high), width: wide, height: high };
}

/** Compares two items as they are read: by rows, then from the left. */
export function inOrder(a, b) {
  return a.position.y - b.position.y || a.position.x - b.position.x;
}

/** Returns how far a position can move up: to what is above it in its columns. */
function floorBelow(placed, { x, y, width }) {
  const above = placed.filter((other) => other.x < x + width && x < other.x + other.width && other.y + other.height <= y);
  return above.reduce((most, other) => Math.max(most, other.y + other.height), 0);
}

/** Returns the items with positions that do not overlap. `first` is the id of one that wins its place. */
export function settled(items, first) {
  const wins = (item) => (item.id === first ? 1 : 0);
  const order = [...items].sort((a, b) => a.position.y - b.position.y || wins(b) - wins(a) || a.position.x - b.position.x);
  const placed = [];
  const found = new Map();
  for (const item of order) {
    const position = within(item.position);
    const inTheWay = () => placed.find((other) => overlaps(position, other));
    for (let other = inTheWay(); other; other = inTheWay()) position.y = other.y + other.height;
    position.y = floorBelow(placed, position);
    placed.push(position);
    found.set(item.id, position);
  }
  return items.map((item) => (isSame(item.position, found.get(item.id)) ? item : { ...item, position: found.get(item.id) }));
}

/** Returns whether two positions are the same. */
export function isSame(a, b) {
  return a.x === b.x && a.y === b.y && a.width === b.width && a.height === b.height;
}

/** Returns the items after one got another position; the others make room. */
export function placed(items, id, position) {
  return settled(items.map((item) => (item.id === id ? { ...item, position: within(position) } : item)), id);
}

const positionOf = (items, id) => items.find((item) => item.id === id)?.position;

/** Returns the items after one was moved by the keyboard: as far as it takes to change something. */
export function stepped(items, id, dx, dy) {
  const from = positionOf(items, id);
  const rows = items.reduce((most, { position }) => Math.max(most, position.y + position.height), 0);
  for (let steps = 1; steps <= rows + 1; steps += 1) {
    const moved = placed(items, id, { ...from, x: from.x + dx * steps, y: from.y + dy * steps });
    if (!isSame(positionOf(moved, id), from)) return moved;
  }
  return items;
}

/** Returns the items after one became wider or higher. */
export function resized(items, id, dx, dy) {
  const from = positionOf(items, id);
  const width = Math.min(COLUMNS - from.x, from.width + dx);
  return placed(items, id, { ...from, width, height: from.height + dy });
}

/** Returns the items after one changed places with the one before (-1) or after (1) it. */
export function swapped(items, id, by) {
  const order = [...items].sort(inOrder);
  const at = order.findIndex((item) => item.id === id);
  const other = order[at + by];
  if (!other) return items;
  const own = order[at];
  const to = (position, { x, y }) => within({ ...position, x, y });
  const changed = items.map((item) => {
    if (item.id === own.id) return { ...item, position: to(item.position, other.position) };
    return item.id === other.id ? { ...item, position: to(item.position, own.position) } : item;
  });
  return settled(changed, by < 0 ? own.id : other.id);
}

/** Returns the place of a new item: the first that is free, from the top. */
export function freePlace(items, { width, height }) {
  const rows = items.reduce((most, { position }) => Math.max(most, position.y + position.height), 0);
  for (let y = 0; y <= rows; y += 1) {
    for (let x = 0; x + width <= COLUMNS; x += 1) {
      const position = { x, y, width, height };
      if (items.every((item) => !overlaps(position, item.position))) return position;
    }
  }
  return { x: 0, y: rows, width, height };
}

/** Returns a position in words. */
export function inWords({ x, y, width, height }) {
  return `column ${x + 1}, row ${y + 1}, ${width} wide, ${height} high`;
}
