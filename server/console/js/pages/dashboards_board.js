// A dashboard and the values of its widgets: few requests, and none for widgets that nobody sees.

import { signal } from "@preact/signals";
import { etagOf, get } from "../api/client.js";
import { limits, secondsOf } from "../kit/range.js";
import { inQuery, place } from "../kit/router.js";

const RANGE_DEFAULT = "24h";
/** So many widgets are loaded with a request each; more of them with one for the whole dashboard. */
const SINGLE_MAX = 4;
const VARIABLE = "var-";
/** So many widgets are loaded at once with their dashboard. */
const WHOLE_MAX = 24;

/** How many widgets dashboards have that a list has shown: who opens one from it waits for one request only. */
export const sizes = new Map();

/** Returns whether the address has a range, which then is that of all widgets. */
export function hasSharedRange() {
  return Boolean(inQuery("last") || inQuery("from"));
}

/** Returns the values that the address has for variables of a dashboard: `{name: value}`. */
export function chosenVariables(declared = []) {
  const names = new Set(declared.map(({ name }) => VARIABLE + name));
  const chosen = [...place.value.query].filter(([name]) => names.has(name));
  return Object.fromEntries(chosen.map(([name, value]) => [name.slice(VARIABLE.length), value]));
}

/** Returns a text that changes with the values of variables in the address, whichever the dashboard has. */
export function variablesKey() {
  return JSON.stringify([...place.value.query].filter(([name]) => name.startsWith(VARIABLE)));
}

/** Returns the name of a variable in the address. */
export const inAddress = (name) => VARIABLE + name;

/** Returns the range of a widget in milliseconds, as the server takes it. */
function rangeOf(widget, { shared, now }) {
  return shared ?? { from: now - (secondsOf(widget.options?.time_range ?? RANGE_DEFAULT) ?? 0) * 1000, to: now };
}

/**
 * Returns the query of a request for values.
 * @param {Pick<Moment, "shared">} moment
 * @param {Record<string, string>} [variables]
 * @returns {"" | `?${string}`}
 */
export function queryText({ shared }, variables = {}) {
  const query = new URLSearchParams();
  if (shared) {
    query.set("from", new Date(shared.from).toISOString());
    query.set("to", new Date(shared.to).toISOString());
  }
  for (const [name, value] of Object.entries(variables)) query.append(`var[${name}]`, value);
  const text = query.toString();
  return text && `?${text}`;
}

/** Asks for the values of graphs as columns, which are a fraction of the size. */
const asColumns = (query) => `?format=columns${query.replace("?", "&")}`;

/**
 * Returns what values are loaded for now.
 * @returns {Moment}
 */
export function momentNow(declared) {
  const now = Date.now();
  return { now, shared: hasSharedRange() ? limits(now) : null, variables: chosenVariables(declared) };
}

/** What a widget is, without its values. */
const DEFINITION = ["id", "type", "title", "position", "query", "options", "created_at"];

/** Splits a widget of the API into its definition and its values. */
function splitWidget(widget) {
  const entries = Object.entries(widget);
  const only = (isWanted) => Object.fromEntries(entries.filter(([name]) => isWanted(name)));
  return { definition: only((name) => DEFINITION.includes(name)), values: only((name) => !DEFINITION.includes(name)) };
}

const revisionOf = (etag) => etag?.replace(/^W\//, "").split(".")[0];

/** @typedef {Omit<import("telltale").Dashboard, "widgets"> & {widgets: any[], etag: string | null}} Stored */
/** @typedef {{now: number, shared: {from: number, to: number} | null, variables: Record<string, string>}} Moment */

/** Loads a dashboard. `board.value` is `{id, name, …, widgets, etag}`, or undefined. */
export class Board {
  board = signal(/** @type {Stored | undefined} */ (undefined));

  #id;
  #path;
  #values = new Map();
  #visible = new Set();
  #isScheduled = false;
  #abort = new AbortController();
  /** Which widgets are being loaded, and for what. */
  #loading = new Map();
  /**
   * What values are loaded for: they are out of date if it is another one.
   * @type {Moment | null}
   */
  #moment = null;

  constructor(id) {
    this.#id = id;
    this.#path = `/dashboards/${encodeURIComponent(id)}`;
  }

  /** The values of a widget: `{values, range, failure}`, or undefined until they are loaded. */
  valuesOf(id) {
    if (!this.#values.has(id)) this.#values.set(id, signal(undefined));
    return this.#values.get(id);
  }

  /** Loads the definitions alone. */
  async loadDefinitions(abort) {
    // The values of an empty range: the API has no way to leave them out.
    this.adopt(await get(`${this.#path}?from=1970-01-01T00:00:00Z&to=1970-01-01T00:00:00.001Z`, abort));
    return this.board.value;
  }

  /** Loads again what is visible, and everything else when it becomes visible. */
  async load(abort) {
    this.#abort.abort();
    this.#abort = new AbortController();
    abort?.addEventListener("abort", () => this.#abort.abort());
    if (!this.board.value && this.#isSmall()) {
      this.#moment = momentNow([]);
      await this.#loadAll(this.#path + asColumns(queryText(this.#moment)), this.#moment);
      return this.board.value;
    }
    if (!this.board.value) await this.loadDefinitions(abort);
    this.#moment = momentNow(this.board.value?.variables);
    await this.#loadVisible();
    return this.board.value;
  }

  /** Notes which widgets are visible, and loads those that became so. */
  show(id, isVisible) {
    if (isVisible) this.#visible.add(id);
    else this.#visible.delete(id);
    if (!isVisible || this.#isScheduled) return;
    this.#isScheduled = true;
    queueMicrotask(() => {
      this.#isScheduled = false;
      this.#loadVisible().catch(() => undefined);
    });
  }

  /** Takes the definitions of a response; those that did not change stay as they are. */
  adopt(answer) {
    const before = this.board.peek();
    const etag = etagOf(answer);
    if (before && revisionOf(before.etag) === revisionOf(etag)) return;
    const widgets = answer.data.widgets.map((widget) => splitWidget(widget).definition);
    this.board.value = { ...answer.data, widgets, etag };
  }

  /** Whether it is known to have few widgets; values of variables can only be sent once their names are known. */
  #isSmall() {
    return variablesKey() === "[]" && sizes.has(this.#id) && sizes.get(this.#id) <= WHOLE_MAX;
  }

  async #loadVisible() {
    const moment = this.#moment;
    const widgets = this.board.value?.widgets ?? [];
    const wanted = widgets.filter(({ id }) => this.#visible.has(id) && this.valuesOf(id).peek()?.moment !== moment && !this.#isLoading(id, moment));
    if (!moment || wanted.length === 0) return;
    for (const { id } of wanted) this.#loading.set(id, moment);
    const all = this.#path + asColumns(queryText(moment, moment.variables));
    try {
      if (wanted.length > SINGLE_MAX && wanted.length * 2 >= widgets.length) await this.#loadAll(all, moment);
      else await Promise.all(wanted.map((widget) => this.#loadOne(widget, moment)));
    } catch (failure) {
      if (moment === this.#moment) for (const { id } of wanted) this.#fail(id, failure, moment);
      throw failure;
    } finally {
      for (const { id } of wanted) if (this.#loading.get(id) === moment) this.#loading.delete(id);
    }
  }

  #isLoading(id, moment) {
    return this.#loading.get(id) === moment;
  }

  async #loadAll(path, moment) {
    const abort = this.#abort.signal;
    const answer = await get(path, abort);
    if (abort.aborted) return;
    this.adopt(answer);
    for (const widget of answer.data.widgets) this.#take(widget, splitWidget(widget).values, moment);
  }

  async #loadOne(widget, moment) {
    const abort = this.#abort.signal;
    const path = `${this.#path}/widgets/${encodeURIComponent(widget.id)}/data${asColumns(queryText(moment, moment.variables))}`;
    try {
      const answer = await get(path, abort);
      if (abort.aborted) return;
      const { id, type, from, to, ...values } = answer.data;
      this.#take(widget, values, moment);
      if (revisionOf(etagOf(answer)) !== revisionOf(this.board.value?.etag)) await this.loadDefinitions(abort);
    } catch (failure) {
      if (abort.aborted) throw failure;
      this.#fail(widget.id, failure, moment);
    }
  }

  /** Keeps older values beside the failure. */
  #fail(id, failure, moment) {
    if (failure.name === "AbortError") return;
    const state = this.valuesOf(id);
    state.value = { ...state.peek(), failure, moment };
  }

  /** Keeps what did not change as it is, so that nothing draws it again. */
  #take(widget, values, moment) {
    const state = this.valuesOf(widget.id);
    const before = state.peek();
    const isSame = before?.values !== undefined && JSON.stringify(before.values) === JSON.stringify(values);
    const range = rangeOf(widget, moment);
    const isSameRange = before?.range && before.range.from === range.from && before.range.to === range.to;
    if (before && !before.failure && isSame && isSameRange) before.moment = moment;
    else state.value = { values: isSame ? before.values : values, range, moment, failure: null };
  }
}
