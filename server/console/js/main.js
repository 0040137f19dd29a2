// Puts the console together: who is signed in, which page is shown, and what concerns all of them.

import { effect, signal } from "@preact/signals";
import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { get, needsSignIn } from "./api/client.js";
import { areas, isOutdated, loadServer, loadSession, server } from "./api/session.js";
import { loadPageStyles, showPageStyles } from "./api/styles.js";
import { failed } from "./kit/failed.js";
import { html } from "./kit/html.js";
import * as keys from "./kit/keys.js";
import * as router from "./kit/router.js";
import * as theme from "./kit/theme.js";
import { placesOf } from "./pages/found_places.js";
import { PAGES, pagesOf } from "./pages/registry.js";
import { Boundary } from "./parts/boundary.js";
import { Button } from "./parts/button.js";
import { Head } from "./parts/head.js";
import { Frame, Shortcuts } from "./parts/frame.js";
import { Failure } from "./parts/loaded.js";
import { Palette } from "./parts/palette.js";
import { SignIn } from "./parts/sign_in.js";
import { SignInByLink } from "./parts/sign_in_by_link.js";

const SERVER_CHECK_MS = 60_000;
const START_AGAIN_MS = 10_000;

/** What a page shows whose module cannot be loaded: the server is away, or has another build. */
function Broken() {
  return html`<${Head} title="The page could not be loaded"><${Button} kind="first" work=${() => location.reload()}>Reload<//><//>`;
}

/** Why the console could not learn who is signed in and what the server has. */
const startFailure = signal(/** @type {Failed | null} */ (null));
let startTimer = 0;

/** Learns it, and tries again later if that fails. */
async function start() {
  clearTimeout(startTimer);
  try {
    await loadSession();
  } catch (failure) {
    startFailure.value = failed(failure);
    startTimer = setTimeout(start, START_AGAIN_MS);
  }
}

/** What is shown until then. */
function Starting() {
  const failure = startFailure.value;
  return html`<h1 class="unseen" tabindex="-1">Telltale</h1>${failure
    ? html`<${Failure} failure=${failure} /><div class="acts"><${Button} kind="first" work=${start}>Try again<//></div>`
    : html`<p class="quiet">Loading…</p>`}`;
}

/** Loads what a list leads to as soon as there is nothing else to do: most people open one of its items. */
function loadDetail(list) {
  const detail = list && PAGES.find(({ path }) => path === `${list.path}/:id`);
  if (!detail) return;
  (globalThis.requestIdleCallback ?? setTimeout)(() => {
    // If it cannot be loaded, whoever opens the page is told.
    if (!document.hidden) detail.load().catch(() => undefined);
  });
}

/** Loads the module of a page, and its style sheets. */
function usePage(page) {
  const [shown, setShown] = useState(/** @type {{page: any, Page: import("preact").ComponentType<any>} | null} */ (null));
  useEffect(() => {
    let isCurrent = true;
    const load = page ? page.load : () => import("./pages/missing.js");
    const styles = page?.styles ?? [];
    const show = (Page) => {
      if (!isCurrent) return;
      showPageStyles(styles);
      setShown({ page, Page });
    };
    Promise.all([load(), loadPageStyles(styles)]).then(([module]) => {
      show(module.Page);
      loadDetail(page);
    }, () => show(Broken));
    return () => {
      isCurrent = false;
    };
  }, [page]);
  return shown && shown.page === page ? shown.Page : null;
}

/** Reads the heading of a new page out. */
function announce(isFirst) {
  if (!isFirst) document.querySelector("h1")?.focus();
}

/** Searches for anything with a name. */
async function search(text, abort) {
  return placesOf((await get(`/search?q=${encodeURIComponent(text)}`, abort)).data);
}

/** Returns the page of a path, and the parts of the path that the page names. */
function found(pages, path) {
  for (const page of pages) {
    const params = router.match(page.path, path);
    if (params) return { page, params };
  }
  return { page: undefined, params: {} };
}

let isFirst = true;

function Console() {
  const [isHelpOpen, setHelpOpen] = useState(false);
  const [isPaletteOpen, setPaletteOpen] = useState(false);
  const pages = pagesOf(areas.value);
  const { page, params } = found(pages, router.path.value);
  const isKnown = areas.value.length > 0;
  const Page = usePage(isKnown ? page : undefined);
  useEffect(() => {
    keys.bind("?", "Show the shortcuts", () => setHelpOpen(true));
    keys.bind("/", "Go to anything", () => setPaletteOpen(true));
    keys.onCommand("k", () => setPaletteOpen(true));
    for (const { path, label, keys: own } of PAGES) if (own) keys.bind(own, label, () => router.go(path));
  }, []);
  useEffect(() => {
    if (!Page || !isKnown) return;
    announce(isFirst);
    isFirst = false;
  }, [Page, isKnown, router.path.value]);
  return html`<${Frame} pages=${pages.filter(({ below }) => !below)} current=${page?.below ?? page?.path} onSearch=${() => setPaletteOpen(true)}>
      ${isKnown && Page ? html`<${Boundary} key=${router.path.value}><${Page} params=${params} /><//>` : html`<${Starting} />`}
    <//>
    ${code.value && html`<${SignInByLink} key=${code.value} code=${code.value} onDone=${onLinkDone} />`}
    ${needsSignIn.value && !code.value && html`<${SignIn} problem=${problem.value} />`}
    ${isPaletteOpen && html`<${Palette} pages=${pages.filter(({ below }) => !below)} search=${search} onClose=${() => setPaletteOpen(false)} />`}
    ${isHelpOpen && html`<${Shortcuts} onClose=${() => setHelpOpen(false)} />`}`;
}

/** The code of the link that was opened, and what was wrong with an earlier one. */
const code = router.fragment("code");
const problem = signal("");
let isLoaded = false;

function onLinkDone(isSignedIn, why = "") {
  problem.value = why;
  code.value = "";
  // What is shown was loaded for somebody else, or for nobody.
  if (isSignedIn && isLoaded) location.reload();
}

/** Waits until there is no link to ask about. */
function whenAsked() {
  return new Promise((/** @type {(value: void) => void} */ resolve) => {
    effect(() => {
      if (!code.value) resolve();
    });
  });
}

async function begin() {
  theme.show();
  router.listen();
  keys.listen();
  // A page that the browser kept from before somebody signed out.
  addEventListener("pageshow", (event) => event.persisted && location.reload());
  const root = /** @type {HTMLElement} */ (document.getElementById("app"));
  root.replaceChildren();
  render(html`<${Console} />`, root);
  await whenAsked();
  isLoaded = true;
  await start();
  const check = () => {
    if (!document.hidden && !isOutdated.value && server.value) loadServer().catch(() => undefined);
  };
  setInterval(check, SERVER_CHECK_MS);
  document.addEventListener("visibilitychange", check);
}

begin();
