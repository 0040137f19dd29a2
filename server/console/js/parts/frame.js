// The frame of every page: name, navigation, who is signed in, and what concerns all pages.

import { useState } from "preact/hooks";
import { waiting } from "../api/client.js";
import { caller, isOutdated, signOut } from "../api/session.js";
import { count } from "../kit/format.js";
import { html } from "../kit/html.js";
import { list } from "../kit/keys.js";
import { href } from "../kit/router.js";
import { build } from "../api/session.js";
import { Button } from "./button.js";
import { Dialog } from "./dialog.js";
import { Icon } from "./icon.js";
import { ToastList } from "./toast_list.js";

function Notices() {
  const seconds = waiting.value ? Math.max(1, Math.ceil((waiting.value.until - Date.now()) / 1000)) : 0;
  return html`<div class="notices" role="status">
    ${isOutdated.value && html`<p class="notice warn"><${Icon} name="refresh-cw" /><span>The server has a new version of this page.</span>
      <${Button} work=${() => location.reload()}>Reload<//></p>`}
    ${seconds > 0 && html`<p class="notice warn"><${Icon} name="clock" /><span>The server asked to wait ${count(seconds, "second")}: ${waiting.value?.why}.</span></p>`}
  </div>`;
}

/** The list of shortcuts. */
export function Shortcuts({ onClose }) {
  return html`<${Dialog} title="Keyboard shortcuts" onClose=${onClose}>
    <div class="stack">
      <dl class="keys">${list().map(({ keys, label }) => html`
        <dt key=${`${keys}-keys`}>${keys.split(" ").map((key, i) => html`${i > 0 && " "}<kbd>${key}</kbd>`)}</dt>
        <dd key=${`${keys}-label`}>${label}</dd>`)}</dl>
      <p class="quiet small">They can be turned off in the settings.</p>
      <div class="acts"><${Button} work=${onClose}>Close<//></div>
    </div>
  <//>`;
}

/** `pages` are those in the navigation: `{path, label, icon}`; `current` is the path of one. */
export function Frame({ pages, current, onSearch, children }) {
  const [failure, setFailure] = useState("");
  const leave = () => signOut().catch((error) => setFailure(error.message));
  return html`<div class="frame">
    <header class="bar">
      <a class="skip" href="#content">Skip to the content</a>
      <a class="brand" href=${href("/")}><img src=${`/console/-/${build}/mark.svg`} alt="" width="26" height="26" />Telltale</a>
      ${caller.value && html`<button type="button" class="button opener" onClick=${onSearch}><${Icon} name="search" /><span>Go to anything</span><kbd>Ctrl K</kbd></button>`}
      ${caller.value && html`<div class="who">
        <span>${failure || caller.value.user}</span>
        ${caller.value.session && html`<${Button} kind="plain" label="Sign out" work=${leave}><${Icon} name="log-out" /><//>`}
      </div>`}
    </header>
    <nav aria-label="Pages"><ul>${pages.map(({ path, label, icon }) => html`<li key=${path}>
      <a href=${href(path)} aria-current=${path === current ? "page" : null}><${Icon} name=${icon} />${label}</a></li>`)}</ul></nav>
    <main class="page" id="content" tabindex="-1"><${Notices} />${children}</main>
    <${ToastList} />
  </div>`;
}
