// What the tests with Playwright share. It stands after `browser_launch.js`, before each of their scripts.

const { chromium } = require("playwright-core");

/** Far longer than anything takes on a busy machine. */
const TIMEOUT_MS = 120_000;

/** Calls `check(browser, report)`, and prints what was reported as a JSON list. */
async function inPlaywright(check) {
  const browser = await chromium.launch(LAUNCH);
  const problems = [];
  try {
    await check(browser, (problem) => problems.push(problem));
  } finally {
    await browser.close();
  }
  console.log(JSON.stringify(problems));
}

/** Returns a context that is signed in; `options` are those of Playwright. */
async function signedInAt(browser, base, key, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, locale: "en-US", ...options });
  context.setDefaultTimeout(TIMEOUT_MS);
  const answer = await context.request.post(`${base}/api/v1/session`, { data: { key } });
  if (!answer.ok()) throw new Error(`signing in: ${answer.status()} ${await answer.text()}`);
  return context;
}

/** Returns the JSON of a GET request to the API, with the cookies of a context. */
async function apiOf(context, base, path) {
  const answer = await context.request.get(`${base}/api/v1${path}`);
  if (!answer.ok()) throw new Error(`${path}: ${answer.status()} ${await answer.text()}`);
  return answer.json();
}

/**
 * Reports what must not happen in a page: an error or warning on the browser's console unless `isExpected(text)`,
 * an error of a script, a dialog of the browser, a request to another origin than `base`, and, by
 * `violationsOf`, violations of the policy.
 */
async function watch(page, base, report, isExpected = () => false) {
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type()) && !isExpected(message.text())) report(`console: ${message.text()} (${page.url()})`);
  });
  page.on("pageerror", (error) => report(`page error: ${error} (${page.url()})`));
  page.on("dialog", (dialog) => {
    report(`dialog: ${dialog.message()} (${page.url()})`);
    return dialog.dismiss();
  });
  page.on("request", (request) => {
    // Icons of the browser's own fields are data.
    const { origin, protocol } = new URL(request.url());
    if (origin !== base && protocol !== "data:") report(`a request to ${request.url()} (${page.url()})`);
  });
  await page.addInitScript(() => {
    globalThis.violations = [];
    addEventListener("securitypolicyviolation", (event) => {
      globalThis.violations.push(`${event.violatedDirective} ${event.blockedURI} ${event.sourceFile}`);
    });
  });
}

/** Reports the violations of the policy in a page since it was loaded. */
async function reportViolations(page, label, report) {
  for (const violation of await page.evaluate(() => globalThis.violations)) report(`${label}: violation: ${violation}`);
}

/** Waits until a page has its heading and nothing on the screen is loading. */
async function whenShown(page) {
  await page.waitForFunction(() => {
    const main = document.querySelector("main");
    const heading = main?.querySelector("h1")?.textContent ?? "";
    if (!heading || heading === "Telltale") return false;
    const pending = [...main.querySelectorAll("p")].filter((one) => one.textContent.trim() === "Loading…");
    return pending.every((one) => one.getBoundingClientRect().top > innerHeight);
  });
}
