// The dialog that asks before a link signs in. Without the question a page of another site could open
// such a link, and have a visitor work in somebody else's session without noticing.

import { useState } from "preact/hooks";
import { signIn } from "../api/session.js";
import { failed } from "../kit/failed.js";
import { html } from "../kit/html.js";
import { Button } from "./button.js";
import { Dialog } from "./dialog.js";
import { messageOf } from "./sign_in.js";

/** `onDone` is called with whether the link signed in, and if not, why, or nothing. */
export function SignInByLink({ code, onDone }) {
  const [message, setMessage] = useState("");
  const submit = async () => {
    try {
      await signIn({ code });
    } catch (thrown) {
      const failure = failed(thrown);
      // The link may work later if the server is away or asks to wait.
      if (failure.status === 401 || failure.status === 403) onDone(false, `The link did not sign you in: ${failure.message}.`);
      else setMessage(messageOf(failure));
      return;
    }
    onDone(true);
  };
  return html`<${Dialog} title="Sign in with the link?" onClose=${() => onDone(false)}>
    <p>The link opens this console as the person it was made for. Go on only if you, or somebody you trust, made it for you.</p>
    <p class="wrong" role="alert">${message}</p>
    <div class="acts"><${Button} work=${() => onDone(false)}>Cancel<//><${Button} kind="first" work=${submit}>Sign in<//></div>
  <//>`;
}
