// Reviews snapshots in the console, by keyboard where people would: looks at every view of a comparison,
// approves one and undoes it, rejects one, restores a baseline, takes a snapshot. Reports what must not
// happen, and prints the problems as a JSON list.
//
// Arguments: the URL of the server, a JSON list of the ids of three comparisons, the newest first, of a
// failed snapshot, and the URL of a page that can be captured, and an API key.

/** Markup that must stay text. */
const MARKUP = "<b>bold</b>";

/** Presses single keys. */
async function type(tab, keys) {
  await tab.evaluate(() => document.activeElement?.blur());
  for (const key of keys) await tab.keyboard.press(key);
}

async function checkList(context, base, report) {
  const tab = await open(context, base, report);
  await tab.goto(`${base}/console`);
  await heading(tab, "Home");
  await type(tab, ["g", "n"]);
  await heading(tab, "Snapshots");
  await says(tab, "to review");
  const { comparisons } = await api(tab, "/comparisons?status=pending_review");
  const cards = await tab.$$eval(".shot", (all) => all.map((card) => card.innerText));
  if (cards.length !== comparisons.length) report(`${cards.length} cards for ${comparisons.length} comparisons`);
  comparisons.forEach((of, i) => {
    if (!cards[i]?.includes(`${of.diff_percentage.toLocaleString("en", { maximumFractionDigits: 4 })} %`)) report(`the card ${cards[i]} lacks ${of.diff_percentage}`);
  });
  await tab.waitForFunction(() => [...document.querySelectorAll(".shot img")].every((image) => image.complete && image.naturalWidth > 0));
  await checkClean(tab, "list", report);
  await tab.close();
}

async function checkViews(context, base, id, report) {
  const tab = await open(context, base, report);
  await tab.goto(`${base}/console/snapshots/${id}`);
  await tab.waitForSelector(".stage svg");
  const of = await api(tab, `/comparisons/${id}`);
  await says(tab, `${of.diff_pixels.toLocaleString("en")} of ${of.total_pixels.toLocaleString("en")} pixels`);
  for (const [key, view] of [["2", "slider"], ["3", "overlay"], ["4", "diff"], ["5", "blink"]]) {
    await type(tab, [key]);
    await atQuery(tab, `view=${view}`);
    await tab.waitForSelector(".stage svg image");
  }
  await tab.waitForFunction(() => document.querySelector(".stage .range")?.innerText.includes("Shown: baseline"));
  await tab.emulateMediaFeatures([{ name: "prefers-reduced-motion", value: "reduce" }]);
  await tab.reload();
  await says(tab, "Shown: snapshot");
  if (!(await tab.evaluate(() => [...document.querySelectorAll("button")].some((one) => one.textContent === "Blink")))) report("it blinks although motion is to be reduced");
  await press(tab, "Show the baseline");
  await says(tab, "Shown: baseline");
  await type(tab, ["2"]);
  await tab.waitForSelector(".stage input[type=range]");
  await tab.focus(".stage input[type=range]");
  for (let i = 0; i < 10; i++) await tab.keyboard.press("ArrowRight");
  const at = await tab.$eval(".stage line.split", (line) => Number(line.getAttribute("x1")) / line.ownerSVGElement.viewBox.baseVal.width);
  if (Math.abs(at - 0.6) > 0.001) report(`the slider is at ${at}`);
  await type(tab, ["j"]);
  await atQuery(tab, "region=1");
  const box = await tab.$eval(".region.current", (rect) => ["x", "y", "width", "height"].map((name) => Number(rect.getAttribute(name))));
  const { x, y, width, height } = of.regions[0];
  if (String(box) !== String([x, y, width, height])) report(`the region is at ${box}`);
  await type(tab, ["b"]);
  await tab.waitForFunction(() => !document.querySelector(".region"));
  await tab.select(".zoom select", "2");
  await atQuery(tab, "zoom=2");
  await tab.waitForFunction(() => {
    const svg = document.querySelector(".stage svg");
    return svg && Number(svg.getAttribute("width")) === 2 * svg.viewBox.baseVal.width;
  });
  await checkClean(tab, "views", report);
  await tab.close();
}

async function checkDecisions(context, base, [approved, rejected, last], report) {
  const tab = await open(context, base, report);
  await tab.goto(`${base}/console/snapshots/${approved}`);
  await tab.waitForSelector("#reason");
  const before = await api(tab, `/comparisons/${approved}`);
  await tab.focus("#reason");
  await tab.keyboard.type(`a and r ${MARKUP}`);
  if ((await api(tab, `/comparisons/${approved}`)).status !== "pending_review") report("what was typed decided something");
  await type(tab, ["a"]);
  await says(tab, `“a and r ${MARKUP}”`);
  await says(tab, "The snapshot is the baseline of its page now.");
  await press(tab, "Undo");
  await tab.waitForFunction(async (path) => (await (await fetch(path)).json()).baselines[0].restored_from !== null, { polling: 200 }, `/api/v1/baselines?page_id=${before.page_id}`);
  await says(tab, "The baseline of the page is another image now.");
  const { baselines } = await api(tab, `/baselines?page_id=${before.page_id}`);
  if (baselines[0].restored_from !== before.baseline_id || !baselines[0].current) report(`undone: ${JSON.stringify(baselines[0])}`);
  await type(tab, ["n"]);
  await tab.waitForFunction((id) => location.pathname.endsWith(id), {}, rejected);
  // Once it is painted, keys are heard.
  await placeOf(tab, "#reason");
  await type(tab, ["r"]);
  await says(tab, "Rejected by");
  await type(tab, ["n"]);
  await tab.waitForFunction((id) => location.pathname.endsWith(id), {}, last);
  await press(tab, "Baselines and history of the page");
  await says(tab, "Newest comparisons");
  await press(tab, `Restore the baseline of ${baselines[1].created_at}`);
  await dialogOpen(tab, "Restore the baseline?");
  await press(tab, "Restore");
  await noDialog(tab);
  await tab.waitForFunction(async (path, id) => (await (await fetch(path)).json()).baselines[0].restored_from === id, { polling: 200 }, `/api/v1/baselines?page_id=${before.page_id}`, baselines[1].id);
  await checkClean(tab, "decisions", report);
  await tab.close();
}

async function checkCapture(context, base, failed, page, report) {
  const tab = await open(context, base, report, { mayFail: (status) => status === 422 });
  await tab.goto(`${base}/console/snapshots?view=captures`);
  const { error } = await api(tab, `/snapshots/${failed}`);
  await says(tab, error.message);
  await type(tab, ["c"]);
  await dialogOpen(tab, "Take a snapshot");
  await tab.keyboard.type("no address");
  await tab.keyboard.press("Enter");
  await tab.waitForSelector("#new-url[aria-invalid]");
  await tab.$eval("#new-url", (field) => field.select());
  await tab.keyboard.type(page);
  await clickOn(tab, "[name=compare]");
  await tab.focus("#new-url");
  await tab.keyboard.press("Enter");
  // Captured, compared, and shown.
  await tab.waitForFunction(() => location.pathname.includes("/snapshots/cmp_"));
  await tab.waitForSelector(".stage svg");
  const id = (await tab.evaluate(() => location.pathname)).split("/").pop();
  const { url } = await api(tab, `/comparisons/${id}`);
  if (url !== page) report(`captured: ${url}`);
  await checkClean(tab, "capture", report);
  await tab.close();
}

inBrowser(async (browser, report) => {
  const [base, ids, key] = process.argv.slice(-3);
  const { comparisons, failed, page } = JSON.parse(ids);
  const context = await signedIn(browser, base, key);
  await checkList(context, base, report);
  await checkViews(context, base, comparisons[0], report);
  await atEachSize(context, base, report, async (tab, look) => {
    await tab.goto(`${base}/console/snapshots`, { waitUntil: "networkidle0" });
    const { page_id: of, snapshot_id: taken } = await api(tab, `/comparisons/${comparisons[0]}`);
    await look("snapshots");
    const review = `/snapshots/${comparisons[0]}`;
    const paths = ["?view=captures", "?view=baselines", `/pages/${of}`, `/captures/${taken}`, `/captures/${failed}`].map((rest) => `/snapshots${rest}`);
    for (const path of [...paths, ...["sides", "slider", "overlay", "diff", "blink"].map((view) => `${review}?view=${view}`)]) {
      await tab.goto(`${base}/console${path}`, { waitUntil: "networkidle0" });
      await look(path.replace(/\W+/g, "_").slice(-40));
    }
    await tab.goto(`${base}/console/snapshots`, { waitUntil: "networkidle0" });
    await type(tab, ["c"]);
    await dialogOpen(tab, "Take a snapshot");
    await look("snapshots-new");
  });
  await checkDecisions(context, base, comparisons, report);
  await checkCapture(context, base, failed, page, report);
});
