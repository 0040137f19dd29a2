// Forms that save something: once at a time, with what was wrong at its field, and nothing typed
// is lost. Where somebody else has changed it meanwhile, both versions are shown.

import { useEffect, useRef, useState } from "preact/hooks";
import { sentenceOf } from "../api/failure.js";
import { useElement } from "../kit/element.js";
import { failed } from "../kit/failed.js";
import { html } from "../kit/html.js";
import { Button } from "./button.js";
import { Conflict } from "./conflict.js";

/** A draft of an object: `[draft, set]`, where `set({name: value})` changes fields. */
export function useDraft(initial) {
  const [draft, setDraft] = useState(initial);
  return [draft, (changes) => setDraft((before) => ({ ...before, ...changes }))];
}

/**
 * Submits with `work(form)`, once at a time. Returns `{failure, submit, setFailure}`; what fails is the failure
 * until something succeeds.
 */
export function useSubmit(work) {
  const running = useRef(false);
  const [failure, setFailure] = useState(/** @type {Failed | null} */ (null));
  const submit = async (event) => {
    event?.preventDefault();
    if (running.current) return;
    running.current = true;
    try {
      await work(event?.currentTarget);
      setFailure(null);
    } catch (error) {
      setFailure(failed(error));
    } finally {
      running.current = false;
    }
  };
  return { failure, submit, setFailure };
}

/**
 * Saves with `save()`, as `useSubmit` does. Returns `form` and `isElsewhere` too: `form` is the ref of the form,
 * whose first wrong field gets the focus; `isElsewhere` says that no field shows the failure.
 */
export function useSave(save) {
  const form = /** @type {ElementRef<HTMLFormElement>} */ (useElement());
  const { failure, submit, setFailure } = useSubmit(save);
  const [isElsewhere, setElsewhere] = useState(false);
  useEffect(() => {
    /** @type {HTMLElement | null} */
    const wrong = failure && form.current?.querySelector("[aria-invalid='true']");
    setElsewhere(Boolean(failure) && !wrong);
    wrong?.focus();
  }, [failure]);
  return { failure, form, submit, isElsewhere, setFailure };
}

/** What went wrong that no field shows, and the buttons of a form. */
export function FormEnd({ saving, act, onCancel, children }) {
  const { failure, isElsewhere } = saving;
  return html`<p class="wrong" role="alert">${failure && isElsewhere && failure.status !== 412 ? sentenceOf(failure) : ""}</p>
    <div class="acts">${children}${onCancel && html`<${Button} work=${onCancel}>Cancel<//>`}<${Button} type="submit" kind="first">${act}<//></div>`;
}

const textOf = (value) => (value === undefined ? "–" : typeof value === "string" ? value : JSON.stringify(value));

/** Returns the fields that differ between what would be saved, the resource now, and as it was. */
function differing(mine, theirs, before) {
  const isSame = (one, other) => JSON.stringify(one) === JSON.stringify(other);
  const names = Object.keys(mine).filter((name) => !isSame(theirs[name], before[name]) || !isSame(mine[name], theirs[name]));
  return names.map((name) => ({ label: name, mine: textOf(mine[name]), theirs: textOf(theirs[name]) }));
}

/**
 * Saves a resource that exists with its ETag. Returns what `useSave` does, and `conflict`, an element or null.
 * `send(ifMatch)` saves; `load()` returns `{value, etag}` of now; `mine` is what is sent; `onTheirs(value, etag)`
 * begins again.
 */
export function useGuardedSave({ etag, before, mine, send, load, onTheirs }) {
  const [theirs, setTheirs] = useState(/** @type {{value: any, etag: string} | null} */ (null));
  const saving = useSave(async () => {
    try {
      await send(etag);
    } catch (thrown) {
      const failure = failed(thrown);
      if (failure.status !== 412) throw failure;
      setTheirs(await load());
    }
  });
  const close = () => setTheirs(null);
  const onMine = async () => {
    if (!theirs) return;
    close();
    try {
      await send(theirs.etag);
    } catch (thrown) {
      const failure = failed(thrown);
      if (failure.status === 412) setTheirs(await load());
      else saving.setFailure(failed(failure));
    }
  };
  const begin = () => {
    if (!theirs) return;
    close();
    onTheirs(theirs.value, theirs.etag);
  };
  const conflict = theirs && html`<${Conflict} fields=${differing(mine, theirs.value, before)} onMine=${onMine} onTheirs=${begin} onClose=${close} />`;
  return { ...saving, conflict };
}
