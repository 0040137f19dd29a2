// Reviews two comparisons in a real browser: all views by keyboard and by mouse, the decision, and
// what must not happen: a violation of the policy of the page, a dialog, a request to another
// origin, something that axe-core finds. Prints the problems as a JSON list.
//
// Arguments: the URLs of two review pages, of which the second is decided, and an API key.

const MODES = ["sides", "slider", "diff", "blink"];

async function open(browser, url, width, scheme, report) {
  const tab = await openTab(browser, report, { width, scheme });
  reportForeign(tab, new URL(url).origin, report);
  return tab;
}

const hidden = (tab, id) => tab.$eval(`#${id}`, (element) => element.hidden);

async function checkView(tab, shown, report) {
  for (const view of MODES) {
    if ((await hidden(tab, view)) !== (view !== shown)) report(`${shown}: ${view} is wrong`);
  }
  const checked = await tab.$eval("input[name=mode]:checked", (radio) => radio.value);
  if (checked !== shown) report(`${shown}: the choice says ${checked}`);
}

async function checkImages(tab, report) {
  const broken = await tab.$$eval("img", (images) =>
    images.filter((image) => image.naturalWidth !== 320).map((image) => image.alt),
  );
  for (const alt of broken) report(`an image is not shown: ${alt}`);
}

async function checkSlider(tab, report) {
  const place = () => tab.$eval("#slide-top", (image) => image.style.clipPath);
  if ((await place()) !== "inset(0px 0px 0px 50%)") report(`the slider begins at ${await place()}`);
  await tab.keyboard.press("ArrowRight");
  if ((await place()) !== "inset(0px 0px 0px 55%)") report(`after one key it is at ${await place()}`);
  const box = await (await tab.$("#slide")).boundingBox();
  await tab.mouse.click(box.x + 1, box.y + box.height / 2);
  if ((await place()) !== "inset(0px 0px 0px 0%)") report(`after a click it is at ${await place()}`);
}

async function checkViews(browser, url, report) {
  const tab = await open(browser, url, 1280, "light", report);
  await tab.goto(url, { waitUntil: "networkidle0" });
  await checkView(tab, "sides", report);
  await checkImages(tab, report);
  await tab.keyboard.press("2");
  await checkView(tab, "slider", report);
  await checkSlider(tab, report);
  await tab.evaluate(() => document.activeElement.blur());
  await tab.keyboard.press("3");
  await checkView(tab, "diff", report);
  const regions = await tab.$$eval("#regions rect", (boxes) => boxes.length);
  if (regions !== 1) report(`${regions} regions`);
  await tab.keyboard.press("b");
  if (!(await tab.$eval("#regions", (boxes) => getComputedStyle(boxes).display === "none"))) {
    report("the boxes are not hidden");
  }
  await tab.keyboard.press("4");
  await checkView(tab, "blink", report);
  for (const isHidden of [true, false]) {
    const expression = `document.getElementById("blink-top").hidden === ${isHidden}`;
    await tab.waitForFunction(expression);
  }
  await tab.click("input[value=sides]");
  await checkView(tab, "sides", report);
  // Letters typed into a field are text.
  await tab.type("#reason", "a r 2 b");
  await checkView(tab, "sides", report);
  await tab.$eval("#reason", (field) => field.blur());
  await tab.keyboard.press("a");
  const result = await tab.$eval("#result", (element) => element.textContent);
  if (result !== "Enter an API key first.") report(`without a key: ${result}`);
  for (const violation of await tab.evaluate(() => globalThis.violations)) report(violation);
  await tab.close();
}

async function decide(browser, url, key, report) {
  const tab = await open(browser, url, 1280, "light", report);
  await tab.goto(url, { waitUntil: "networkidle0" });
  const result = () => tab.$eval("#result", (element) => element.textContent);
  const settled = () =>
    tab.waitForFunction(() => document.getElementById("result")?.textContent.length > 1);
  await tab.type("#key", "tt_wrong");
  await tab.click("#approve");
  await settled();
  if (!(await result()).startsWith("Failed: ")) report(`a wrong key: ${await result()}`);
  await tab.$eval("#key", (field) => { field.value = ""; });
  await tab.type("#key", key);
  await tab.type("#reason", "a new box");
  await tab.click("#approve");
  await tab.waitForFunction(() => document.getElementById("buttons")?.hidden);
  if ((await result()) !== "The comparison is approved.") report(`decided: ${await result()}`);
  const status = await tab.$eval("#status", (element) => element.textContent);
  if (status !== "approved") report(`the status is ${status}`);
  const stored = await tab.evaluate(() => localStorage.length + document.cookie.length);
  if (stored !== 0) report("something is stored in the browser");
  await tab.goto(url, { waitUntil: "networkidle0" });
  if (await tab.$("#decide")) report("a decided comparison may be decided again");
  for (const violation of await tab.evaluate(() => globalThis.violations)) report(violation);
  await tab.close();
}

/** Runs axe-core on each view, without the policy, which would not admit it. */
async function checkWithAxe(browser, url, width, scheme, report) {
  const tab = await open(browser, url, width, scheme, report);
  await tab.setBypassCSP(true);
  await tab.goto(url, { waitUntil: "networkidle0" });
  await tab.evaluate(AXE);
  for (const [i, view] of MODES.entries()) {
    await tab.keyboard.press(String(i + 1));
    const label = `${view}-${width}-${scheme}`;
    await runAxe(tab, label, report);
    await checkWidth(tab, label, report);
  }
  await tab.close();
}

inBrowser(async (browser, report) => {
  const [read, decided, key] = process.argv.slice(-3);
  await checkViews(browser, read, report);
  for (const width of [390, 1280]) {
    for (const scheme of ["light", "dark"]) {
      await checkWithAxe(browser, read, width, scheme, report);
    }
  }
  await decide(browser, decided, key, report);
});
