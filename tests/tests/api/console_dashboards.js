// Uses dashboards in a real browser, by keyboard where people would: reads one, compares its numbers with
// those of the API, makes one, edits it, meets a change of somebody else, restores a version. Reports what
// must not happen, as `console_browser.js` does. Prints the problems as a JSON list.
//
// Arguments: the URL of the server, the id of a dashboard, and an API key.

const MARKUP = "<img src=x onerror=alert(1)>";

/** Whether every widget has been drawn. */
const drawn = (tab) => tab.waitForFunction(() => {
  const tiles = [...document.querySelectorAll(".tile")];
  return tiles.length > 0 && tiles.every((tile) => !tile.textContent.includes("Loading…"));
});

/** Compares what is shown with what the API says. */
async function checkNumbers(context, base, id, report) {
  const tab = await open(context, base, report);
  const paths = [];
  tab.on("request", (request) => {
    const { pathname } = new URL(request.url());
    if (request.method() === "GET" && pathname.startsWith(`/api/v1/dashboards/${id}`)) paths.push(pathname);
  });
  await tab.setViewport({ width: 1280, height: 2400 });
  await tab.goto(`${base}/console/dashboards/${id}`);
  await heading(tab, "Shop <b>floor</b>");
  await drawn(tab);
  // The definitions, all values, and the events.
  if (paths.length > 4) report(`12 widgets took ${paths.length} requests: ${paths}`);
  const { data } = await api(tab, `/dashboards/${id}`);
  const find = (type) => data.widgets.filter((widget) => widget.type === type);
  for (const { id: widget, value, title } of find("number")) {
    const shown = await tab.$eval(`[data-id="${widget}"] .value`, (element) => element.title);
    if (shown !== (value === null ? "no value" : String(value))) report(`${title}: ${shown}, not ${value}`);
  }
  for (const { id: widget, items, title } of [...find("bar"), ...find("pie")]) {
    const selector = `[data-id="${widget}"] li`;
    const shown = await tab.$$eval(selector, (all) => all.map((li) => [li.querySelector(".name").title, Number(li.querySelector(".number").title)]));
    if (JSON.stringify(shown) !== JSON.stringify(items.map(({ label, value }) => [label, value]))) report(`${title}: ${JSON.stringify(shown)}`);
  }
  for (const { id: widget, rows, title } of find("table")) {
    const shown = await tab.$$eval(`[data-id="${widget}"] tbody tr`, (all) => all.map((tr) => [...tr.children].map((td) => (td.title === "" ? td.textContent : Number(td.title)))));
    if (JSON.stringify(shown) !== JSON.stringify(rows.map((row) => [row.host, row.avg, row.max]))) report(`${title}: ${JSON.stringify(shown)}`);
  }
  for (const { id: widget, cells, title } of find("heatmap")) {
    const shown = await tab.$$eval(`[data-id="${widget}"] td[data-value]`, (all) => all.map((td) => Number(td.dataset.value)));
    if (JSON.stringify(shown.sort()) !== JSON.stringify(cells.map(({ value }) => value).sort())) report(`${title}: ${JSON.stringify(shown)}`);
  }
  if ((await tab.$$eval("main img, main b", (all) => all.length)) !== 0) report("data became markup");
  await says(tab, "Deployment");
  await checkVariable(tab, report);
  await checkTools(tab, data, report);
  await checkViolations(tab, "reading", report);
  await tab.close();
}

/** The address carries the value of a variable, and the number follows it. */
async function checkVariable(tab, report) {
  await tab.select(".variable select", "web-1");
  await tab.waitForFunction(() => document.querySelector(".tile .value")?.title === "12.5");
  if (!tab.url().includes("var-host=web-1")) report(`the address is ${tab.url()}`);
  await tab.goBack();
  await tab.waitForFunction(() => document.querySelector(".tile .value")?.title === "40.25");
}

/** A table for a chart, the command, one widget alone, the whole screen. */
async function checkTools(tab, data, report) {
  await press(tab, "CPU by host as a table");
  await tab.waitForFunction(() => [...document.querySelectorAll(".tile table th")].some((th) => th.textContent === "web-2"));
  await press(tab, "CPU by host as a table");
  await press(tab, "More about CPU by host");
  await dialogOpen(tab, "CPU by host");
  const command = await tab.$eval("dialog pre", (pre) => pre.textContent);
  if (!command.includes(`/api/v1/dashboards/${data.id}/widgets/`)) report(`the command is ${command}`);
  await press(tab, "Enlarge");
  await noDialog(tab);
  await tab.waitForFunction(() => document.querySelectorAll(".tile").length === 1);
  await press(tab, "All widgets");
  await tab.waitForFunction(() => document.querySelectorAll(".tile").length === 12);
  await tab.focus("h1");
  await tab.keyboard.press("f");
  await tab.waitForFunction(() => getComputedStyle(document.querySelector(".frame > nav")).display === "none");
  await tab.keyboard.press("Escape");
  await tab.waitForFunction(() => getComputedStyle(document.querySelector(".frame > nav")).display !== "none");
}

const positionOf = (tab, title) => tab.evaluate((wanted) => {
  const tile = [...document.querySelectorAll(".tile.editing")].find((one) => one.querySelector("h2").textContent === wanted);
  return ["--column", "--row", "--width", "--height"].map((name) => Number(tile.style.getPropertyValue(name))).join(" ");
}, title);

/** Makes a dashboard with two widgets, by keyboard. Returns its id. */
async function checkMaking(context, base, report) {
  const tab = await open(context, base, report);
  await tab.goto(`${base}/console/dashboards`);
  await heading(tab, "Dashboards");
  await press(tab, "New dashboard");
  await dialogOpen(tab, "New dashboard");
  await tab.keyboard.type(MARKUP);
  await tab.keyboard.press("Enter");
  await heading(tab, `Edit ${MARKUP}`);
  await addWidget(tab, "CPU");
  await addWidget(tab, "Load");
  if ((await positionOf(tab, "Load")) !== "7 1 6 4") report(`a second widget is at ${await positionOf(tab, "Load")}`);
  await tab.waitForFunction(() => document.activeElement?.querySelector?.("h2")?.textContent === "Load");
  await tab.keyboard.down("Shift");
  await tab.keyboard.press("ArrowLeft");
  await tab.keyboard.up("Shift");
  await tab.keyboard.press("ArrowRight");
  if ((await positionOf(tab, "Load")) !== "8 1 5 4") report(`after the keys it is at ${await positionOf(tab, "Load")}`);
  await tab.waitForFunction(() => document.querySelector("main [aria-live]")?.textContent === "Load: column 8, row 1, 5 wide, 4 high");
  await tab.keyboard.down("Control");
  await tab.keyboard.press("z");
  await tab.keyboard.up("Control");
  await tab.waitForFunction(() => document.querySelector("main [aria-live]")?.textContent === "Undone");
  if ((await positionOf(tab, "Load")) !== "7 1 5 4") report(`undone, it is at ${await positionOf(tab, "Load")}`);
  await checkDragging(tab, report);
  await checkLeaving(tab, report);
  await press(tab, "Save");
  await heading(tab, MARKUP);
  await drawn(tab);
  const id = new URL(tab.url()).pathname.split("/").pop();
  const { data } = await api(tab, `/dashboards/${id}`);
  const stored = data.widgets.map(({ title, query, position: { x, y, width, height } }) => [title, query.metric, query.group_by ?? "", x, y, width, height].join(" "));
  if (JSON.stringify(stored) !== JSON.stringify(["CPU cpu.usage  0 0 6 4", "Load cpu.usage  0 4 5 4"])) report(`stored: ${JSON.stringify(stored)}`);
  await checkViolations(tab, "making", report);
  await tab.close();
  return id;
}

/** Adds a graph of a metric, which is shown before it is added. */
async function addWidget(tab, title) {
  await press(tab, "Add a widget");
  await dialogOpen(tab, "Add a widget");
  await tab.focus("#widget-metric");
  await tab.keyboard.type("cpu.usage");
  await tab.waitForSelector("[role=option]");
  await tab.keyboard.press("Enter");
  await tab.focus("#widget-title");
  await tab.keyboard.type(title);
  await tab.waitForSelector(".preview canvas");
  await press(tab, "Add");
  await noDialog(tab);
}

/** Drags the second widget below the first one by its title. */
async function checkDragging(tab, report) {
  const grip = await tab.evaluate(() => {
    const found = [...document.querySelectorAll(".tile.editing")].find((one) => one.querySelector("h2").textContent === "Load");
    const { left, top } = found.querySelector(".grip").getBoundingClientRect();
    return { x: left + 20, y: top + 8 };
  });
  await tab.mouse.move(grip.x, grip.y);
  await tab.mouse.down();
  await tab.mouse.move(grip.x - 300, grip.y + 200, { steps: 5 });
  await tab.mouse.move(grip.x - 600, grip.y + 400, { steps: 5 });
  await tab.mouse.up();
  if ((await positionOf(tab, "Load")) !== "1 5 5 4") report(`dragged, it is at ${await positionOf(tab, "Load")}`);
}

/** A link away asks first; what was changed stays. */
async function checkLeaving(tab, report) {
  await tab.keyboard.press("Tab");
  await tab.evaluate(() => document.querySelector(".above a").click());
  await dialogOpen(tab, "Leave without saving?");
  await press(tab, "Cancel");
  await noDialog(tab);
  if (!(await tab.evaluate(() => location.search.includes("edit=1")))) report(`the address is ${tab.url()}`);
}

/** Somebody else changes the dashboard while it is edited: both versions are shown, and a version can be restored. */
async function checkConflict(context, base, id, report) {
  const tab = await open(context, base, report, { mayFail: (status) => status === 412 });
  await tab.goto(`${base}/console/dashboards/${id}?edit=1`);
  await heading(tab, `Edit ${MARKUP}`);
  await press(tab, "Remove Load");
  const status = await tab.evaluate(async (path) => {
    const headers = { "Content-Type": "application/json" };
    return (await fetch(path, { method: "PATCH", headers, body: JSON.stringify({ name: "Theirs" }) })).status;
  }, `/api/v1/dashboards/${id}`);
  if (status !== 200) report(`changing it: ${status}`);
  await press(tab, "Save");
  await dialogOpen(tab, "Somebody changed it meanwhile");
  const shown = await tab.$eval("dialog", (dialog) => dialog.innerText);
  for (const part of ["Removed: “Load”", "Theirs"]) if (!shown.includes(part)) report(`the versions lack ${part}: ${shown}`);
  await press(tab, "Save yours over it");
  await heading(tab, MARKUP);
  await tab.waitForFunction(() => document.querySelectorAll(".tile").length === 1);
  await press(tab, "More about the dashboard");
  await press(tab, "Versions…");
  await dialogOpen(tab, "Versions");
  await tab.waitForFunction(() => document.querySelectorAll("dialog input[type=radio]").length >= 3);
  await tab.evaluate(() => document.querySelectorAll("dialog input[type=radio]")[1].click());
  await tab.waitForFunction(() => /^Restore version/.test([...document.querySelectorAll("dialog button")].pop().textContent.trim()));
  await tab.evaluate(() => [...document.querySelectorAll("dialog button")].pop().click());
  await heading(tab, "Theirs");
  await tab.waitForFunction(() => document.querySelectorAll(".tile").length === 2);
  await checkViolations(tab, "conflict", report);
  await tab.close();
}

/** Searches, stars, copies and deletes in the list. */
async function checkList(context, base, report) {
  const tab = await open(context, base, report);
  await tab.goto(`${base}/console/dashboards?q=floor`);
  await says(tab, "Shop <b>floor</b>");
  await press(tab, "Star Shop <b>floor</b>");
  await press(tab, "Unstar Shop <b>floor</b>");
  await press(tab, "Duplicate Shop <b>floor</b>");
  await heading(tab, "Shop <b>floor</b> (copy)");
  await press(tab, "More about the dashboard");
  await press(tab, "Delete…");
  await dialogOpen(tab, "Delete the dashboard?");
  await press(tab, "Delete");
  await heading(tab, "Dashboards");
  await noDialog(tab);
  await checkViolations(tab, "list", report);
  await tab.close();
}

/** Runs axe-core, without the policy, which would not admit it, on the pages, their modes and dialogs. */
async function checkWithAxe(context, base, id, width, scheme, report) {
  const tab = await open(context, base, report, { width, scheme });
  await tab.setBypassCSP(true);
  const label = (name) => `${name}-${width}-${scheme}`;
  const go = async (path) => {
    await tab.goto(`${base}/console/dashboards${path}`, { waitUntil: "networkidle0" });
    await tab.evaluate(AXE);
  };
  await go("");
  await axe(tab, label("list"), report);
  await press(tab, "New dashboard");
  await dialogOpen(tab, "New dashboard");
  await axe(tab, label("new"), report);
  await go(`/${id}`);
  await axe(tab, label("board"), report);
  for (const [button, title] of [["More about CPU by host", "CPU by host"], ["More about the dashboard", "Shop <b>floor</b>"]]) {
    await press(tab, button);
    await dialogOpen(tab, title);
    await axe(tab, label(`dialog-${title.replace(/\W+/g, "-")}`), report);
    await tab.keyboard.press("Escape");
    await noDialog(tab);
  }
  await press(tab, "More about the dashboard");
  await press(tab, "Versions…");
  await dialogOpen(tab, "Versions");
  await tab.waitForSelector("dialog input[type=radio]");
  await clickOn(tab, "dialog input[type=radio]");
  await tab.waitForSelector("dialog .sketch");
  await axe(tab, label("versions"), report);
  await go(`/${id}?screen=1`);
  await axe(tab, label("screen"), report);
  await go(`/${id}?edit=1`);
  await axe(tab, label("edit"), report);
  for (const [button, title] of [["Edit CPU by host", "Edit the widget"], ["Variables", "Variables and marks"], ["Name", "Name and description"]]) {
    await press(tab, button);
    await dialogOpen(tab, title);
    if (title === "Edit the widget") await tab.waitForSelector(".preview canvas");
    await axe(tab, label(`edit-${button.replace(/\W+/g, "-")}`), report);
    await tab.keyboard.press("Escape");
    await noDialog(tab);
  }
  await tab.close();
}

inBrowser(async (browser, report) => {
  const [base, id, key] = process.argv.slice(-3);
  const context = await signedIn(browser, base, key);
  await checkNumbers(context, base, id, report);
  const made = await checkMaking(context, base, report);
  await checkConflict(context, base, made, report);
  await checkList(context, base, report);
  for (const [width, scheme] of VIEWS) await checkWithAxe(context, base, id, width, scheme, report);
});
