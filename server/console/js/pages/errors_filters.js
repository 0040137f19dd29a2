// The filters of the list of errors.

import { caller } from "../api/session.js";
import { html } from "../kit/html.js";
import { hrefHere, inQuery } from "../kit/router.js";
import { QuerySearch, QuerySelect } from "../parts/fields.js";
import { Icon } from "../parts/icon.js";
import { Tabs } from "../parts/tabs.js";
import { tagsOf } from "./errors_common.js";

const STATUSES = [
  { name: "unresolved", label: "Unresolved" },
  { name: "resolved", label: "Resolved" },
  { name: "ignored", label: "Ignored" },
  { name: "all", label: "All" },
];
const LEVELS = [
  { value: "", label: "Any level" },
  { value: "fatal", label: "Fatal" },
  { value: "error", label: "Error" },
  { value: "warning", label: "Warning" },
];
const SORTS = [
  { value: "", label: "Last seen" },
  { value: "first_seen", label: "First seen" },
  { value: "occurrences", label: "Occurrences" },
  { value: "users_affected", label: "Users" },
];
const KEPT = ["level", "environment", "release", "assignee", "search", "sort"];

function assignees() {
  const options = [{ value: "", label: "Anyone’s" }, { value: "none", label: "Unassigned" }];
  if (caller.value?.user) options.push({ value: "me", label: "Mine" });
  const chosen = inQuery("assignee");
  if (chosen && !options.some(({ value }) => value === chosen)) options.push({ value: chosen, label: chosen });
  return options;
}

/** The tags that are filtered by, each with a link that ends it. */
function TagChips() {
  const tags = Object.entries(tagsOf());
  if (tags.length === 0) return null;
  return html`<ul class="tags chips" aria-label="Tags">${tags.map(([key, value]) => html`<li key=${key}><a class="tag" href=${hrefHere({ [`tags[${key}]`]: null, offset: null })}>
    <span class="unseen">Remove the filter </span><bdi>${key}: ${value}</bdi><${Icon} name="x" /></a></li>`)}</ul>`;
}

export function Filters() {
  const keep = [...KEPT, ...Object.keys(tagsOf()).map((key) => `tags[${key}]`)];
  return html`<${Tabs} label="Status" name="status" views=${STATUSES} keep=${keep} />
    <div class="filters" role="search">
      <${QuerySearch} name="search" label="Search in titles and messages" maxlength="2000" />
      <${QuerySearch} name="environment" label="Environment" icon="globe" kind="narrow" title="a · a,b · !a · a*" />
      <${QuerySearch} name="release" label="Release" icon="tag" kind="narrow" title="a · a,b · !a · a*" />
      <${QuerySelect} name="level" label="Level" options=${LEVELS} />
      <${QuerySelect} name="assignee" label="Assignee" options=${assignees()} />
      <${QuerySelect} name="sort" label="Sort by" options=${SORTS} />
    </div><${TagChips} />`;
}
