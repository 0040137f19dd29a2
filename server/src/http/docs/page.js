// Renders the OpenAPI document of this server. Text from the document only ever becomes text nodes.
"use strict";

const METHODS = ["get", "post", "put", "patch", "delete"];
const DEPTH_MAX = 8;

/** Creates an element: attributes by name, children as nodes or strings. */
function el(tag, attributes, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value !== undefined && value !== false) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false && child !== ""));
  return node;
}

/** Turns `code` in a description into code elements. */
function prose(text) {
  return (text || "").split("`").map((part, i) => (i % 2 ? el("code", {}, part) : part));
}

/** The document, with resolution of references. */
class Spec {
  constructor(document) {
    this.document = document;
  }

  operations() {
    const all = [];
    for (const [path, methods] of Object.entries(this.document.paths)) {
      for (const method of METHODS) {
        if (methods[method]) all.push({ path, method, ...methods[method] });
      }
    }
    return all;
  }

  follow(schema) {
    let seen = 0;
    while (schema && schema.$ref && seen++ < DEPTH_MAX) {
      const target = schema.$ref.slice(2).split("/").reduce((at, key) => at && at[key], this.document);
      schema = { ...target, ...schema, $ref: target && target.$ref };
    }
    return schema || {};
  }

  /** Returns the alternatives of a schema, without null. */
  alternatives(schema) {
    const either = schema.anyOf || schema.oneOf;
    return either ? either.map((one) => this.follow(one)).filter((one) => one.type !== "null") : null;
  }

  /** Returns a short description of the values that a schema accepts. */
  kind(given) {
    const schema = this.follow(given);
    const either = this.alternatives(schema);
    if (schema.const !== undefined) return JSON.stringify(schema.const);
    if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
    if (either) return [...new Set(either.map((one) => this.kind(one)))].join(" | ");
    const types = [schema.type || "any"].flat().filter((type) => type !== "null");
    const words = types.map((type) => {
      if (type === "array") return `array of ${this.kind(schema.items || {})}`;
      if (type === "string" && schema.format) return schema.format;
      if (type === "integer" && schema.maximum !== undefined) return `integer ${schema.minimum ?? 0} – ${schema.maximum}`;
      return type;
    });
    return words.join(" | ");
  }

  /** Returns the object within a schema whose fields are to be shown, if there is one. */
  fields(given) {
    const schema = this.follow(given);
    if (schema.properties) return schema;
    if (schema.items) return this.fields(schema.items);
    if (schema.additionalProperties instanceof Object) return this.fields(schema.additionalProperties);
    return (this.alternatives(schema) || []).map((one) => this.fields(one)).find(Boolean) || null;
  }

  /** Returns an example value that conforms to a schema. */
  example(given, depth = 0) {
    const schema = this.follow(given);
    if (schema.examples && schema.examples.length) return schema.examples[0];
    if (schema.const !== undefined) return schema.const;
    if (schema.default !== undefined && schema.default !== null) return schema.default;
    if (schema.enum) return schema.enum[0];
    const either = this.alternatives(schema);
    if (either && either.length) return this.example(either[0], depth + 1);
    const type = [schema.type || (schema.properties ? "object" : "null")].flat()[0];
    if (type === "object") return this.exampleObject(schema, depth);
    if (type === "array") return depth > DEPTH_MAX ? [] : [this.example(schema.items || {}, depth + 1)];
    return { string: schema.format === "date-time" ? new Date().toISOString() : "text", boolean: true, null: null }[type] ??
      (type === "null" ? null : schema.minimum ?? 1);
  }

  exampleObject(schema, depth) {
    const required = schema.required || [];
    const wanted = Object.entries(schema.properties || {}).filter(([name]) => required.includes(name));
    const shown = wanted.length ? wanted : Object.entries(schema.properties || {});
    if (depth > DEPTH_MAX) return {};
    return Object.fromEntries(shown.map(([name, field]) => [name, this.example(field, depth + 1)]));
  }
}

/** Returns a table of an object's fields, one per row; nested fields can be expanded. */
function fieldTable(spec, schema, depth = 0) {
  const required = schema.required || [];
  const rows = Object.entries(schema.properties || {}).map(([name, field]) => {
    const inner = depth < DEPTH_MAX ? spec.fields(field) : null;
    const about = spec.follow(field).description;
    const nested = inner && el("details", { open: depth < 1 }, el("summary", {}, "fields"), fieldTable(spec, inner, depth + 1));
    return el("tr", {},
      el("td", {}, el("code", { class: required.includes(name) ? "must" : undefined }, name), el("span", { class: "kind" }, spec.kind(field))),
      el("td", {}, prose(about), nested && el("div", { class: "schema" }, nested)));
  });
  return el("table", {}, el("tbody", {}, rows));
}

function parameterTable(spec, parameters) {
  const rows = parameters.map((parameter) => {
    const where = { path: "in the path", header: "header" }[parameter.in];
    const kind = [spec.kind(parameter.schema), where].filter(Boolean).join(", ");
    const isFamily = parameter.style === "deepObject";
    const example = isFamily ? Object.values(parameter.example || {})[0] : parameter.example;
    return el("tr", {},
      el("td", {}, el("code", { class: parameter.required ? "must" : undefined }, isFamily ? `${parameter.name}[key]` : parameter.name), el("span", { class: "kind" }, kind)),
      el("td", {}, prose(parameter.description),
        example ? [" For example ", el("code", {}, example), "."] : ""));
  });
  return el("table", {}, el("tbody", {}, rows));
}

/** Returns a code block with a copy button. */
function copyable(text) {
  const button = el("button", { type: "button" }, "Copy");
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
    } catch {
      button.textContent = "Select and copy";
      getSelection().selectAllChildren(pre);
    }
    setTimeout(() => (button.textContent = "Copy"), 1500);
  });
  const pre = el("pre", {}, text);
  return el("div", { class: "code" }, pre, button);
}

function quoted(text) {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function curl(spec, operation) {
  const given = (parameter) => encodeURIComponent(parameter.example || parameter.name);
  let path = operation.path;
  const query = [];
  for (const parameter of operation.parameters || []) {
    if (parameter.in === "path") path = path.replace(`{${parameter.name}}`, given(parameter));
    if (parameter.in === "query" && parameter.required) query.push(`${parameter.name}=${given(parameter)}`);
  }
  const url = location.origin + path + (query.length ? `?${query.join("&")}` : "");
  const lines = [operation.method === "get" ? `curl ${quoted(url)}` : `curl -X ${operation.method.toUpperCase()} ${quoted(url)}`];
  if (operation["x-scope"]) lines.push(`-H "Authorization: Bearer $TELLTALE_KEY"`);
  const schema = operation.requestBody?.content?.["application/json"]?.schema;
  if (schema) {
    lines.push(`-H 'Content-Type: application/json'`);
    lines.push(`-d ${quoted(JSON.stringify(spec.example(schema), null, 2))}`);
  }
  return lines.join(" \\\n  ");
}

function answers(spec, responses) {
  const rows = Object.entries(responses).sort(([a], [b]) => a - b).map(([status, response]) => {
    const good = status < 400;
    const [media, content] = Object.entries(response.content || {})[0] || [];
    const schema = good && content && content.schema;
    const fields = schema && spec.fields(schema);
    const about = good ? (fields ? "" : schema ? spec.kind(schema) : media || "") : prose(response.description);
    return el("tr", {},
      el("td", {}, el("span", { class: `status ${good ? "good" : "bad"}` }, status)),
      el("td", {}, about, fields && fieldTable(spec, fields)));
  });
  return el("table", {}, el("tbody", {}, rows));
}

function pathNodes(path) {
  return path.split(/(\{[^}]*\})/).map((part) => (part.startsWith("{") ? el("b", {}, part) : part));
}

function chips(operation) {
  const limit = operation["x-limit"] || {};
  return [
    el("span", { class: "chip" }, operation["x-scope"] ? `scope ${operation["x-scope"]}` : "no key"),
    limit.per_minute ? el("span", { class: "chip" }, `${limit.per_minute} per minute (${limit.class})`) : null,
    operation["x-extension"] ? el("span", { class: "chip ext" }, "ext") : null,
  ];
}

function section(spec, operation) {
  const body = operation.requestBody?.content?.["application/json"]?.schema;
  const fields = body && spec.fields(body);
  const parameters = operation.parameters || [];
  return el("article", { class: "operation", id: operation.operationId },
    el("h3", {}, el("a", { href: `#${operation.operationId}` }, operation.summary)),
    el("div", { class: "line" },
      el("span", { class: `verb ${operation.method}` }, operation.method.toUpperCase()),
      el("span", { class: "path" }, pathNodes(operation.path)), chips(operation)),
    operation.description ? el("p", {}, prose(operation.description)) : null,
    parameters.length ? [el("h4", {}, "Parameters"), parameterTable(spec, parameters)] : null,
    fields ? [el("h4", {}, "Body"), fieldTable(spec, fields)] : null,
    el("h4", {}, "Responses"), answers(spec, operation.responses),
    el("h4", {}, "Try it"), copyable(curl(spec, operation)));
}

function byArea(spec) {
  const areas = new Map(spec.document.tags.map((tag) => [tag.name, []]));
  for (const operation of spec.operations()) areas.get(operation.tags[0]).push(operation);
  return areas;
}

function indexEntry(operation) {
  const text = `${operation.method} ${operation.path} ${operation.summary}`.toLowerCase();
  return el("li", { "data-text": text },
    el("a", { href: `#${operation.operationId}`, title: `${operation.method.toUpperCase()} ${operation.path}` },
      el("span", { class: `verb ${operation.method}` }, operation.method.toUpperCase()), operation.summary));
}

function listenToSearch() {
  const search = document.getElementById("search");
  search.addEventListener("input", () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let found = 0;
    for (const area of document.querySelectorAll("#index > div")) {
      const items = [...area.querySelectorAll("li")];
      for (const item of items) item.hidden = !words.every((word) => item.dataset.text.includes(word));
      const shown = items.filter((item) => !item.hidden).length;
      area.hidden = shown === 0;
      found += shown;
    }
    document.getElementById("nothing").hidden = found > 0;
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && document.activeElement !== search) {
      event.preventDefault();
      search.focus();
    }
  });
}

function render(spec) {
  const { info } = spec.document;
  document.getElementById("version").textContent = info.version;
  document.getElementById("summary").textContent = info.summary;
  const index = document.getElementById("index");
  const areas = document.getElementById("areas");
  areas.replaceChildren();
  for (const [name, operations] of byArea(spec)) {
    index.append(el("div", {}, el("h2", {}, name), el("ul", {}, operations.map(indexEntry))));
    areas.append(el("section", { class: "area" }, el("h2", {}, name), operations.map((operation) => section(spec, operation))));
  }
  listenToSearch();
  if (location.hash) document.getElementById(location.hash.slice(1))?.scrollIntoView();
}

fetch("/api/v1/openapi.json")
  .then((response) => (response.ok ? response.json() : Promise.reject(new Error(`status ${response.status}`))))
  .then((document) => render(new Spec(document)))
  .catch((error) => {
    document.getElementById("areas").replaceChildren(el("p", { class: "wait" }, `Failed to load the API document: ${error.message}.`));
  });
