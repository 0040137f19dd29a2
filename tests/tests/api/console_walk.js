// Walks through every page of the console at all widths and colour schemes, in the zone of New York over
// the end of daylight saving time, and cuts the network once each page is shown. Reports what must not
// happen, as `watch` of `playwright.js` does. Then hides each page for ten minutes. Prints the problems as a
// JSON list.
//
// Arguments: the URL of a server with data in every area, and an API key.

const DAYS = "from=2026-10-31T04:00:00.000Z&to=2026-11-03T05:00:00.000Z";
/** Where the parts of paths come from: the list of the API, and which of its items is taken. */
const ITEMS = {
  "/dashboards/:id": ["/dashboards", (list) => list.data.find(({ name }) => name !== "Telltale")?.id],
  "/errors/:id": ["/errors", (list) => list.data[0]?.id],
  "/jobs/:id": ["/jobs?status=scheduled", (list) => list.jobs[0]?.id],
  "/alerts/rules/:id": ["/alert_rules", (list) => list.data[0]?.id],
  "/alerts/windows/:id": ["/maintenance_windows", (list) => list.data[0]?.id],
  "/alerts/channels/:id": ["/channels", (list) => list.data[0]?.id],
  "/alerts/policies/:id": ["/escalation_policies", (list) => list.data[0]?.id],
  "/alerts/:id": ["/alerts", (list) => list.data[0]?.id],
  "/on-call/:id": ["/on_call_schedules", (list) => list.data[0]?.id],
  "/status/monitors/:id": ["/monitors", (list) => list.monitors[0]?.id],
  "/status/pages/:id": ["/status-pages", (list) => list.status_pages[0]?.id],
  "/snapshots/:id": ["/comparisons", (list) => list.comparisons[0]?.id],
  "/snapshots/captures/:id": ["/snapshots", (list) => list.snapshots[0]?.id],
  "/snapshots/pages/:id": ["/baselines", (list) => list.baselines[0]?.page_id],
  "/code/:id": ["/repositories", (list) => list.repositories[0]?.id],
};
/** Views of pages that the registry does not list. */
const VIEWS_OF_PAGES = [
  "/explore?q1=http.requests", "/explore?view=series", "/events?view=live", "/events?view=funnel&step=page.viewed&step=order.paid",
  "/jobs?view=workers", "/jobs?view=dead", "/jobs?view=live",
];
/** Without a query there is nothing to load. */
const EMPTY = ["/explore"];
const HIDDEN_MS = 10 * 60_000;
/** What the browser itself logs while the network is cut. */
const isCut = (text) => /net::ERR_(INTERNET_DISCONNECTED|NETWORK_CHANGED)/.test(text);

/** Returns the paths of all pages; reports a page of which there is no example. */
async function pathsOf(context, base, report) {
  const page = await context.newPage();
  await page.goto(`${base}/console`);
  await whenShown(page);
  const patterns = await page.evaluate(async () => {
    const own = document.querySelector("script[src]").src;
    const { PAGES } = await import(new URL("pages/registry.js", own));
    return PAGES.map(({ path }) => path);
  });
  await page.close();
  const [code] = (await apiOf(context, base, "/repositories")).repositories;
  const [statusPage] = (await apiOf(context, base, "/status-pages")).status_pages;
  const incidents = (await apiOf(context, base, `/status-pages/${statusPage.id}/incidents`)).incidents;
  const files = (await apiOf(context, base, `/repositories/${code.id}/files`)).files;
  const wiki = (await apiOf(context, base, `/repositories/${code.id}/wiki`)).pages;
  const rest = { "*path": files[0]?.file_path, ":slug": wiki[0]?.slug, ":incident": incidents[0]?.id };
  const paths = [];
  for (const pattern of patterns) {
    let path = pattern;
    const [prefix] = /^.*?\/:id/.exec(pattern) ?? [];
    if (prefix) {
      const [list, pick] = ITEMS[prefix] ?? [];
      const id = list && pick(await apiOf(context, base, list));
      path = id ? path.replace(":id", encodeURIComponent(id)) : "";
    }
    for (const [name, value] of Object.entries(rest)) if (value) path = path.replace(name, value.split("/").map(encodeURIComponent).join("/"));
    if (!path || /[:*]/.test(decodeURIComponent(path).replace(/https?:/, ""))) report(`there is no example of ${pattern}`);
    else paths.push(path);
  }
  return [...paths, ...VIEWS_OF_PAGES];
}

const addressOf = (base, path) => `${base}/console${path === "/" ? "" : path}${path.includes("?") ? "&" : "?"}${DAYS}`;

/** Looks at a page. */
async function look(page, base, path, label, report) {
  await page.goto(addressOf(base, path));
  const isShown = await whenShown(page).then(() => true, () => false);
  if (!isShown) report(`${label}: still loads: ${(await page.innerText("main")).slice(0, 200)}`);
  const heading = await page.textContent("h1");
  if (["The page could not be loaded", "There is nothing here"].includes(heading)) report(`${label}: ${heading}`);
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  if (overflow > 0) report(`${label}: scrolls sideways by ${overflow} px`);
  await reportViolations(page, label, report);
}

/** Returns whether the page is loaded again by the key `r`. */
const canRefresh = (page) => page.evaluate(async () => {
  const own = document.querySelector("script[src]").src;
  const { list } = await import(new URL("kit/keys.js", own));
  return list().some(({ keys, label }) => keys === "r" && label === "Refresh");
});

async function refresh(page) {
  await page.evaluate(() => document.activeElement?.blur());
  await page.keyboard.press("r");
}

const AWAY = "The server cannot be reached";

/** Cuts the network: the page says so, keeps what it shows, dimmed and with its age, and recovers. */
async function cut(context, page, path, label, report) {
  const isLoaded = !EMPTY.includes(path) && (await canRefresh(page));
  const before = await page.evaluate(() => document.querySelector("main").innerText.length);
  await context.setOffline(true);
  if (isLoaded) {
    await refresh(page);
    const said = await page.waitForFunction((away) => {
      const main = document.querySelector("main");
      return main.innerText.includes(away) && { text: main.innerText, isOld: [...main.querySelectorAll(".old")].some((one) => Number(getComputedStyle(one).opacity) < 1) };
    }, AWAY).then((handle) => handle.jsonValue(), () => null);
    if (!said) report(`${label}: does not say that the server is away`);
    else if (!said.isOld) report(`${label}: what is old is not dimmed`);
    else if (!said.text.includes("Shown as of")) report(`${label}: what is old has no age`);
  }
  const after = await page.evaluate(() => document.querySelector("main").innerText.length);
  if (after < before / 2) report(`${label}: without a network ${after} of ${before} characters are left`);
  await context.setOffline(false);
  if (!isLoaded) return;
  await refresh(page);
  await page.waitForFunction((away) => !document.querySelector("main").innerText.includes(away) && !document.querySelector("main .old"), AWAY)
    .catch(() => report(`${label}: does not recover`));
}

/** Returns what a page asks for in ten minutes. */
async function askedBy(page) {
  const asked = [];
  const note = (request) => asked.push(request.url());
  page.on("request", note);
  await page.clock.runFor(HIDDEN_MS);
  page.off("request", note);
  return asked;
}

/** While nobody looks at a page it asks for nothing, however long that lasts. */
async function hide(page, base, path, label, report) {
  await page.goto(addressOf(base, path));
  await whenShown(page);
  await page.evaluate(() => {
    Object.defineProperty(document, "hidden", { get: () => true });
    Object.defineProperty(document, "visibilityState", { get: () => "hidden" });
    document.dispatchEvent(new Event("visibilitychange"));
  });
  // What has begun may end.
  await page.waitForLoadState("networkidle");
  for (const url of await askedBy(page)) report(`${label}: hidden, it asks for ${url}`);
}

/** Hides every page, of which all load themselves again every five seconds. */
async function hideAll(browser, base, key, report) {
  const context = await signedInAt(browser, base, key, { timezoneId: "America/New_York" });
  const paths = await pathsOf(context, base, report);
  const page = await context.newPage();
  await page.addInitScript(() => localStorage.setItem("telltale.refresh", "5"));
  await page.clock.install();
  await page.goto(addressOf(base, "/"));
  await whenShown(page);
  if ((await askedBy(page)).length === 0) report("Home is not loaded again while somebody looks at it");
  for (const path of paths) await hide(page, base, path, path, report);
  await context.close();
}

inPlaywright(async (browser, report) => {
  const [base, key] = process.argv.slice(-2);
  for (const [width, scheme] of VIEWS) {
    const options = { viewport: { width, height: 900 }, colorScheme: scheme, timezoneId: "America/New_York" };
    const context = await signedInAt(browser, base, key, options);
    const paths = await pathsOf(context, base, report);
    const page = await context.newPage();
    await watch(page, base, report, isCut);
    for (const path of paths) {
      const label = `${path} ${width} ${scheme}`;
      await look(page, base, path, label, report);
      if (width > 390) await cut(context, page, path, label, report);
      await reportViolations(page, label, report);
    }
    await context.close();
  }
  await hideAll(browser, base, key, report);
});
