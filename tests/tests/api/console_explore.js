// Explores metrics and events in the console in a real browser, by keyboard where people would, and
// compares what is shown with the API. Reports what must not happen, as `console_browser.js` does.
// Prints the problems as a JSON list.
//
// Arguments: the URL of the server, and an API key.

const RANGE = "last=1h";
const PAGES = [
  ["explore", `/console/explore?${RANGE}`],
  ["explore-charts", `/console/explore?${RANGE}&q1=cpu.usage&q1.by=host&q2=web.requests&q3=huge+<i>metric</i>&compare=previous`],
  ["explore-table", `/console/explore?${RANGE}&view=table&q1=cpu.usage&q1.by=host&q2=shop.views&q2.by=product`],
  ["explore-missing", `/console/explore?${RANGE}&q1=no.such.metric`],
  ["cardinality", "/console/explore?view=series"],
  ["cardinality-tag", "/console/explore?view=series&by=value&of=cpu.usage&key=host"],
  ["events", `/console/events?${RANGE}`],
  ["events-live", "/console/events?view=live"],
  ["events-funnel", `/console/events?${RANGE}&view=funnel&step=cart.viewed&step=order.placed&step=order.paid`],
];

const query = (tab) => new URL(tab.url()).searchParams;
const queryHas = (tab, name, value) => tab.waitForFunction(
  (n, v) => new URLSearchParams(location.search).getAll(n).join("|") === v, {}, name, value);
const focusId = (tab) => tab.evaluate(() => document.activeElement.id);

/** Opens all facets and the first event. */
const openAll = (tab) => tab.evaluate(() => {
  for (const one of document.querySelectorAll(".facets details, .event:first-of-type")) one.open = true;
});

/** Waits until a combobox suggests something that contains a text. */
const suggests = (tab, wanted) => tab.waitForFunction(
  (part) => [...document.querySelectorAll("[role=option]")].some((option) => option.textContent.includes(part)), {}, wanted);

/** Finds a metric by a part of its name, groups and filters it, by keyboard alone. */
async function checkKeyboard(context, base, report) {
  const tab = await open(context, base, report);
  await tab.goto(`${base}/console/explore?${RANGE}`);
  await heading(tab, "Explore");
  await tab.waitForFunction(() => document.activeElement?.id === "add-metric");
  await tab.keyboard.type("usage");
  await suggests(tab, "cpu.usage");
  const active = await tab.$eval("#add-metric", (field) => document.getElementById(field.getAttribute("aria-activedescendant"))?.textContent ?? "");
  if (!active.startsWith("cpu.usage")) report(`the active suggestion is ${active}`);
  await tab.keyboard.press("Escape");
  if ((await tab.$$("[role=listbox]")).length > 0) report("Escape does not close the suggestions");
  await tab.keyboard.press("ArrowDown");
  await suggests(tab, "cpu.usage");
  await tab.keyboard.press("ArrowDown");
  await tab.keyboard.press("Enter");
  await queryHas(tab, "q1", "cpu.usage");
  if ((await focusId(tab)) !== "add-metric") report(`the focus went to ${await focusId(tab)}`);
  await settled(tab);
  await reach(tab, "host", report);
  await tab.keyboard.press("Enter");
  await queryHas(tab, "q1.by", "host");
  await says(tab, "4 of 4 groups shown");
  await says(tab, "<b>bold</b>");
  await reach(tab, "Filter", report);
  await tab.keyboard.press("Enter");
  await tab.waitForFunction(() => document.activeElement?.id === "filter-A-value");
  await tab.keyboard.type("a,b");
  await suggests(tab, "a,b/%2F");
  await tab.keyboard.press("ArrowDown");
  await tab.keyboard.press("Enter");
  await says(tab, "1 of 1 groups shown");
  await says(tab, "host = a,b/%2F*!\\");
  await reach(tab, "Remove the filter host = a,b/%2F*!\\", report);
  await tab.keyboard.press("Enter");
  await says(tab, "4 of 4 groups shown");
  if (query(tab).has("q1.tag")) report("the filter is still in the address");
  if ((await tab.$$("main b")).length > 0) report("data became markup");
  await tab.goBack();
  await says(tab, "1 of 1 groups shown");
  await tab.focus("h1");
  await reach(tab, "Remove query A", report);
  await tab.keyboard.press("Enter");
  await tab.waitForFunction(() => document.activeElement?.id === "add-metric");
  await checkViolations(tab, "explore by keyboard", report);
  await tab.close();
}

/** Does what shows other data in the chart, which is drawn once they are loaded, and waits for it. */
async function drawnAnew(tab, act) {
  const before = await tab.$(".u-over");
  await act();
  await tab.waitForFunction((old) => {
    const now = document.querySelector(".u-over");
    return now !== null && now !== old;
  }, {}, before);
}

/** Moves the range by dragging with Shift: it keeps its length, and earlier times come from the left. */
async function checkPan(tab, report) {
  const range = () => [Date.parse(query(tab).get("from")), Date.parse(query(tab).get("to"))];
  const [from, to] = range();
  const box = await placeOf(tab, ".u-over");
  await tab.keyboard.down("Shift");
  await tab.mouse.move(box.x + box.width * 0.25, box.y + 60);
  await tab.mouse.down();
  await tab.mouse.move(box.x + box.width * 0.75, box.y + 60, { steps: 5 });
  await tab.mouse.up();
  await tab.keyboard.up("Shift");
  await tab.waitForFunction((before) => new URLSearchParams(location.search).get("from") !== before, {}, new Date(from).toISOString());
  const [begin, end] = range();
  const part = (from - begin) / (to - from);
  if (Math.abs(part - 0.5) > 0.05 || Math.abs(end - begin - (to - from)) > 2_000) report(`moved by ${part} of the range, to ${(end - begin) / 1000} s`);
}

/** Zooms by dragging, picks a moment, compares with the time before, copies as curl. */
async function checkCharts(context, base, report) {
  const tab = await open(context, base, report);
  await context.overridePermissions(base, ["clipboard-read", "clipboard-sanitized-write"]);
  await tab.bringToFront();
  await tab.goto(`${base}/console/explore?last=15m&q1=cpu.usage&q1.agg=max&q1.by=host&q1.tag=host%3Dweb-*`);
  await tab.waitForSelector(".u-over");
  await says(tab, "2 of 2 groups shown");
  await clickOn(tab, "[aria-label='Copy query A as curl']");
  await says(tab, "Copied.");
  const copied = await tab.evaluate(() => navigator.clipboard.readText());
  for (const part of [`curl '${base}/api/v1/metrics/cpu.usage/query?`, "interval=", "aggregation=max", "group_by=tags.host", "tags%5Bhost%5D=web-*", '-H "Authorization: Bearer $KEY"']) {
    if (!copied.includes(part)) report(`copied: ${copied} without ${part}`);
  }
  await drawnAnew(tab, () => tab.select("#filter-compare", "previous"));
  await says(tab, "web-1, before");
  const box = await placeOf(tab, ".u-over");
  const at = (part) => [box.x + box.width * part, box.y + box.height / 2];
  await drawnAnew(tab, () => tab.mouse.click(...at(0.5)));
  await says(tab, "5 minutes before and after");
  const picked = Date.parse(query(tab).get("at"));
  if (!(Math.abs(Date.now() - 7.5 * 60_000 - picked) < 4 * 60_000)) report(`the moment is ${query(tab).get("at")}`);
  await tab.waitForSelector(".around a[href*='/events']");
  const link = await tab.$eval(".around a[href*='/events']", (anchor) => new URL(anchor.href).searchParams.get("from"));
  if (Date.parse(link) !== picked - 5 * 60_000) report(`the link to events begins at ${link}, not before ${picked}`);
  const again = await placeOf(tab, ".u-over");
  await tab.mouse.move(again.x + again.width * 0.5, again.y + 60);
  await tab.mouse.down();
  await tab.mouse.move(again.x + again.width * 0.75, again.y + 60, { steps: 5 });
  await drawnAnew(tab, () => tab.mouse.up());
  await tab.waitForFunction(() => new URLSearchParams(location.search).has("from"));
  const length = (Date.parse(query(tab).get("to")) - Date.parse(query(tab).get("from"))) / 60_000;
  if (!(length > 3 && length < 4.5)) report(`a quarter of 15 minutes is ${length} minutes`);
  await checkPan(tab, report);
  await checkViolations(tab, "charts", report);
  await tab.close();
}

/** Waits as long as what is loaded needs to be drawn. */
const frames = (tab) => tab.evaluate(async () => {
  for (let i = 0; i < 20; i++) await new Promise(requestAnimationFrame);
});

/** A chart is not drawn before its style, without which its parts are in wrong places. */
async function checkStyle(context, base, report) {
  const tab = await open(context, base, report);
  await tab.setRequestInterception(true);
  const held = new Promise((resolve) => {
    tab.on("request", (request) => (request.url().endsWith("/uplot.css") ? resolve(request) : request.continue()));
  });
  await tab.goto(`${base}/console/explore?${RANGE}&q1=cpu.usage&q1.by=host`, { waitUntil: "domcontentloaded" });
  const style = await held;
  await says(tab, "4 of 4 groups shown");
  await frames(tab);
  if (await tab.$(".u-over")) report("a chart is drawn without its style");
  await style.continue();
  await tab.waitForSelector(".u-over");
  await checkViolations(tab, "style", report);
  await tab.close();
}

/** New data wait until the pointer is released: a chart drawn anew would lose what is dragged. */
async function checkHeld(context, base, report) {
  const tab = await open(context, base, report);
  await tab.goto(`${base}/console/explore?${RANGE}&q1=cpu.usage&q1.by=host`);
  const chart = await tab.waitForSelector(".u-over");
  const box = await placeOf(tab, ".u-over");
  await tab.mouse.move(box.x + box.width * 0.5, box.y + 60);
  await tab.mouse.down();
  await tab.mouse.move(box.x + box.width * 0.6, box.y + 60, { steps: 5 });
  const loaded = tab.waitForResponse((response) => response.url().includes("/query?"));
  await tab.select("#filter-compare", "previous");
  await loaded;
  await frames(tab);
  if (await chart.evaluate((one) => !one.isConnected)) report("a chart is drawn anew while it is dragged");
  await tab.mouse.move(box.x + box.width * 0.75, box.y + 60, { steps: 5 });
  await tab.mouse.up();
  await tab.waitForFunction(() => new URLSearchParams(location.search).has("from"));
  const length = (Date.parse(query(tab).get("to")) - Date.parse(query(tab).get("from"))) / 60_000;
  if (!(length > 13 && length < 17)) report(`a quarter of an hour is ${length} minutes`);
  await says(tab, "web-1, before");
  // A release that the page is not told of, as over a menu, shows when the pointer moves.
  await tab.$eval(".u-over", (over) => over.dispatchEvent(new PointerEvent("pointerdown", { bubbles: true, buttons: 1 })));
  await tab.select("#filter-compare", "");
  await tab.mouse.move(box.x + box.width * 0.5, box.y + 60, { steps: 2 });
  await gone(tab, "web-1, before");
  await checkViolations(tab, "held", report);
  await tab.close();
}

/** Compares the table of a query with the API. */
async function checkTable(context, base, report) {
  const tab = await open(context, base, report);
  const paths = [];
  tab.on("request", (request) => request.url().includes("/query?") && paths.push(new URL(request.url())));
  await tab.goto(`${base}/console/explore?${RANGE}&view=table&q1=cpu.usage&q1.by=host&q2=shop.views&q2.by=product`);
  await says(tab, "20 of 60 groups shown");
  await says(tab, "4 of 4 groups shown");
  const asked = paths.findLast((url) => url.pathname.includes("cpu.usage"));
  const { data } = await api(tab, asked.pathname.replace("/api/v1", "") + asked.search);
  const shown = await tab.$$eval("section.query:first-of-type tbody tr", (rows) => rows.map((row) => [...row.cells].map((cell) => cell.querySelector("[title]")?.title ?? cell.textContent)));
  for (const { tags, values } of data.groups) {
    const numbers = values.avg.filter((value) => value !== null);
    const row = shown.find(([name]) => name === tags.host);
    const wanted = [numbers.at(-1), Math.min(...numbers), Math.max(...numbers)];
    const found = row && [row[1], row[2], row[4]].map(Number);
    if (JSON.stringify(found) !== JSON.stringify(wanted)) report(`${tags.host}: ${found}, not ${wanted}`);
  }
  await checkViolations(tab, "table", report);
  await tab.close();
}

/** Adds a query to a new dashboard, by keyboard. */
async function checkDashboard(context, base, report) {
  const tab = await open(context, base, report, { mayFail: (status) => status === 422 });
  await tab.goto(`${base}/console/explore?${RANGE}&q1=cpu.usage&q1.agg=max&q1.by=host&q1.tag=host%3Dweb-*`);
  await says(tab, "2 of 2 groups shown");
  await reach(tab, "Add query A to a dashboard", report);
  await tab.keyboard.press("Enter");
  await dialogOpen(tab, "Add to a dashboard");
  await tab.waitForSelector("#to-dashboard");
  await tab.select("#to-dashboard", "");
  await tab.focus("#to-dashboard-name");
  await tab.keyboard.type("Made <b>here</b>");
  await reach(tab, "Add", report);
  await tab.keyboard.press("Enter");
  await dialogOpen(tab, "Added");
  const { data } = await api(tab, "/dashboards?limit=1000");
  const made = data.filter(({ name }) => name === "Made <b>here</b>");
  if (made.length !== 1) report(`${made.length} dashboards were made`);
  const dashboard = await api(tab, `/dashboards/${made[0]?.id}`);
  const [widget] = dashboard.data.widgets;
  const wanted = { metric: "cpu.usage", aggregation: "max", group_by: "tags.host", tags: { "host": "web-*" } };
  for (const [name, value] of Object.entries(wanted)) {
    if (JSON.stringify(widget?.query[name]) !== JSON.stringify(value)) report(`the widget has ${name} ${JSON.stringify(widget?.query[name])}`);
  }
  await tab.keyboard.press("Escape");
  await noDialog(tab);
  await checkViolations(tab, "dashboard", report);
  await tab.close();
}

/** Goes down from a metric to the values of its tag, and compares the counts. */
async function checkCardinality(context, base, report) {
  const tab = await open(context, base, report);
  await tab.goto(`${base}/console/explore?view=series`);
  const row = (name) => tab.$$eval("tbody tr", (rows, wanted) => rows.map((one) => [...one.cells].map((cell) => cell.textContent)).find(([text]) => text === wanted), name);
  await says(tab, "shop.views");
  if ((await row("shop.views"))?.[1] !== "60") report(`shop.views: ${await row("shop.views")}`);
  await tab.evaluate(() => [...document.querySelectorAll("td a")].find((one) => one.textContent === "cpu.usage").click());
  await queryHas(tab, "of", "cpu.usage");
  await tab.waitForFunction(() => document.querySelector("td a")?.textContent === "host");
  await clickOn(tab, "td a");
  await queryHas(tab, "key", "host");
  await says(tab, "<b>bold</b>");
  if ((await row("<b>bold</b>"))?.[1] !== "1") report(`<b>bold</b>: ${await row("<b>bold</b>")}`);
  await tab.evaluate(() => [...document.querySelectorAll("td a")].find((one) => one.textContent.startsWith("a,b")).click());
  await says(tab, "host = a,b/%2F*!\\");
  await tab.waitForSelector(".u-over");
  await checkViolations(tab, "cardinality", report);
  await tab.close();
}

/** Reads events, opens one, filters by it, and compares counts and statistics with the API. */
async function checkEvents(context, base, report) {
  const tab = await open(context, base, report);
  await tab.goto(`${base}/console/events?${RANGE}`);
  await heading(tab, "Events");
  await says(tab, "<script>alert(1)</script>");
  const from = encodeURIComponent(new Date(Date.now() - 3_600_000).toISOString());
  const { meta } = await api(tab, `/events?limit=1&from=${from}`);
  await says(tab, `${meta.total} events`);
  await tab.focus(".event > summary");
  await tab.keyboard.press("Enter");
  await says(tab, '"html": "<img src=x onerror=alert(1)>"');
  // A number that JavaScript would round.
  await says(tab, '"id": 9007199254740993');
  await says(tab, "5 minutes before and after");
  if ((await tab.$$("main b, main .event img")).length > 0) report("data became markup");
  await reach(tab, "user <b>user</b>", report);
  await tab.keyboard.press("Enter");
  await queryHas(tab, "user", "<b>user</b>");
  const own = await api(tab, `/events?limit=1&user_id=${encodeURIComponent("<b>user</b>")}&from=${from}`);
  await tab.waitForFunction((wanted) => document.querySelector("h2")?.textContent.startsWith(wanted), {}, `${own.meta.total} event`);
  await tab.goto(`${base}/console/events?${RANGE}&name=order.*`);
  await tab.waitForFunction(() => [...document.querySelectorAll(".facets summary")].some((one) => one.textContent === "region"));
  await openAll(tab);
  await tab.waitForFunction(() => [...document.querySelectorAll(".facets button .what")].some((one) => one.textContent === "eu"));
  await tab.evaluate(() => [...document.querySelectorAll(".facets button")].find((one) => one.querySelector(".what")?.textContent === "eu").click());
  await queryHas(tab, "tag", "region=eu");
  const stats = await api(tab, `/events/stats?name=order.*&tags[region]=eu&field=properties.cart.items&from=${from}`);
  await tab.waitForFunction(() => [...document.querySelector("#filter-field")?.options ?? []].some(({ value }) => value === "cart.items"));
  await tab.select("#filter-field", "cart.items");
  await tab.waitForFunction((wanted) => [...document.querySelectorAll(".numbers dd")].map((one) => one.title).join() === wanted, {},
    ["sum", "avg", "min", "p50", "p95", "p99", "max"].map((name) => stats.data[name]).join());
  await checkViolations(tab, "events", report);
  await tab.close();
}

/** Follows events: a new one appears, pausing holds the next, a pinned one stays. */
async function checkLive(context, base, key, report) {
  const tab = await open(context, base, report);
  const began = tab.waitForResponse((response) => response.url().includes("/events/tail"));
  await tab.goto(`${base}/console/events?view=live&name=live.*`);
  await began;
  const send = async (name) => {
    const headers = { "Content-Type": "application/json", Authorization: `Bearer ${key}` };
    const response = await fetch(`${base}/api/v1/events`, { method: "POST", headers, body: JSON.stringify({ name, properties: { text: "<b>x</b>" } }) });
    if (response.status !== 201) report(`sending ${name}: ${response.status}`);
  };
  await send("live.first");
  await says(tab, "live.first");
  await clickOn(tab, "[aria-label='Pin live.first']");
  await says(tab, "Pinned");
  await tab.evaluate(() => [...document.querySelectorAll("button")].find((one) => one.textContent.trim() === "Pause").click());
  await says(tab, "Paused");
  await send("live.second");
  await says(tab, "Go on: 1 new");
  if ((await tab.$eval("main", (main) => main.innerText)).includes("live.second")) report("a paused view shows a new event");
  await tab.evaluate(() => [...document.querySelectorAll("button")].find((one) => one.textContent.startsWith("Go on")).click());
  await says(tab, "live.second");
  await checkViolations(tab, "live", report);
  await tab.close();
}

/** Makes a funnel by keyboard, and compares its counts with the API. */
async function checkFunnel(context, base, report) {
  const tab = await open(context, base, report);
  await tab.goto(`${base}/console/events?${RANGE}&view=funnel`);
  await tab.waitForSelector("#add-step");
  await tab.focus("#add-step");
  const steps = ["cart.viewed", "order.placed", "order.paid"];
  for (const [i, step] of steps.entries()) {
    await tab.waitForFunction(() => document.activeElement?.id === "add-step");
    await tab.keyboard.type(step);
    await suggests(tab, step);
    await tab.keyboard.press("Enter");
    await queryHas(tab, "step", steps.slice(0, i + 1).join("|"));
  }
  await tab.waitForFunction(() => document.querySelectorAll(".funnel > li").length === 3);
  const answer = await tab.evaluate(async (names) => {
    const body = JSON.stringify({ steps: names.map((name) => ({ name })), window: "24h", from: new Date(Date.now() - 3_600_000).toISOString() });
    return (await fetch("/api/v1/events/funnel", { method: "POST", headers: { "Content-Type": "application/json" }, body })).json();
  }, steps);
  const shown = await tab.$$eval(".funnel .number", (all) => all.map((one) => Number.parseInt(one.textContent, 10)));
  const wanted = answer.data.steps.map(({ users }) => users);
  if (JSON.stringify(shown) !== JSON.stringify(wanted)) report(`the funnel shows ${shown}, not ${wanted}`);
  await checkViolations(tab, "funnel", report);
  await tab.close();
}

/** Runs axe-core, without the policy, which would not admit it, on every page. */
async function checkWithAxe(context, base, width, scheme, report) {
  const tab = await open(context, base, report, { width, scheme, mayFail: (status) => status === 404 });
  await tab.setBypassCSP(true);
  for (const [name, path] of PAGES) {
    await tab.goto(base + path);
    await settled(tab);
    if (name === "events") await openAll(tab);
    await settled(tab);
    await tab.evaluate(AXE);
    await axe(tab, `${name}-${width}-${scheme}`, report);
    if (name !== "explore") continue;
    await tab.type("#add-metric", "u");
    await suggests(tab, "cpu.usage");
    await axe(tab, `${name}-suggestions-${width}-${scheme}`, report);
  }
  await tab.close();
}

inBrowser(async (browser, report) => {
  const [base, key] = process.argv.slice(-2);
  const context = await signedIn(browser, base, key);
  await checkKeyboard(context, base, report);
  await checkCharts(context, base, report);
  await checkStyle(context, base, report);
  await checkHeld(context, base, report);
  await checkTable(context, base, report);
  await checkDashboard(context, base, report);
  await checkCardinality(context, base, report);
  await checkEvents(context, base, report);
  await checkLive(context, base, key, report);
  await checkFunnel(context, base, report);
  for (const [width, scheme] of VIEWS) await checkWithAxe(context, base, width, scheme, report);
});
