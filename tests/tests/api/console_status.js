// Uses the pages of monitors and status pages in a real browser, by keyboard where people would: finds a
// monitor among many, checks and pauses it, goes through its days, makes one, opens an incident and posts
// an update. Compares what is shown with the API. Prints the problems as a JSON list.
//
// Arguments: the URL of the server, an API key, and how many monitors there are.

const click = (tab, wanted) => tab.evaluate((label) => {
  const named = (element) => (element.getAttribute("aria-label") ?? element.textContent).trim();
  const within = document.querySelector("dialog[open]") ?? document.querySelector("main");
  const found = [...within.querySelectorAll("button, a")].find((element) => named(element) === label);
  if (!found) throw new Error(`nothing is called ${label}`);
  found.click();
}, wanted);
const field = async (tab, id, value) => {
  await tab.waitForSelector(`#${id}`);
  await tab.$eval(`#${id}`, (element) => {
    element.focus();
    element.select?.();
  });
  await tab.keyboard.press("Backspace");
  await tab.keyboard.type(value);
};
const monitor = async (tab, name) => (await api(tab, "/monitors?limit=1000")).monitors.find((one) => one.name === name);
const statusPage = async (tab) => (await api(tab, "/status-pages")).status_pages.find((one) => one.subdomain === "shop");

/** Finds a monitor among many, checks it and pauses it. */
async function checkMonitors(context, base, total, report) {
  const tab = await open(context, base, report);
  await tab.goto(`${base}/console`);
  await heading(tab, "Home");
  await tab.keyboard.press("g");
  await tab.keyboard.press("t");
  await heading(tab, "Monitors");
  await says(tab, `1 to 50 of ${total}`);
  const first = await text(tab, ".monitors .name");
  if (first !== "down <b>port</b>") report(`the first monitor is ${first}`);
  if ((await tab.$$("main b")).length > 0) report("data became markup");
  const counts = new Map();
  for (const { status } of (await api(tab, "/monitors?limit=1000")).monitors) counts.set(status, (counts.get(status) ?? 0) + 1);
  const shown = await tab.$$eval(".count-of", (all) => all.map((one) => one.textContent.trim()));
  for (const [status, count] of counts) if (!shown.includes(`${count} ${status}`)) report(`${count} ${status} is not among ${shown}`);
  await tab.waitForSelector(".monitors svg[role=img]");
  const said = await tab.$eval(".monitors svg[role=img]", (image) => image.getAttribute("aria-label"));
  if (!/^Last 90 days: /.test(said)) report(`the bars say ${said}`);
  await tab.focus("#search-q");
  await tab.keyboard.type("itself");
  await tab.waitForFunction(() => document.querySelectorAll(".monitors > li").length === 1);
  await reach(tab, "Check itself now", report);
  await tab.keyboard.press("Enter");
  await says(tab, "itself: up in");
  await tab.focus("h1");
  await reach(tab, "Pause itself", report);
  await tab.keyboard.press("Enter");
  await says(tab, "itself is paused");
  if (!(await monitor(tab, "itself")).paused) report("the monitor is not paused");
  await click(tab, "Resume itself");
  await says(tab, "itself is checked again.");
  await checkViolations(tab, "monitors", report);
  await tab.close();
}

/** Goes through the days of a monitor, and changes it. */
async function checkMonitor(context, base, report) {
  const tab = await open(context, base, report, { mayFail: (status) => [400, 422].includes(status) });
  await tab.goto(`${base}/console/status?q=itself`);
  await tab.waitForSelector(".monitors .name");
  await tab.evaluate(() => document.querySelector(".monitors .name").click());
  await heading(tab, "itself");
  await tab.waitForSelector(".day-bars button");
  const days = await tab.$$eval(".day-bars button", (all) => all.length);
  if (days !== 90) report(`${days} days`);
  await tab.focus(".day-bars button[tabindex='0']");
  await tab.keyboard.press("ArrowLeft");
  await tab.waitForFunction(() => document.querySelector(".day-text")?.textContent.includes("not observed"));
  await tab.keyboard.press("End");
  await tab.waitForFunction(() => document.querySelector(".day-text")?.textContent.includes(" %"));
  await tab.goto(`${base}/console/status/monitors/new/edit`);
  await tab.waitForSelector("#monitor-type");
  await tab.select("#monitor-type", "heartbeat");
  await field(tab, "monitor-name", "nightly <i>job</i>");
  await field(tab, "monitor-interval_seconds", "1");
  await tab.keyboard.press("Enter");
  await tab.waitForFunction(() => document.activeElement?.id === "monitor-interval_seconds" && document.activeElement.getAttribute("aria-invalid"));
  await field(tab, "monitor-interval_seconds", "3600");
  await tab.keyboard.press("Enter");
  await heading(tab, "nightly <i>job</i>");
  const made = await monitor(tab, "nightly <i>job</i>");
  if (made.interval_seconds !== 3600 || made.type !== "heartbeat") report(`made: ${JSON.stringify(made)}`);
  await says(tab, `/api/v1/monitors/${made.id}/heartbeat`);
  await click(tab, "Alert rule");
  await heading(tab, "New alert rule");
  await tab.waitForFunction(() => document.querySelector("#rule-name-of")?.value === "telltale.monitor.up");
  await checkViolations(tab, "monitor", report);
  await tab.close();
}

/** A message that is being written stays when a refresh fails, and when somebody else changes the status. */
async function checkTyped(tab, page, report) {
  const refresh = () => tab.evaluate(() => document.dispatchEvent(new Event("visibilitychange")));
  const fail = (request) => request.respond({ status: 500, body: "{}" });
  await field(tab, "update-message", "We are still");
  await tab.setRequestInterception(true);
  tab.on("request", fail);
  await refresh();
  await says(tab, "Shown as of");
  tab.off("request", fail);
  await tab.setRequestInterception(false);
  await tab.evaluate(async (path) => {
    const { incidents: [{ id }] } = await (await fetch(path)).json();
    await fetch(`${path}/${id}`, { method: "PATCH", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ status: "identified" }) });
  }, `/api/v1/status-pages/${page.id}/incidents`);
  await refresh();
  await tab.waitForFunction(() => document.querySelector("#update-status")?.value === "identified");
  const typed = await tab.$eval("#update-message", (element) => element.value);
  if (typed !== "We are still") report(`what was typed is lost: ${typed}`);
}

/** Opens an incident, posts an update, and schedules a maintenance. */
async function checkPage(context, base, report) {
  const tab = await open(context, base, report, { mayFail: (status) => [400, 422, 500].includes(status) });
  await tab.goto(`${base}/console/status/pages`);
  await says(tab, "Shop & <b>more</b>");
  const page = await statusPage(tab);
  await tab.goto(`${base}/console/status/pages/${page.id}?view=incidents`);
  await heading(tab, page.name);
  await says(tab, "No incidents.");
  await click(tab, "Open an incident");
  await dialogOpen(tab, "Open an incident");
  await field(tab, "incident-title", "Slow <script>");
  await click(tab, "Open the incident");
  await tab.waitForFunction(() => document.activeElement?.id === "incident-message" && document.activeElement.getAttribute("aria-invalid"));
  await field(tab, "incident-message", "We look <b>into</b> it.");
  await click(tab, "Open the incident");
  await heading(tab, "Slow <script>");
  await says(tab, "We look <b>into</b> it.");
  await checkTyped(tab, page, report);
  await tab.select("#update-status", "resolved");
  await field(tab, "update-message", "A disk was full.");
  await click(tab, "Resolve");
  await says(tab, "The update is posted.");
  await tab.waitForFunction(() => document.querySelectorAll(".history > li").length === 3);
  const { incidents } = await api(tab, `/status-pages/${page.id}/incidents`);
  if (incidents.length !== 1 || incidents[0].status !== "resolved") report(`incidents: ${JSON.stringify(incidents)}`);
  await tab.goto(`${base}/console/status/pages/${page.id}?view=maintenance`);
  await heading(tab, page.name);
  await settled(tab);
  await click(tab, "Schedule maintenance");
  await dialogOpen(tab, "Schedule maintenance");
  await field(tab, "maintenance-title", "New <i>disk</i>");
  await tab.evaluate(() => document.querySelector("dialog .pick-list input").click());
  await click(tab, "Schedule");
  await noDialog(tab);
  await says(tab, "New <i>disk</i>");
  const { maintenances } = await api(tab, `/status-pages/${page.id}/maintenance`);
  if (maintenances.length !== 1 || maintenances[0].monitors.length !== 1) report(`maintenances: ${JSON.stringify(maintenances)}`);
  await checkViolations(tab, "status page", report);
  await tab.close();
}

/** Returns the pages, with the dialogs to open on them: `[path, button, title]`. */
async function pages(tab) {
  const page = await statusPage(tab);
  const of = `/console/status/pages/${page.id}`;
  const itself = (await monitor(tab, "itself")).id;
  const incident = (await api(tab, `/status-pages/${page.id}/incidents`)).incidents[0].id;
  return [
    ["/console/status"],
    ["/console/status?q=nothing+is+like+this"],
    [`/console/status/monitors/${itself}?last=1h`, "Delete", "Delete the monitor?"],
    [`/console/status/monitors/${itself}/edit`],
    [`/console/status/monitors/${(await monitor(tab, "nightly <i>job</i>")).id}`],
    ["/console/status/monitors/new/edit"],
    ["/console/status/pages"],
    [of, "Add monitors", "Add monitors"],
    [`${of}?view=incidents`, "Open an incident", "Open an incident"],
    [`${of}?view=maintenance`, "Schedule maintenance", "Schedule maintenance"],
    [`${of}?view=subscribers`],
    [`${of}/edit`],
    ["/console/status/pages/new/edit"],
    [`${of}/incidents/${incident}`, "Edit", "Edit the incident"],
  ];
}

async function checkWithAxe(context, base, width, scheme, report) {
  const tab = await open(context, base, report, { width, scheme });
  await tab.setBypassCSP(true);
  await tab.goto(`${base}/console/nothing`);
  for (const [path, button, title] of await pages(tab)) {
    const label = `${path.replace(/\W+/g, "-").slice(9, 60)}-${width}-${scheme}`;
    await tab.goto(base + path, { waitUntil: "networkidle0" });
    await settled(tab);
    await tab.evaluate(AXE);
    await axe(tab, label, report);
    if (!button) continue;
    await click(tab, button);
    await dialogOpen(tab, title);
    await axe(tab, `${label}-dialog`, report);
  }
  await tab.close();
}

inBrowser(async (browser, report) => {
  const [base, key, total] = process.argv.slice(-3);
  const context = await signedIn(browser, base, key);
  await checkMonitors(context, base, Number(total), report);
  await checkMonitor(context, base, report);
  await checkPage(context, base, report);
  for (const [width, scheme] of VIEWS) await checkWithAxe(context, base, width, scheme, report);
});
