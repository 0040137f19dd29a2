// The dialog in which somebody signs in, over whatever the page shows.

import { useEffect } from "preact/hooks";
import { sentenceOf } from "../api/failure.js";
import { signIn } from "../api/session.js";
import { useElement } from "../kit/element.js";
import { html } from "../kit/html.js";
import { Button } from "./button.js";
import { Dialog } from "./dialog.js";
import { useSubmit } from "./form.js";
import { Wrong } from "./form_dialog.js";

/** Returns why an attempt to sign in failed, as a sentence. */
export function messageOf(failure) {
  if (failure.status === 429) return `Too many attempts: try again in ${failure.retryAfter ?? 60} s.`;
  return sentenceOf(failure);
}

export function SignIn({ problem = "" }) {
  const field = /** @type {ElementRef<HTMLInputElement>} */ (useElement());
  const { failure, submit } = useSubmit(async () => {
    const key = field.current.value.trim();
    if (!key) throw new Wrong("key", "enter an API key");
    await signIn({ key });
  });
  useEffect(() => {
    if (failure) field.current.focus();
  }, [failure]);
  const message = failure ? messageOf(failure) : problem;
  return html`<${Dialog} title="Sign in">
    <form onSubmit=${submit} novalidate>
      <p class="quiet">With an API key that has the scope <code>read</code>, or with the link that <code>telltale login</code> prints on the server.</p>
      <div class="field">
        <label for="sign-in-key">API key</label>
        <input id="sign-in-key" ref=${field} type="password" autocomplete="current-password" spellcheck=${false} placeholder="tt_…"
          aria-invalid=${message ? "true" : null} aria-describedby="sign-in-message" autofocus />
        <p id="sign-in-message" class="wrong" role="alert">${message}</p>
      </div>
      <div class="acts"><${Button} type="submit" kind="first">Sign in<//></div>
    </form>
  <//>`;
}
