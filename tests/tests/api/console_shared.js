// What the tests of pages of the console share. It stands after `browser.js` and before each of them.

const { mkdirSync } = require("node:fs");

const ARTIFACTS = process.env.CONSOLE_ARTIFACTS;
/** Markup that must stay text. */
const MARKUP = "<b>bold</b>";

/** Opens a tab of the console that reports what must not happen; `mayFail` says which statuses are expected. */
async function openConsole(context, base, report, { mayFail = () => false, ...view } = {}) {
  const tab = await openTab(context, report, view);
  reportForeign(tab, base, report);
  tab.on("console", (message) => {
    const failed = /status of (\d+)/.exec(message.text());
    if (failed && mayFail(Number(failed[1]))) return;
    if (["error", "warning"].includes(message.type())) report(`console: ${message.text()}`);
  });
  return tab;
}

/** Returns a context that is signed in with a key. */
async function signedIn(browser, base, key) {
  const context = await browser.createBrowserContext();
  const tab = await context.newPage();
  tab.setDefaultTimeout(120_000);
  await tab.goto(`${base}/console/nothing`);
  await tab.evaluate(async (value) => {
    const headers = { "Content-Type": "application/json" };
    await fetch("/api/v1/session", { method: "POST", headers, body: JSON.stringify({ key: value }) });
  }, key);
  await tab.close();
  return context;
}

const heading = (tab, text) => tab.waitForFunction((wanted) => document.querySelector("h1")?.textContent === wanted, {}, text);
const dialogOpen = (tab, title) => tab.waitForFunction((wanted) => document.querySelector("dialog[open] h2")?.textContent === wanted, {}, title);
const noDialog = (tab) => tab.waitForFunction(() => !document.querySelector("dialog[open]"));
const says = (tab, text, selector = "main") => tab.waitForFunction((wanted, where) => document.querySelector(where)?.innerText.includes(wanted), {}, text, selector);
const atQuery = (tab, text) => tab.waitForFunction((wanted) => decodeURIComponent(location.search).includes(wanted), {}, text);
/** Returns what the API has, in the session of the tab. */
const api = (tab, path) => tab.evaluate(async (wanted) => (await fetch(`/api/v1${wanted}`)).json(), path);

/** Moves the focus to a button or link by its label or text, and presses Enter there. */
async function press(tab, label) {
  await tab.waitForFunction((wanted) => {
    const root = document.querySelector("dialog[open]") ?? document;
    const nameOf = (one) => (one.getAttribute("aria-label") ?? [...one.childNodes].filter((node) => node.nodeName !== "KBD").map((node) => node.textContent).join("")).trim();
    const found = [...root.querySelectorAll("button, a")].find((one) => nameOf(one) === wanted);
    found?.focus();
    return Boolean(found) && document.activeElement === found;
  }, {}, label);
  await tab.keyboard.press("Enter");
}

async function checkViolations(tab, label, report) {
  for (const violation of await tab.evaluate(() => globalThis.violations)) report(`${label}: ${violation}`);
  const bold = await tab.$$eval("main b, dialog b", (all) => all.length);
  if (bold > 0) report(`${label}: data became markup`);
}

/** Runs axe-core on a page that is open without the policy, which would not admit it. */
async function checkLook(tab, label, report) {
  await tab.evaluate(AXE);
  await runAxe(tab, label, report);
  await checkWidth(tab, label, report);
  if (!ARTIFACTS) return;
  mkdirSync(ARTIFACTS, { recursive: true });
  await tab.screenshot({ path: `${ARTIFACTS}/${label}.png`, fullPage: true });
}

/** Calls `look(tab, label)` at each width and in each scheme; `label(name)` is a name of the artifact. */
async function atEachSize(context, base, report, look) {
  for (const [width, scheme] of VIEWS) {
    const tab = await openConsole(context, base, report, { width, scheme });
    await tab.setBypassCSP(true);
    await look(tab, (name) => `${name}-${width}-${scheme}`);
    await tab.close();
  }
}
