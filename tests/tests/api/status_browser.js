// Opens pages in a real browser, in two widths and two color schemes: nothing breaks the policy of
// the page, no script runs, nothing scrolls sideways, axe-core finds no violation, and what happened
// on a day is shown on hover and on focus. Prints the problems as a JSON list.
//
// Arguments: a JSON list of [name, URL, whole: in all widths and schemes, hasDays: a day is quiet
// and on another something happened], and a folder for screenshots, or nothing.

const { join } = require("node:path");

const WIDTHS = [390, 1280];
const SCHEMES = ["light", "dark"];
/** Pixels of a screenshot: browsers refuse much taller ones. */
const HEIGHT_MAX = 12_000;

async function check(browser, [name, url, whole, hasDays], folder, reportAll) {
  for (const width of whole ? WIDTHS : [390]) {
    for (const scheme of whole ? SCHEMES : ["light"]) {
      const label = `${name}-${width}-${scheme}`;
      const report = (text) => reportAll(`${label}: ${text}`);
      const tab = await open(browser, width, scheme, report);
      try {
        await checkAsVisitor(tab, url, report);
        if (folder) await screenshot(tab, width, join(folder, `${label}.png`));
        await checkDays(tab, hasDays, report);
      } finally {
        await tab.close();
      }
      await checkWithAxe(browser, url, width, scheme, reportAll, label);
    }
  }
}

async function open(browser, width, scheme, report) {
  const tab = await openTab(browser, report, { width, scheme });
  await tab.emulateMediaFeatures([
    { name: "prefers-color-scheme", value: scheme },
    { name: "prefers-reduced-motion", value: "reduce" },
  ]);
  return tab;
}

async function screenshot(tab, width, path) {
  const whole = await tab.evaluate(() => document.documentElement.scrollHeight);
  const clip = { x: 0, y: 0, width, height: Math.min(whole, HEIGHT_MAX) };
  await tab.screenshot({ path, clip, captureBeyondViewport: true });
}

/** Opens the page as visitors do, and reports whatever the browser complains about. */
async function checkAsVisitor(tab, url, report) {
  tab.on("console", (message) => {
    // Browsers ask every host for it.
    if (message.location().url?.endsWith("/favicon.ico")) return;
    if (["error", "warn", "assert"].includes(message.type())) report(`console: ${message.text()}`);
  });
  tab.on("pageerror", (error) => report(`page error: ${error}`));
  tab.on("requestfailed", (request) => report(`request failed: ${request.url()}`));
  const cdp = await tab.createCDPSession();
  await cdp.send("Audits.enable");
  cdp.on("Audits.issueAdded", ({ issue }) => {
    if (issue.code === "ContentSecurityPolicyIssue") report(`CSP: ${JSON.stringify(issue.details)}`);
  });
  const response = await tab.goto(url, { waitUntil: "networkidle0" });
  if (!response.headers()["content-security-policy"]) report("no Content-Security-Policy");
  const found = await tab.evaluate(() => {
    const active = document.querySelectorAll("script, iframe, object, embed, base");
    const handlers = [...document.querySelectorAll("*")].filter((element) =>
      [...element.attributes].some((attribute) => attribute.name.startsWith("on")),
    );
    return {
      violations: globalThis.violations,
      active: [...active, ...handlers].map((element) => element.outerHTML.slice(0, 100)),
      overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
      styled: document.styleSheets.length === 1 && getComputedStyle(document.body).margin === "0px",
      lang: document.documentElement.lang,
      told: [...document.querySelectorAll(".d > *")].filter(
        (day) => getComputedStyle(day, "::after").content !== "none",
      ).length,
    };
  });
  for (const violation of found.violations) report(`violation: ${violation}`);
  for (const element of found.active) report(`active element: ${element}`);
  if (found.overflow > 0) report(`scrolls sideways by ${found.overflow} px`);
  if (!found.styled) report("its style was not applied");
  if (found.told > 0) report(`${found.told} days say something before anybody asks`);
  if (found.lang !== "en") report(`language ${found.lang}`);
}

/** Hovers a quiet day, then reaches a day on which something happened with the Tab key. */
async function checkDays(tab, hasDays, report) {
  const shown = (element) =>
    element.evaluate((day) => {
      const style = getComputedStyle(day, "::after");
      return style.position === "absolute" && style.display !== "none" ? style.content : "";
    });
  const visible = async (selector) => {
    for (const day of await tab.$$(selector)) if (await day.isVisible()) return day;
    return null;
  };
  const quiet = await visible(".list .d i:not(.n)");
  if (hasDays && !quiet) report("no day is quiet");
  if (quiet) {
    await quiet.hover();
    const text = await shown(quiet);
    if (!/^"\d+ \w+: no problems"$/.test(text)) report(`a quiet day says ${text}`);
  }
  const event = await visible(".list .d b");
  if (!event) {
    if (hasDays) report("on no day something happened");
    return;
  }
  await event.hover();
  if (!/\d+ \w+: ./.test(await shown(event))) report(`on hover, a day says ${await shown(event)}`);
  await tab.mouse.move(0, 0);
  const isReached = () => event.evaluate((day) => day === document.activeElement);
  await tab.evaluate(() => document.activeElement.blur());
  for (let presses = 0; presses < 20 && !(await isReached()); presses += 1) {
    await tab.keyboard.press("Tab");
  }
  if (!(await isReached())) report("the Tab key does not reach a day");
  if (!/\d+ \w+: ./.test(await shown(event))) report(`on focus, a day says ${await shown(event)}`);
  const outline = await event.evaluate((day) => getComputedStyle(day).outlineStyle);
  if (outline === "none") report("the focus of a day is invisible");
}

/**
 * Runs axe-core, without the policy, which would not admit it. A script that only the policy stops
 * runs here, and is reported if it opens a dialog.
 */
async function checkWithAxe(browser, url, width, scheme, report, label) {
  const tab = await open(browser, width, scheme, report);
  try {
    await tab.setBypassCSP(true);
    await tab.goto(url, { waitUntil: "networkidle0" });
    await tab.evaluate(AXE);
    await runAxe(tab, label, report);
  } finally {
    await tab.close();
  }
}

inBrowser(async (browser, report) => {
  const [pages, folder] = process.argv.slice(-2);
  for (const page of JSON.parse(pages)) await check(browser, page, folder, report);
});
