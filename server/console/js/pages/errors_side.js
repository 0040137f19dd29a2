// Beside an error: its numbers, the values of its tags, what was done about it and written.

import { useState } from "preact/hooks";
import { call, get } from "../api/client.js";
import { may } from "../api/session.js";
import { useElement } from "../kit/element.js";
import { failed } from "../kit/failed.js";
import { amount, count, instant, share } from "../kit/format.js";
import { html } from "../kit/html.js";
import { useLoaded } from "../kit/loading.js";
import { rangeKey, refresh } from "../kit/range.js";
import { href } from "../kit/router.js";
import { Button } from "../parts/button.js";
import { Icon } from "../parts/icon.js";
import { Failure, Loaded } from "../parts/loaded.js";
import { ShareBar } from "../parts/share_bar.js";
import { Time } from "../parts/time.js";
import { apiPath, errorHref } from "./errors_common.js";

/** @import { ErrorActivity, ErrorGroupDetail, ErrorTag } from "telltale" */

const VALUES_SHOWN = 5;
const ACTIVITY_SHOWN = 100;
const COMMENT_CHARS_MAX = 10_000;

function Fact({ label, children }) {
  return html`<div><dt>${label}</dt><dd>${children}</dd></div>`;
}

/** @param {Props<{error: ErrorGroupDetail}>} props */
export function Numbers({ error }) {
  return html`<section class="card strip"><h2 class="unseen">Numbers</h2><dl class="numbers">
    <${Fact} label="Occurrences"><span class="count">${amount(error.occurrences)}</span><//>
    <${Fact} label="Users"><span class="count">${amount(error.users_affected)}</span><//>
    <${Fact} label="Last seen"><${Time} at=${error.last_seen} /><//>
    <${Fact} label="First seen"><${Time} at=${error.first_seen} /><//>
    <${Fact} label="Assignee">${error.assignee ? html`<bdi class="who-is">${error.assignee}</bdi>` : html`<span class="quiet">nobody</span>`}<//>
    ${error.platform && html`<${Fact} label="Platform"><bdi>${error.platform}</bdi><//>`}</dl>
    ${error.merged.length > 0 && html`<p class="quiet small">${count(error.merged.length, "error was", "errors were")} merged into it.</p>`}</section>`;
}

/** @param {Props<{tag: ErrorTag}>} props */
function Tag({ tag }) {
  const link = (value) => href("/errors", { [tag.parameter]: value, status: "all" });
  return html`<section class="spread"><h3><bdi>${tag.key}</bdi>${tag.distinct !== null && tag.distinct > tag.values.length && html` <span class="quiet small">${count(tag.distinct, "value")}</span>`}</h3>
    ${tag.distinct === null ? html`<p class="quiet small">Too many different values to count them.</p>`
      : html`<ul>${tag.values.map(({ value, count: number, share: part }) => html`<li key=${value}><a href=${link(value)} title=${count(number, "occurrence")}><bdi>${value}</bdi></a>
        <span class="number small">${share(part)}</span><${ShareBar} part=${part} label=${`${value}: ${count(number, "occurrence")}`} /></li>`)}</ul>`}</section>`;
}

export function Tags({ id }) {
  const [state] = useLoaded((abort) => get(apiPath(id, `/tags?limit=${VALUES_SHOWN}`), abort), refresh.value * 1000, rangeKey.value);
  const show = ({ data }) => html`${data.tags.map((tag) => html`<${Tag} key=${tag.parameter} tag=${tag} />`)}
    ${data.occurrences > data.sampled && html`<p class="quiet small">The tags that the newest ${amount(data.sampled)} occurrences have, counted in all ${amount(data.occurrences)}.</p>`}
    ${data.tags_left_out > 0 && html`<p class="quiet small">${count(data.tags_left_out, "further tag is", "further tags are")} not shown.</p>`}`;
  return html`<section class="card"><header><${Icon} name="tag" /><h2>Values of tags</h2></header>
    <${Loaded} state=${state} show=${show} empty=${{ is: ({ data }) => data.tags.length === 0, text: "No tags were sent." }} /></section>`;
}

const phrases = {
  first_seen: () => "First seen",
  regressed: () => "Occurred again after it was resolved or ignored",
  resolve: () => "resolved it",
  ignore: ({ until }) => (until ? html`ignored it until ${instant(until)}` : "ignored it"),
  unresolve: () => "made it unresolved",
  assign: ({ assignee }) => (assignee ? html`assigned it to <bdi>${assignee}</bdi>` : "removed the assignee"),
  merge: ({ merged }) => html`merged ${count(merged.length, "error")} into it`,
  comment: () => "wrote",
};
const icons = { first_seen: "zap", regressed: "triangle-alert", resolve: "check", ignore: "volume-x", unresolve: "rotate-ccw", assign: "user-plus", merge: "git-merge", comment: "message-circle" };

/** @param {Props<{entry: ErrorActivity}>} props */
function Entry({ entry }) {
  const phrase = phrases[entry.action];
  return html`<li><${Icon} name=${icons[entry.action] ?? "history"} /><div><p>${entry.by && html`<strong><bdi>${entry.by}</bdi></strong> `}${phrase ? phrase(entry) : entry.action}
${" "}<span class="quiet small"><${Time} at=${entry.at} /></span></p>${entry.text && html`<p class="said"><bdi>${entry.text}</bdi></p>`}</div></li>`;
}

function Comment({ id, onDone }) {
  const field = /** @type {ElementRef<HTMLTextAreaElement>} */ (useElement());
  const [failure, setFailure] = useState(/** @type {Failed | null} */ (null));
  const send = async () => {
    const text = field.current.value;
    if (!text.trim()) return field.current.focus();
    try {
      await call("POST", apiPath(id, "/comments"), { body: { text } });
      // The page can be another one by now.
      if (field.current) field.current.value = "";
      setFailure(null);
      onDone();
    } catch (error) {
      setFailure(failed(error));
    }
    return undefined;
  };
  return html`<div class="field comment"><label for="comment">Comment</label>
    <textarea id="comment" ref=${field} rows="2" maxlength=${COMMENT_CHARS_MAX}></textarea>
    ${failure && html`<${Failure} failure=${failure} />`}<div class="acts"><${Button} kind="small" work=${send}><${Icon} name="send" />Add<//></div></div>`;
}

/** `version` changes when something was done that belongs into the list. */
export function Activity({ id, version }) {
  const [state, again] = useLoaded((abort) => get(apiPath(id, `/activity?limit=${ACTIVITY_SHOWN}`), abort), refresh.value * 1000, `${rangeKey.value} ${version}`);
  const show = ({ data, meta }) => html`<ol class="activity">${data.map((entry, i) => html`<${Entry} key=${entry.id ?? `${entry.action} ${i}`} entry=${entry} />`)}</ol>
    ${meta.total > data.length && html`<p class="quiet small">The newest ${amount(data.length)} of ${amount(meta.total)} are shown.</p>`}`;
  return html`<section class="card"><header><${Icon} name="history" /><h2>Activity</h2></header>
    ${may("write") && html`<${Comment} id=${id} onDone=${again} />`}<${Loaded} state=${state} show=${show} /></section>`;
}

/**
 * The ids of errors that were merged into one lead to it.
 * @param {Props<{error: ErrorGroupDetail}>} props
 */
export function MergedNotice({ error }) {
  if (!error.merged_into) return null;
  return html`<p class="notice"><${Icon} name="git-merge" /><span>The error of this address was merged into <a href=${errorHref(error.merged_into)}>this one</a>.</span></p>`;
}
