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
  tab.setDefaultTimeout(120_000);
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
/** Waits until the page, its dialogs and messages contain a text, or only what a selector names. */
const says = (tab, wanted, selector = "body") =>
  tab.waitForFunction((part, where) => document.querySelector(where)?.innerText.includes(part), {}, wanted, selector);
/** Waits until the page does not contain a text. */
const gone = (tab, unwanted) =>
  tab.waitForFunction((part) => document.querySelector("main")?.innerText.includes(part) === false, {}, unwanted);
/** Waits until nothing is shown as loading. What is loaded again stays as it was meanwhile. */
const settled = (tab) => gone(tab, "Loading…");
/** Waits until the address has a text in its query. */
const atQuery = (tab, wanted) => tab.waitForFunction((part) => decodeURIComponent(location.search).includes(part), {}, wanted);
/** Returns where an element is in the window, once it has stayed in the page and in its place for three frames. */
const placeOf = async (tab, selector) => (await tab.waitForFunction(async (wanted) => {
  const element = document.querySelector(wanted);
  const place = () => JSON.stringify(element.getBoundingClientRect());
  if (!element) return null;
  const before = place();
  for (let i = 0; i < 3; i++) await new Promise(requestAnimationFrame);
  return element === document.querySelector(wanted) && place() === before && JSON.parse(before);
}, {}, selector)).jsonValue();
/** Clicks on an element once it can be clicked; one that is drawn anew meanwhile is waited for. */
const clickOn = (tab, selector) => tab.locator(selector).click();
/** Returns the JSON of a GET request to the API. */
const api = (tab, path) => tab.evaluate(async (wanted) => (await fetch(`/api/v1${wanted}`)).json(), path);

/** Presses Tab until the element with this label, text or id has the focus, once it is there. */
async function reach(tab, label, report) {
  await tab.waitForFunction((wanted) => [...document.querySelectorAll("a, button, input, select, summary, textarea, [tabindex]")]
    .some((one) => one.id === wanted || (one.getAttribute("aria-label") ?? one.textContent).trim() === wanted), {}, label);
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

/** Moves the focus to a button or link by its label or text, without its keys, and presses Enter there. */
async function press(tab, label) {
  await tab.waitForFunction((wanted) => {
    const root = [...document.querySelectorAll("dialog[open]")].pop() ?? document;
    const textOf = (one) => [...one.childNodes].filter((node) => node.nodeName !== "KBD").map((node) => node.textContent).join("");
    const nameOf = (one) => (one.getAttribute("aria-label") ?? textOf(one)).trim();
    const found = [...root.querySelectorAll("button, a")].find((one) => nameOf(one) === wanted);
    found?.focus();
    return Boolean(found) && document.activeElement === found;
  }, {}, label);
  await tab.keyboard.press("Enter");
}

/** Reports violations of the policy, and elements in bold, which only data can have brought. */
async function checkClean(tab, label, report) {
  await checkViolations(tab, label, report);
  const bold = await tab.$$eval("main b, dialog b", (all) => all.length);
  if (bold > 0) report(`${label}: data became markup`);
}

/**
 * Calls `look(tab, axeAs)` at each width and in each scheme, in a tab without the policy, which would not
 * admit axe-core. `axeAs(name)` runs it on what is shown.
 */
async function atEachSize(context, base, report, look) {
  for (const [width, scheme] of VIEWS) {
    const tab = await open(context, base, report, { width, scheme });
    await tab.setBypassCSP(true);
    await look(tab, async (name) => {
      await tab.evaluate(AXE);
      await axe(tab, `${name}-${width}-${scheme}`, report);
    });
    await tab.close();
  }
}
