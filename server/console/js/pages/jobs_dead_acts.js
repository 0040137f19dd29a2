// Retries and deletes dead jobs: those that are selected, or all that match. What is asked about
// was counted by the server, which refuses when the number has changed.

import { useState } from "preact/hooks";
import { call } from "../api/client.js";
import { may } from "../api/session.js";
import { failed } from "../kit/failed.js";
import { count, whole } from "../kit/format.js";
import { html } from "../kit/html.js";
import { doing, toast } from "../kit/toasts.js";
import { Button } from "../parts/button.js";
import { Confirm } from "../parts/confirm.js";
import { Icon } from "../parts/icon.js";
import { SelectAll } from "../parts/selection.js";
import { isInternal } from "./jobs_common.js";

const requests = {
  retry: (body) => call("POST", `/dead-jobs/retry${isInternal() ? "?internal=true" : ""}`, { body }),
  delete: (body) => call("DELETE", `/dead-jobs${isInternal() ? "?internal=true" : ""}`, { body: body.dry_run ? body : { ...body, confirm: true } }),
};

/** Says what came of it. */
function said(verb, { retried = 0, deleted = 0, failed = 0 }) {
  if (verb === "delete") return toast(`${count(deleted, "dead job")} deleted.`);
  if (retried > 0 || failed === 0) toast(`${count(retried, "job")} enqueued again.`);
  if (failed > 0) toast(`Not retried: ${count(failed, "job")}, which are no longer dead, cannot be read, or have a unique key that is in use.`, { kind: "bad" });
  return undefined;
}

/** Asks about all jobs that match, with their number as counted before. */
function AskAboutAll({ verb, counted, selection, words, done, onClose }) {
  const [number, setNumber] = useState(counted);
  const work = async () => {
    try {
      said(verb, await requests[verb]({ ...selection, expected_count: number }));
      done();
    } catch (thrown) {
      const failure = failed(thrown);
      if (failure.code === "count_changed") setNumber((await requests[verb]({ ...selection, dry_run: true })).matched);
      throw failure;
    }
  };
  return html`<${Confirm} title=${`${verb === "retry" ? "Retry" : "Delete"} ${count(number, "dead job")}?`} act=${`${verb === "retry" ? "Retry" : "Delete"} ${whole(number)}`} work=${work} onClose=${onClose}>
    <p>${words} that died before now: ${count(number, "job")}, also those on other pages of the list. ${verb === "retry" ? "Each is enqueued as a new job." : "They are deleted for good."}</p><//>`;
}

/** Returns the conditions in words. */
function wordsOf(filter) {
  const names = { class_name: "of the class", error_class: "with the error class", queue: "of the queue", search: "that contain" };
  const parts = Object.entries(names).flatMap(([name, word]) => (filter[name] ? [html` ${word} <strong><bdi>${filter[name]}</bdi></strong>`] : []));
  return html`All dead jobs${parts}`;
}

export function DeadActs({ selection, jobs, data, done }) {
  const [asked, setAsked] = useState(/** @type {{verb: string, counted?: number, body?: object} | null} */ (null));
  const ids = jobs.filter(({ id }) => selection.isSelected(id)).map(({ id }) => id);
  const close = () => setAsked(null);
  const end = () => {
    selection.setAll(false);
    done();
  };
  const retry = () => doing(async () => {
    said("retry", await requests.retry({ job_ids: ids }));
    end();
  });
  const remove = async () => {
    said("delete", await requests.delete({ job_ids: ids }));
    end();
  };
  const ask = (verb) => () => doing(async () => {
    // Jobs that die from now on are not meant.
    const body = { filter: { ...data.filter, older_than: new Date().toISOString() } };
    const { matched } = await requests[verb]({ ...body, dry_run: true });
    setAsked({ verb, counted: matched, body });
  });
  if (!may("write")) return html`<p class="quiet small bulk">Your key lacks the scope “write”: it cannot change dead jobs.</p>`;
  const isFiltered = Object.keys(data.filter).length > 0;
  return html`<div class="bulk" role="group" aria-label="Dead jobs"><${SelectAll} selection=${selection} />
    ${ids.length > 0 ? html`<${Button} kind="small" work=${retry}><${Icon} name="rotate-ccw" />Retry ${whole(ids.length)}<//>
      <${Button} kind="small" work=${() => setAsked({ verb: "selected" })}><${Icon} name="trash-2" />Delete ${whole(ids.length)}…<//>`
      : html`<${Button} kind="small" work=${ask("retry")}><${Icon} name="rotate-ccw" />Retry all${isFiltered ? " that match" : ""}…<//>
      <${Button} kind="small" work=${ask("delete")}><${Icon} name="trash-2" />Delete all${isFiltered ? " that match" : ""}…<//>`}
    ${asked?.verb === "selected" && html`<${Confirm} title=${`Delete ${count(ids.length, "dead job")}?`} act=${`Delete ${whole(ids.length)}`} work=${remove} onClose=${close}><p>The selected jobs are deleted for good.</p><//>`}
    ${asked?.body && html`<${AskAboutAll} verb=${asked.verb} counted=${asked.counted} selection=${asked.body} words=${wordsOf(data.filter)} done=${end} onClose=${close} />`}</div>`;
}
