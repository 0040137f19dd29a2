// What the tests of the console in a real browser share. It stands after `browser.js`.

const { mkdirSync } = require("node:fs");

const ARTIFACTS = process.env.CONSOLE_ARTIFACTS;

/** Opens a tab that reports what must not happen; `mayFail` says which statuses are expected. */
async function open(context, base, report, { mayFail = () => false, ...view } = {}) {
  const tab = await openTab(context, report, view);
  reportForeign(tab, base, report);
  tab.on("console", (message) => {
    const failed = /status of (\d+)/.exec(message.text());
    if (failed && mayFail(Number(failed[1]))) return;
    if (["error", "warning"].includes(message.type())) report(`console: ${message.text()}`);
  });
  return tab;
}

/** Returns a context that is signed in. */
async function signedIn(browser, base, key) {
  const context = await browser.createBrowserContext();
  const tab = await context.newPage();
  await tab.goto(`${base}/console/nothing`);
  await tab.evaluate(async (value) => {
    const headers = { "Content-Type": "application/json" };
    await fetch("/api/v1/session", { method: "POST", headers, body: JSON.stringify({ key: value }) });
  }, key);
  await tab.close();
  return context;
}

async function checkViolations(tab, label, report) {
  for (const violation of await tab.evaluate(() => globalThis.violations)) report(`${label}: ${violation}`);
}

const heading = (tab, text) =>
  tab.waitForFunction((wanted) => document.querySelector("h1")?.textContent === wanted, {}, text);
const dialogOpen = (tab, title) =>
  tab.waitForFunction((wanted) => document.querySelector("dialog[open] h2")?.textContent === wanted, {}, title);
const noDialog = (tab) => tab.waitForFunction(() => !document.querySelector("dialog[open]"));
const text = (tab, selector) => tab.$eval(selector, (element) => element.textContent);
/** Waits until the page, its dialogs and messages contain a text. */
const says = (tab, wanted) => tab.waitForFunction((part) => document.body.innerText.includes(part), {}, wanted);
/** Returns the JSON of a GET request to the API. */
const api = (tab, path) => tab.evaluate(async (wanted) => (await fetch(`/api/v1${wanted}`)).json(), path);

/** Presses Tab until the element with this label, text or id has the focus. */
async function reach(tab, label, report) {
  for (let i = 0; i < 60; i++) {
    await tab.keyboard.press("Tab");
    const found = await tab.evaluate((wanted) => {
      const element = document.activeElement;
      const named = element?.getAttribute("aria-label") ?? element?.textContent ?? "";
      return named.trim() === wanted || element?.id === wanted;
    }, label);
    if (found) {
      const ring = await tab.evaluate(() => getComputedStyle(document.activeElement).outlineStyle);
      if (ring === "none") report(`the focus on ${label} cannot be seen`);
      return;
    }
  }
  report(`the keyboard does not reach ${label}`);
}

/** Runs axe-core, which was evaluated in the tab, and looks at the width of the page. */
async function axe(tab, label, report) {
  await runAxe(tab, label, report);
  await checkWidth(tab, label, report);
  if (ARTIFACTS) {
    mkdirSync(ARTIFACTS, { recursive: true });
    await tab.screenshot({ path: `${ARTIFACTS}/${label}.png`, fullPage: true });
  }
}
