// What the tests in a real browser share. It stands before each of their scripts.

const { readFileSync } = require("node:fs");
const puppeteer = require("puppeteer-core");

const AXE = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
const TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

/** Calls `check(browser, report)`, and prints what was reported as a JSON list. */
async function inBrowser(check) {
  const browser = await puppeteer.launch(LAUNCH);
  const problems = [];
  try {
    await check(browser, (problem) => problems.push(problem));
  } finally {
    await browser.close();
  }
  console.log(JSON.stringify(problems));
}

/** Opens a tab that reports dialogs, and collects violations of the policy in `globalThis.violations`. */
async function openTab(context, report, { width = 1280, scheme = "light" } = {}) {
  const tab = await context.newPage();
  // Far longer than anything takes on a busy machine.
  tab.setDefaultTimeout(120_000);
  tab.on("dialog", async (dialog) => {
    report(`dialog: ${dialog.message()}`);
    await dialog.dismiss();
  });
  await tab.setViewport({ width, height: 900 });
  await tab.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
  await tab.evaluateOnNewDocument(() => {
    globalThis.violations = [];
    addEventListener("securitypolicyviolation", (event) => {
      globalThis.violations.push(`${event.violatedDirective} ${event.blockedURI} ${event.sourceFile}`);
    });
  });
  return tab;
}

/** Reports errors of scripts, and requests to another origin than `own`. */
function reportForeign(tab, own, report) {
  tab.on("pageerror", (error) => report(`page error: ${error}`));
  tab.on("request", (request) => {
    // Icons of the browser's own fields are data.
    const { origin, protocol } = new URL(request.url());
    if (origin !== own && protocol !== "data:") report(`a request to ${request.url()}`);
  });
}

/** Reports what axe-core, which was evaluated in the tab, finds. */
async function runAxe(tab, label, report) {
  const { violations } = await tab.evaluate(
    (values) => globalThis.axe.run(document, { runOnly: { type: "tag", values } }),
    TAGS,
  );
  for (const rule of violations) {
    const nodes = rule.nodes.slice(0, 3).map((node) => node.html.slice(0, 160));
    report(`${label}: axe: ${rule.id}: ${rule.help}: ${nodes.join(" ")}`);
  }
}

/** Reports a page that has to be scrolled sideways. */
async function checkWidth(tab, label, report) {
  const overflow = await tab.evaluate(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
  );
  if (overflow > 0) report(`${label}: scrolls sideways by ${overflow} px`);
}

