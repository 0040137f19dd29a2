// Uses the pages of errors in a real browser, by keyboard where people would: finds errors, selects
// and resolves some and takes it back, reads occurrences, settles, comments on, merges and deletes
// errors. Reports data that became markup, numbers that are not those of the API, and what
// axe-core finds. Prints the problems as a JSON list.
//
// Arguments: the URL of the server, and an API key.

const PAYMENT = "PaymentError: the card <b>was</b> declined";

/** Clicks what begins with a label, as soon as it is there. */
async function click(tab, label, within = "body") {
  const find = (wanted, place) => [...document.querySelectorAll(`${place} :is(button, a[href])`)].find((one) => one.textContent.trim().startsWith(wanted));
  const found = await tab.waitForFunction(find, {}, label, within);
  await found.evaluate((element) => element.click());
}
/** Opens a page by `g` and its letter; on a busy machine the two can be too far apart. */
async function goByKeys(tab, letter, title) {
  const isThere = () => tab.waitForFunction((wanted) => document.querySelector("h1")?.textContent === wanted, { timeout: 5_000 }, title).then(() => true, () => false);
  do {
    await tab.keyboard.press("g");
    await tab.keyboard.press(letter);
  } while (!(await isThere()));
}
const inAddress = (tab, part) => tab.waitForFunction((wanted) => decodeURIComponent(location.search).includes(wanted), {}, part);
const focusedRow = (tab) => tab.evaluate(() => document.activeElement.textContent);

/** Reports elements that only data which became markup would make. */
async function checkMarkup(tab, label, report) {
  const made = await tab.$$eval("main b, main i, main img", (all) => all.map((one) => one.outerHTML));
  if (made.length > 0) report(`${label}: data became markup: ${made[0]}`);
}

async function find(tab, search) {
  return (await api(tab, `/errors?search=${encodeURIComponent(search)}`)).data;
}

/** The list shows what the API has, and is used by keys alone. */
async function checkList(context, base, report) {
  const tab = await open(context, base, report);
  await tab.goto(`${base}/console`);
  await heading(tab, "Home");
  await goByKeys(tab, "r", "Errors");
  await says(tab, PAYMENT);
  await checkMarkup(tab, "the list", report);
  const { data, meta } = await api(tab, "/errors?status=unresolved&limit=50");
  await says(tab, `${meta.total} errors`);
  const rows = await tab.$$eval("main tbody tr", (all) => all.map((row) => [...row.querySelectorAll("td.number")].map((cell) => Number(cell.textContent))));
  if (JSON.stringify(rows) !== JSON.stringify(data.map((one) => [one.occurrences, one.users_affected]))) report(`the numbers of the list are ${JSON.stringify(rows)}`);
  await click(tab, "After");
  await inAddress(tab, "offset=50");
  await says(tab, `51 to ${meta.total} of ${meta.total}`);
  await tab.goBack();
  await tab.type("#search-search", "Import");
  await inAddress(tab, "search=Import");
  await gone(tab, PAYMENT);
  await tab.focus("h1");
  await tab.keyboard.press("j");
  const first = await focusedRow(tab);
  await tab.keyboard.press("x");
  await says(tab, "1 selected");
  await tab.keyboard.press("j");
  if ((await focusedRow(tab)) === first) report("j does not move to the next row");
  await tab.keyboard.press("x");
  await says(tab, "2 selected");
  await tab.focus(".bulk input");
  await reach(tab, "Resolve", report);
  await tab.keyboard.press("Enter");
  await says(tab, "2 errors resolved.");
  await gone(tab, first);
  await click(tab, "Undo");
  await says(tab, "Undone");
  await says(tab, first);
  const still = (await api(tab, "/errors?status=resolved")).meta.total;
  if (still !== 0) report(`${still} errors are resolved after it was undone`);
  await checkViolations(tab, "the list", report);
  await tab.close();
}

/** All that match are changed together, after the count was confirmed. */
async function checkAll(context, base, report) {
  const tab = await open(context, base, report);
  await tab.goto(`${base}/console/errors?search=Import`);
  await says(tab, "Select all shown");
  await clickOn(tab, ".bulk input");
  await click(tab, "Select all 55 that match");
  await click(tab, "Ignore…");
  await dialogOpen(tab, "Ignore");
  await says(tab, "All 55 errors that match");
  await tab.keyboard.press("Escape");
  await noDialog(tab);
  await click(tab, "Resolve", ".bulk");
  await dialogOpen(tab, "Resolve 55 errors?");
  await reach(tab, "Resolve 55", report);
  await tab.keyboard.press("Enter");
  await noDialog(tab);
  await says(tab, "55 errors resolved.");
  await says(tab, "No unresolved errors match");
  const { meta } = await api(tab, "/errors?status=resolved");
  if (meta.total !== 55) report(`${meta.total} errors are resolved`);
  await tab.close();
}

/** An error is read: its trace, its occurrences one after the other, its tags. */
async function checkReading(context, base, report) {
  const tab = await open(context, base, report);
  await tab.goto(`${base}/console/errors?search=PaymentError`);
  await says(tab, PAYMENT);
  await tab.focus("h1");
  await tab.keyboard.press("j");
  await tab.keyboard.press("Enter");
  await heading(tab, PAYMENT);
  await says(tab, "Newest occurrence");
  await says(tab, "shop/pay.py:77");
  await says(tab, "raise Declined(code)");
  await says(tab, "9007199254740993");
  await says(tab, "SELECT <b>1</b>");
  await says(tab, "Caused by");
  await checkMarkup(tab, "an error", report);
  await says(tab, "Values of tags");
  const [error] = await find(tab, "PaymentError");
  const { data: events } = await api(tab, `/errors/${error.id}/events`);
  const { data: tags } = await api(tab, `/errors/${error.id}/tags`);
  for (const { value, share } of tags.tags.find((tag) => tag.key === "browser").values) {
    await says(tab, `${share * 100}%`);
    await says(tab, value);
  }
  await click(tab, "Raw");
  await inAddress(tab, "trace=raw");
  await says(tab, "Caused by: Timeout: no answer");
  for (const event of events.slice(1)) {
    await tab.keyboard.press("p");
    await inAddress(tab, `event=${event.id}`);
    await says(tab, event.user.email);
  }
  await tab.keyboard.press("n");
  await inAddress(tab, `event=${events[events.length - 2].id}`);
  await inAddress(tab, "trace=raw");
  await click(tab, "All occurrences");
  await tab.waitForFunction((number) => document.querySelectorAll("main tbody tr").length === number, {}, events.length);
  await checkViolations(tab, "an error", report);
  await tab.close();
}

/** An error is settled: resolved with a note, ignored, assigned, commented on. */
async function checkSettling(context, base, report) {
  const tab = await open(context, base, report, { mayFail: (status) => status === 422 });
  await tab.goto(`${base}/console/errors`);
  await says(tab, PAYMENT);
  const [{ id }] = await find(tab, "PaymentError");
  const state = async () => (await api(tab, `/errors/${id}`)).data;
  await tab.goto(`${base}/console/errors/${id}`);
  await heading(tab, PAYMENT);
  await click(tab, "Resolve with a note");
  await dialogOpen(tab, "Resolve with a note");
  await tab.keyboard.type("<b>fixed</b> in 1.5");
  await reach(tab, "Resolve", report);
  await tab.keyboard.press("Enter");
  await noDialog(tab);
  await says(tab, "<b>fixed</b> in 1.5");
  if ((await state()).note !== "<b>fixed</b> in 1.5") report("the note was not kept");
  await click(tab, "Undo");
  await says(tab, "Undone.");
  if ((await state()).status !== "unresolved") report("resolving was not undone");
  await click(tab, "Ignore…");
  await dialogOpen(tab, "Ignore");
  await tab.select("#change-duration", "other");
  await tab.type("#change-length", "soon");
  await reach(tab, "Ignore", report);
  await tab.keyboard.press("Enter");
  await tab.waitForFunction(() => document.querySelector("#change-length[aria-invalid]"));
  await tab.$eval("#change-length", (field) => field.select());
  await tab.type("#change-length", "36h");
  await tab.keyboard.press("Enter");
  await noDialog(tab);
  await says(tab, "ignored");
  if (!(await state()).ignored_until) report("the error is not ignored for a time");
  await click(tab, "Unresolve");
  await says(tab, "Unresolved again.");
  await click(tab, "Assign…");
  await dialogOpen(tab, "Assign");
  await click(tab, "Me (");
  await reach(tab, "Assign", report);
  await tab.keyboard.press("Enter");
  await noDialog(tab);
  await says(tab, "Assigned to");
  if (!(await state()).assignee) report("the error is not assigned");
  await tab.type("#comment", "Only with <i>the new</i> client.");
  await reach(tab, "Add", report);
  await tab.keyboard.press("Enter");
  await tab.waitForFunction(() => document.querySelector(".activity .said")?.textContent === "Only with <i>the new</i> client.");
  await checkMarkup(tab, "settling", report);
  await checkViolations(tab, "settling", report);
  await tab.close();
}

/** Refusals say why, and nothing typed is lost. */
async function checkFailures(context, base, report) {
  const tab = await open(context, base, report, { mayFail: () => true });
  await tab.goto(`${base}/console/errors/err_nothing`);
  await says(tab, "Error");
  await tab.waitForFunction(() => document.querySelector("main .notice.bad"));
  const answers = new Map();
  await tab.setRequestInterception(true);
  tab.on("request", (request) => {
    const found = [...answers].find(([part]) => request.url().includes(part) && request.method() === "POST");
    if (found) request.respond({ contentType: "application/json", ...found[1] });
    else request.continue();
  });
  await tab.goto(`${base}/console/errors?search=PaymentError`);
  await says(tab, PAYMENT);
  answers.set("/api/v1/errors/bulk", { status: 403, body: JSON.stringify({ error: { code: "forbidden", message: 'the key lacks the scope "write"' } }) });
  await clickOn(tab, ".bulk input");
  await click(tab, "Ignore…");
  await dialogOpen(tab, "Ignore");
  await tab.type("#change-reason", "kept");
  await reach(tab, "Ignore", report);
  await tab.keyboard.press("Enter");
  await says(tab, "Your key lacks the scope “write”.");
  if ((await tab.$eval("#change-reason", (field) => field.value)) !== "kept") report("what was typed is lost");
  await tab.close();
}

/** Errors are merged and deleted, by keyboard. */
async function checkMergeAndDelete(context, base, report) {
  const tab = await open(context, base, report);
  await tab.goto(`${base}/console/errors?status=all&search=Import0`);
  await says(tab, "Import01Error");
  await tab.evaluate(() => [...document.querySelectorAll(".pick input")].slice(0, 3).forEach((box) => box.click()));
  await says(tab, "3 selected");
  await click(tab, "Merge…");
  await dialogOpen(tab, "Merge 3 errors?");
  await reach(tab, "Merge 3", report);
  await tab.keyboard.press("Enter");
  await noDialog(tab);
  await says(tab, "2 errors merged into this one.");
  const [merged] = (await find(tab, "Import0")).filter((one) => one.occurrences === 3);
  if (!merged) return report("the errors were not merged");
  await tab.goto(`${base}/console/errors/${merged.id}`);
  await heading(tab, merged.title);
  await says(tab, "2 errors were merged into it.");
  await click(tab, "Delete…");
  await dialogOpen(tab, "Delete the error?");
  await reach(tab, "Delete", report);
  await tab.keyboard.press("Enter");
  await heading(tab, "Errors");
  await says(tab, "The error is deleted.");
  if ((await find(tab, merged.title)).length > 0) report("the error was not deleted");
  return tab.close();
}

/** Looks at every page and dialog with axe-core, without the policy, which would not admit it. */
async function checkWithAxe(context, base, width, scheme, report) {
  const tab = await open(context, base, report, { width, scheme });
  await tab.setBypassCSP(true);
  const look = async (label) => {
    await tab.evaluate(AXE);
    await axe(tab, `errors-${label}-${width}-${scheme}`, report);
  };
  const show = (path) => tab.goto(`${base}/console${path}`, { waitUntil: "networkidle0" });
  await show("/errors?status=all");
  await look("list");
  await clickOn(tab, ".bulk input");
  for (const [button, title] of [["Ignore…", "Ignore"], ["Assign…", "Assign"], ["Delete…", "Delete 50 errors?"], ["Merge…", "Merge 50 errors?"]]) {
    await click(tab, button);
    await dialogOpen(tab, title);
    await look(title.split(" ")[0]);
    await tab.keyboard.press("Escape");
    await noDialog(tab);
  }
  await show("/errors?search=nothing-like-this");
  await look("empty");
  for (const { id, title } of [...(await find(tab, "PaymentError")), ...(await find(tab, "HostileError"))]) {
    await show(`/errors/${id}`);
    await look(title.split(":")[0]);
    await show(`/errors/${id}?trace=raw`);
    await look(`${title.split(":")[0]}-raw`);
    await show(`/errors/${id}?view=occurrences`);
    await look(`${title.split(":")[0]}-occurrences`);
  }
  await click(tab, "Merge…");
  await dialogOpen(tab, "Merge others into this one");
  await look("merge-into");
  await tab.close();
}

/** Whatever an SDK sends, its error is shown: numbers that keep their digits and objects, where others send texts. */
async function checkOdd(context, base, key, report) {
  const frame = '{"filename": "odd.js", "lineno": 18446744073709551615, "in_app": true, "vars": [[1.0, 2]]}';
  const event = `{"level": "error", "exception": {"values": [{"type": "OddError", "value": "v", "stacktrace": {"frames": [${frame}]}}]},
    "breadcrumbs": {"values": [{"level": 1.0, "message": {"toString": 1}, "timestamp": 1e300}, {"level": {"toString": 1}, "category": 12345678901234567890}]},
    "extra": [[1.0, 2], [{"toString": 1}, "last"]], "request": {"url": "-K/etc/passwd", "headers": [[1.0, "x"]]}}`;
  await fetch(`${base}/api/1/store/`, { method: "POST", headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" }, body: event });
  const tab = await open(context, base, report);
  await tab.goto(`${base}/console/errors?search=OddError`);
  await says(tab, "OddError: v");
  await tab.goto(`${base}/console/errors/${(await find(tab, "OddError"))[0].id}`);
  for (const shown of ["odd.js:18446744073709551615", "12345678901234567890", "-K/etc/passwd", "last"]) await says(tab, shown);
  await checkViolations(tab, "an odd error", report);
  await tab.close();
}

inBrowser(async (browser, report) => {
  const [base, key] = process.argv.slice(-2);
  const context = await signedIn(browser, base, key);
  await checkList(context, base, report);
  await checkReading(context, base, report);
  await checkSettling(context, base, report);
  await checkFailures(context, base, report);
  for (const [width, scheme] of VIEWS) await checkWithAxe(context, base, width, scheme, report);
  await checkAll(context, base, report);
  await checkMergeAndDelete(context, base, report);
  await checkOdd(context, base, key, report);
});
