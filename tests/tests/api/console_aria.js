// Compares what assistive technology finds on the main pages of the console with committed files: the
// ARIA snapshots of Playwright, in which times, ids and addresses are replaced by their kind. Prints the
// problems as a JSON list.
//
// Arguments: the URL of the server, a JSON object with the ids of its data, the folder of the files, and an
// API key. With CONSOLE_ARIA=update in the environment the files are written.

const { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } = require("node:fs");

const UPDATES = process.env.CONSOLE_ARIA === "update";
const RANGE = "from=2026-03-02T00:00:00.000Z&to=2026-03-02T12:00:00.000Z";

const pagesOf = ({ dashboard, error, schedule, monitor, statusPage, rule }) => ({
  home: "/console",
  explore: `/console/explore?${RANGE}&q1=cpu.usage&q1.by=host`,
  events: `/console/events?${RANGE}`,
  dashboards: "/console/dashboards",
  dashboard: `/console/dashboards/${dashboard}?${RANGE}`,
  errors: "/console/errors",
  error: `/console/errors/${error}`,
  jobs: "/console/jobs",
  alerts: "/console/alerts",
  rule: `/console/alerts/rules/${rule}`,
  schedule: `/console/on-call/${schedule}?view=week&at=2026-03-02`,
  status: "/console/status",
  monitor: `/console/status/monitors/${monitor}`,
  "status-page": `/console/status/pages/${statusPage}`,
  snapshots: "/console/snapshots",
  code: "/console/code",
  settings: "/console/settings",
});

const MONTHS = "(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*";
const WEEKDAYS = "(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*";
const SPACE = "[ \\u00a0\\u202f]";
const LENGTH = `\\b\\d+(?:\\.\\d+)?${SPACE}(?:ms|s|min|h|d)\\b`;
/** What is another one at each run, and what stands for it. */
const VARYING = [
  ["\\d{4}-\\d\\d-\\d\\dT\\d\\d(?::|%3A)\\d\\d(?:(?::|%3A)\\d\\d(?:\\.\\d+)?)?Z?", "<time>"],
  [`(?:${WEEKDAYS}, )?${MONTHS} \\d+(?:, \\d{4})?(?:,? (?:at )?\\d+:\\d\\d(?::\\d\\d(?:\\.\\d+)?)?${SPACE}?(?:[AP]M)?)?`, "<time>"],
  [`\\d+:\\d\\d(?::\\d\\d(?:\\.\\d+)?)?${SPACE}(?:[AP]M)`, "<time>"],
  ["(?:\\d+ (?:second|minute|hour|day|month|year)s? ago|\\bin \\d+ (?:second|minute|hour|day)s?|just now|yesterday|tomorrow)\\b", "<ago>"],
  [`${LENGTH}(?:${SPACE}${LENGTH})?`, "<length>"],
  ["(?<![a-z_])[a-z]{2,8}_[0-9A-Za-z]{8,}\\b", "<id>"],
  ["\\b[0-9A-HJKMNP-TV-Z]{26}\\b", "<id>"],
  ["\\b[0-9a-f]{12,}\\b", "<id>"],
  ["127\\.0\\.0\\.1:\\d+", "<host>"],
  ["HeadlessChrome/[\\d.]+|Chrome/[\\d.]+", "<browser>"],
  ["\\b\\d+(?:\\.\\d+)? (?:B|KiB|MiB)\\b", "<size>"],
].map(([pattern, kind]) => [new RegExp(pattern, "g"), kind]);

/** Returns a snapshot without what varies, and lines that follow each other and are the same as one of them. */
function normalised(snapshot) {
  const text = VARYING.reduce((now, [pattern, kind]) => now.replace(pattern, kind), snapshot);
  return `${text.replace(/^(.+)\n(?:\1\n){2,}/gm, "$1\n# and more of them\n")}\n`;
}

/** Returns where two texts begin to differ, for people. */
function difference(was, is) {
  const [old, now] = [was.split("\n"), is.split("\n")];
  const line = now.findIndex((text, i) => text !== old[i]);
  return line < 0 ? `line ${now.length} and what follows are missing` : `line ${line + 1} was ${JSON.stringify(old[line] ?? "")} and is ${JSON.stringify(now[line])}`;
}

async function compare(page, folder, name, selector, report) {
  const file = `${folder}/${name}.yaml`;
  const is = normalised(await page.locator(selector).ariaSnapshot());
  if (UPDATES) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(file, is);
    return;
  }
  const was = existsSync(file) ? readFileSync(file, "utf8") : "";
  if (was !== is) report(`${name}: ${difference(was, is)}; if that is right, CONSOLE_ARIA=update writes ${file}`);
}

inPlaywright(async (browser, report) => {
  const [base, ids, folder, key] = process.argv.slice(-4);
  const pages = pagesOf(JSON.parse(ids));
  const context = await signedInAt(browser, base, key, { timezoneId: "UTC" });
  const page = await context.newPage();
  await watch(page, base, report);
  for (const [name, path] of Object.entries(pages)) {
    await page.goto(base + path);
    await whenShown(page);
    await page.waitForLoadState("networkidle");
    await compare(page, folder, name, "main", report);
  }
  await page.goto(`${base}/console`);
  await whenShown(page);
  await compare(page, folder, "frame", ".bar", report);
  await compare(page, folder, "navigation", "nav[aria-label=Pages]", report);
  await page.keyboard.press("?");
  await compare(page, folder, "shortcuts", "dialog[open]", report);
  await page.keyboard.press("Escape");
  await page.keyboard.press("Control+k");
  await page.locator("dialog[open] [role=option]").first().waitFor();
  await compare(page, folder, "palette", "dialog[open]", report);
  const stranger = await (await browser.newContext({ locale: "en-US" })).newPage();
  await stranger.goto(`${base}/console`);
  await stranger.locator("dialog[open]").waitFor();
  await compare(stranger, folder, "sign-in", "dialog[open]", report);
  const known = [...Object.keys(pages), "frame", "navigation", "shortcuts", "palette", "sign-in"].map((name) => `${name}.yaml`);
  for (const name of readdirSync(folder)) if (!known.includes(name)) report(`${name} is of no page`);
});
