// A query of a metric: how the address carries it, how the API takes it, and links to Explore.
//
// The address has `q1` to `q6`, the names of metrics, each with its options: `q1.agg=avg,max`,
// `q1.by=host` (repeated), `q1.tag=host=web-*` (repeated; `=` in a key is percent-encoded),
// `q1.top`, `q1.topby`, `q1.as`.

import { href } from "../kit/router.js";

/** How many queries a page shows. */
export const QUERIES_MAX = 6;

/** How many groups can be shown; the first is the default. */
export const TOPS = [20, 5, 10, 50, 100, 1_000, 5_000];

/** What groups can be ranked by; the first is the default. */
export const TOP_BYS = ["max", "avg", "min", "sum", "last"];

/** How a query can be drawn; the first is the default. */
export const KINDS = ["lines", "areas", "stack", "bars"];

/** Aggregations of the types of metrics; the first is the default. */
export const AGGREGATIONS = {
  gauge: ["avg", "min", "max", "last"],
  counter: ["rate", "sum"],
  distribution: ["avg", "p50", "p90", "p95", "p99", "min", "max", "sum", "count"],
  set: ["count"],
};

/**
 * Returns a query with its defaults.
 * @param {string} metric
 * @param {{aggregations?: string[], groupBy?: string[], tags?: Record<string, string>, top?: number, topBy?: string,
 *   kind?: string}} [given]
 */
export function queryOf(metric, { aggregations = [], groupBy = [], tags = {}, top = TOPS[0], topBy = TOP_BYS[0], kind = KINDS[0] } = {}) {
  return { metric, aggregations, groupBy, tags, top, topBy, kind };
}

function among(list, value) {
  return list.includes(value) ? value : list[0];
}

function tagOf(text) {
  const at = text.indexOf("=");
  if (at <= 0) return null;
  try {
    return [decodeURIComponent(text.slice(0, at)), text.slice(at + 1)];
  } catch {
    return null;
  }
}

/** Returns filters of repeated parameters `key=condition`. */
export function tagsOf(texts) {
  return Object.fromEntries(texts.map(tagOf).filter(Boolean));
}

/** Returns filters as repeated parameters `key=condition`. */
export function textsOfTags(tags) {
  return Object.entries(tags).map(([key, condition]) => `${encodeURIComponent(key)}=${condition}`);
}

/** Returns the queries that an address has, without gaps. */
export function queriesOf(query) {
  const found = [];
  for (let i = 1; i <= QUERIES_MAX; i += 1) {
    const metric = query.get(`q${i}`);
    if (!metric) continue;
    const all = (name) => query.getAll(`q${i}.${name}`);
    const one = (name) => query.get(`q${i}.${name}`) ?? "";
    found.push(queryOf(metric, {
      aggregations: one("agg").split(",").filter(Boolean),
      groupBy: all("by"),
      tags: tagsOf(all("tag")),
      top: among(TOPS, Number(one("top"))),
      topBy: among(TOP_BYS, one("topby")),
      kind: among(KINDS, one("as")),
    }));
  }
  return found;
}

/** Returns the parameters of an address that has these queries; those of others are removed. */
export function parametersOf(queries) {
  const parameters = {};
  const unless = (value, list) => (value === list[0] ? null : String(value));
  for (let i = 1; i <= QUERIES_MAX; i += 1) {
    const query = queries[i - 1];
    parameters[`q${i}`] = query?.metric ?? null;
    parameters[`q${i}.agg`] = query?.aggregations.join(",") ?? null;
    parameters[`q${i}.by`] = query?.groupBy ?? null;
    parameters[`q${i}.tag`] = query ? textsOfTags(query.tags) : null;
    parameters[`q${i}.top`] = query ? unless(query.top, TOPS) : null;
    parameters[`q${i}.topby`] = query ? unless(query.topBy, TOP_BYS) : null;
    parameters[`q${i}.as`] = query ? unless(query.kind, KINDS) : null;
  }
  return parameters;
}

/** Returns the address of Explore with these queries; `range` is `{last}` or `{from, to}`, texts of the API. */
export function exploreHref(queries, range = {}) {
  return href("/explore", { ...parametersOf(queries), ...range });
}

/** Returns the path of the API for a query; `options` are further parameters. */
export function pathOf(query, options = {}) {
  const parameters = new URLSearchParams(options);
  if (query.aggregations.length > 0) parameters.set("aggregation", query.aggregations.join(","));
  if (query.groupBy.length > 0) parameters.set("group_by", query.groupBy.map((key) => `tags.${key}`).join(","));
  for (const [key, condition] of Object.entries(query.tags)) parameters.append(`tags[${key}]`, condition);
  return /** @type {const} */ (`/metrics/${encodeURIComponent(query.metric)}/query?${parameters}`);
}

/** Returns a value as a condition on a tag. */
export function conditionOf(value, operator = "is") {
  const text = value.replace(/[,!*\\]/g, "\\$&");
  if (operator === "not") return `!${text}`;
  return operator === "prefix" ? `${text}*` : text;
}

/** Returns a condition on a tag in words. */
export function conditionInWords(key, condition) {
  const plain = (text) => text.replace(/\\([,!*\\])/g, "$1");
  if (condition === "") return `without ${key}`;
  if (condition === "!") return `with ${key}`;
  return condition.startsWith("!") ? `${key} ≠ ${plain(condition.slice(1))}` : `${key} = ${plain(condition)}`;
}
