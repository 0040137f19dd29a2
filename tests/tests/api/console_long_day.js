// Looks at the day of 25 hours in New York, on which daylight saving time ends: in a chart, in the choice
// of the time and in the calendar. Prints the problems as a JSON list.
//
// Arguments: the URL of a server with a value for each hour of the day, the id of a schedule whose turns
// change at midnight, and an API key.

const [BEGIN, END] = ["2026-11-01T04:00:00.000Z", "2026-11-02T05:00:00.000Z"];
const HOURS = 25;

/** A chart has a value for each hour, and two of them are from one o'clock. */
async function checkChart(page, base, report) {
  await page.goto(`${base}/console/explore?from=${BEGIN}&to=${END}&q1=hours&q1.step=1h`);
  await whenShown(page);
  await page.getByRole("button", { name: /as a table/ }).first().click();
  const rows = await page.locator("figure tbody tr").evaluateAll((all) => all.map((row) => [...row.cells].map((cell) => cell.textContent)));
  const known = rows.filter(([, value]) => value !== "–").reverse();
  const values = known.map(([, value]) => Number(value));
  const wanted = Array.from({ length: HOURS }, (_, i) => i + 1);
  if (JSON.stringify(values) !== JSON.stringify(wanted)) report(`the chart has the values ${values}`);
  const twice = known.filter(([time]) => /\b1:00:00.AM/.test(time)).map(([, value]) => value);
  if (JSON.stringify(twice) !== JSON.stringify(["2", "3"])) report(`the values of one o'clock are ${twice}`);
}

/** The times that are offered are those of the clock, and choosing the day chooses all of it. */
async function checkPicker(page, base, report) {
  await page.goto(`${base}/console/explore?from=${BEGIN}&to=${END}`);
  await whenShown(page);
  await page.getByRole("button", { name: /^Time: / }).click();
  const offered = [await page.inputValue("#range-from"), await page.inputValue("#range-to")];
  if (!offered[0].startsWith("2026-11-01T00:00") || !offered[1].startsWith("2026-11-02T00:00")) report(`the times are ${offered}`);
  await page.fill("#range-from", "2026-11-01T00:00:00");
  await page.fill("#range-to", "2026-11-02T00:00:00");
  await page.getByRole("button", { name: "Show", exact: true }).click();
  await page.waitForFunction(() => !document.querySelector("dialog[open]"));
  const query = new URL(page.url()).searchParams;
  if (query.get("from") !== BEGIN || query.get("to") !== END) report(`the day is ${query.get("from")} to ${query.get("to")}`);
}

/** Turns that change at midnight begin where days do, and an override of the day is of all of it. */
async function checkCalendar(page, base, id, report) {
  await page.goto(`${base}/console/on-call/${id}?view=week&at=2026-11-01`);
  await whenShown(page);
  const leftOf = (selector) => page.locator(selector).evaluateAll((all) => all.map((one) => one.getBoundingClientRect().left));
  const [days, bars] = [await leftOf(".week-days .day"), await leftOf(".week-bars .shift")];
  if (days.length !== 7 || bars.length !== 7) report(`the week has ${days.length} days and ${bars.length} turns`);
  bars.forEach((left, i) => Math.abs(left - days[i]) < 4 || report(`turn ${i} begins ${left - days[i]} px from its day`));
  await page.getByRole("button", { name: /^Override on .*Nov 1$/ }).click();
  const times = await page.locator("dialog input[type=datetime-local]").evaluateAll((all) => all.map((one) => one.value));
  if (times.join(" ") !== "2026-11-01T00:00 2026-11-02T00:00") report(`the override is from and to ${times}`);
}

inPlaywright(async (browser, report) => {
  const [base, id, key] = process.argv.slice(-3);
  const context = await signedInAt(browser, base, key, { timezoneId: "America/New_York" });
  const page = await context.newPage();
  await watch(page, base, report);
  await checkChart(page, base, report);
  await checkPicker(page, base, report);
  await checkCalendar(page, base, id, report);
  await reportViolations(page, "the long day", report);
  await context.close();
});
