// Questions about a repository and their answers, with the lines that they are from beside them.

import { useEffect, useRef, useState } from "preact/hooks";
import { call, get } from "../api/client.js";
import { areas } from "../api/session.js";
import { chatsOf, forget, remember } from "../kit/chats.js";
import { useElement } from "../kit/element.js";
import { failed } from "../kit/failed.js";
import { html } from "../kit/html.js";
import { bind } from "../kit/keys.js";
import { useLoaded } from "../kit/loading.js";
import { href, inQuery, setQuery } from "../kit/router.js";
import { Button } from "../parts/button.js";
import { CodeLines, linesOf } from "../parts/code_lines.js";
import { Confirm } from "../parts/confirm.js";
import { Icon } from "../parts/icon.js";
import { Failure } from "../parts/loaded.js";
import { Time } from "../parts/time.js";
import { AnswerOf, QuestionOf, told } from "./code_answer.js";
import { CodeFrame, useRepository } from "./code_frame.js";
import { fileLink, FilePath, pathOf } from "./code_words.js";

/** @import { ChatMessage, CodeReference } from "telltale" */

const QUESTION_MAX = 4_000;
const EXAMPLES = ["What does this repository do?", "Where does the program begin?", "How are errors handled?"];

/**
 * The lines of a reference, beside the answers.
 * @param {Props<{of: CodeReference}>} props
 */
function Panel({ id, of, onClose }) {
  const heading = /** @type {ElementRef<HTMLHeadingElement>} */ (useElement());
  useEffect(() => heading.current.focus({ preventScroll: true }), [of]);
  return html`<aside class="card panel" aria-label="Lines of a reference" onKeyDown=${(event) => event.key === "Escape" && onClose()}>
    <header><h2 tabindex="-1" ref=${heading}><${FilePath} path=${of.file_path} />:${of.line_start}–${of.line_end}</h2><${Button} kind="plain small" label="Close" work=${onClose}><${Icon} name="x" /><//></header>
    <${CodeLines} path=${of.file_path} lines=${linesOf(of.snippet)} first=${of.line_start} label=${`${of.file_path} from line ${of.line_start}`} />
    <p class="line start"><a href=${fileLink(id, of.file_path, of.line_start, of.line_end)}>Open the file</a><a href=${`${fileLink(id, of.file_path, of.line_start, of.line_end)}&help=explain`}>Explain these lines</a></p></aside>`;
}

function Sessions({ id, current }) {
  const [deleted, setDeleted] = useState(/** @type {{id: string, title: string} | null} */ (null));
  const list = chatsOf(id);
  const remove = async () => {
    if (!deleted) return;
    await call("DELETE", `/chat/sessions/${encodeURIComponent(deleted.id)}`).catch((failure) => {
      // One that is gone already is what was wanted.
      if (failure.status !== 404) throw failure;
    });
    forget(deleted.id);
    if (deleted.id === current) setQuery({ session: null, ref: null });
    setDeleted(null);
  };
  return html`<details class="card sessions-list"><summary>Sessions in this browser <span class="tag">${list.length}</span></summary>
    ${list.length === 0 ? html`<p class="quiet small">A question begins one.</p>` : html`<ul class="rows">${list.map((one) => html`<li key=${one.id}>
      <a class="what" href=${href(pathOf(id), { session: one.id })} aria-current=${one.id === current ? "page" : null}>${one.title}</a>
      <${Button} kind="plain small" label=${`Delete the session ${one.title}`} work=${() => setDeleted(one)}><${Icon} name="trash-2" /><//>
      <span class="more"><${Time} at=${new Date(one.at).toISOString()} /></span></li>`)}</ul>`}
    <p class="quiet small">Whoever may read and has the address of a session can read it. It is deleted 30 days after its last question.</p>
    ${deleted && html`<${Confirm} title="Delete the session?" act="Delete" work=${remove} onClose=${() => setDeleted(null)}>
      <p>The session <strong class="wrap">${deleted.title}</strong> is deleted with its questions and answers. It cannot be undone.</p><//>`}</details>`;
}

function Ask({ isFollowing, onAsk, isBusy }) {
  const field = /** @type {ElementRef<HTMLTextAreaElement>} */ (useElement());
  const submit = async (event) => {
    event?.preventDefault();
    const text = field.current.value.trim();
    if (!text) return field.current.focus();
    // What was asked goes when it is answered, and stays when it fails.
    if ((await onAsk(text)) && field.current?.value.trim() === text) field.current.value = "";
    return field.current?.focus();
  };
  const onKeyDown = (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    submit(event);
  };
  useEffect(() => bind("/", "Ask a question", () => field.current?.focus()), []);
  return html`<form class="card asking" onSubmit=${submit}><div class="field"><label for="question">${isFollowing ? "Follow up" : "Ask about the code"}</label>
      <textarea id="question" ref=${field} rows="2" maxlength=${QUESTION_MAX} aria-describedby="question-hint" onKeyDown=${onKeyDown}></textarea>
      <p id="question-hint" class="hint">Enter asks, Shift Enter begins a line</p></div>
    ${!isFollowing && html`<div class="choices">${EXAMPLES.map((text) => html`<button key=${text} type="button" class="button small" onClick=${() => { field.current.value = text; submit(); }}>${text}</button>`)}</div>`}
    <div class="acts">${isFollowing && html`<a class="button" href="?">New session</a>`}<${Button} type="submit" kind="first"><${Icon} name="send" />${isBusy ? "Asking…" : "Ask"}<//></div></form>`;
}

/**
 * Returns the reference that the address names: the position of an answer and the number in it.
 * @param {ChatMessage[]} messages
 */
function openOf(messages) {
  const [position, number] = inQuery("ref").split(".").map(Number);
  const of = messages[position]?.references?.[number - 1];
  return of ? { position, number, of } : null;
}

function Chat({ id }) {
  const session = inQuery("session");
  /** @returns {Promise<Pick<import("telltale").ChatSession, "messages"> & {repository?: string | null}>} */
  const load = async (abort) => (session ? get(`/chat/sessions/${encodeURIComponent(session)}`, abort) : { messages: [] });
  const [state, again] = useLoaded(load, 0, session);
  const [asked, setAsked] = useState("");
  const [failure, setFailure] = useState(/** @type {Failed | null} */ (null));
  const running = useRef(false);
  const isLeft = useRef(false);
  const last = /** @type {ElementRef<HTMLDivElement>} */ (useElement());
  useEffect(() => () => (isLeft.current = true), []);
  const { data } = state.value;
  const messages = (session || data?.messages.length === 0 ? data?.messages : null) ?? [];
  const isForeign = data?.repository && data.repository !== id;
  const ask = async (text) => {
    if (running.current) return false;
    running.current = true;
    setAsked(text);
    setFailure(null);
    try {
      const body = { question: text, repository: id, ...(session ? { session_id: session } : {}) };
      const { session_id: made, answer, generated, commit } = await call("POST", "/chat", { body });
      told.set(`${made}:${session ? messages.length + 1 : 1}`, { confidence: answer.confidence, generated, commit });
      remember(made, id, text);
      // Whoever has gone elsewhere meanwhile stays there, and finds the answer in the list of sessions.
      if (isLeft.current || inQuery("session") !== session) return true;
      if (made === session) await again();
      setQuery({ session: made, ref: null }, { replace: made === session });
      return true;
    } catch (error) {
      setFailure(failed(error));
      return false;
    } finally {
      running.current = false;
      setAsked("");
    }
  };
  useEffect(() => {
    if (messages.length > 2) last.current?.scrollIntoView({ block: "start" });
  }, [messages.length]);
  const open = openOf(messages);
  const close = () => {
    setQuery({ ref: null }, { replace: true });
    const opener = `[data-answer="${open?.position}"] [data-reference="${open?.number}"]`;
    /** @type {HTMLElement | null} */ (document.querySelector(opener))?.focus();
  };
  return html`<div class=${open ? "split with" : "split"}><div class="content chat">
      ${state.value.failure && html`<${Failure} failure=${state.value.failure} />`}
      ${isForeign && html`<p class="notice warn">The session is about another repository. <a href=${href(pathOf(data.repository), { session })}>Open it there</a></p>`}
      <div class="messages" role="log" aria-label="Questions and answers">${messages.map((message, i) => (message.role === "user"
        ? html`<div key=${i} ref=${i === messages.length - 2 ? last : null}><${QuestionOf} text=${message.content} at=${message.timestamp} /></div>`
        : html`<div key=${i} data-answer=${i}><${AnswerOf} message=${message} about=${told.get(`${session}:${i}`)} open=${open?.position === i ? open.number : 0}
            onOpen=${(number) => setQuery({ ref: `${i}.${number}` }, { replace: true })} /></div>`))}
        ${asked && html`<${QuestionOf} text=${asked} /><p class="quiet" role="status">Looking through the code…</p>`}</div>
      ${failure && html`<${Failure} failure=${failure} />`}
      ${!isForeign && html`<${Ask} isFollowing=${messages.length > 0} onAsk=${ask} isBusy=${Boolean(asked)} />`}
      <${Sessions} id=${id} current=${session} />
    </div>
    ${open && html`<${Panel} id=${id} of=${open.of} onClose=${close} />`}</div>`;
}

export function Page({ params: { id } }) {
  const loaded = useRepository(id);
  const show = () => (areas.value.includes("code_help") ? html`<${Chat} id=${id} />` : html`<p class="quiet">This server answers no questions about code.</p>`);
  return html`<${CodeFrame} id=${id} view="ask" loaded=${loaded} show=${show} />`;
}
