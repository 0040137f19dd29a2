// Uses the pages of jobs in a real browser, by keyboard where people would: pauses queues, quiets
// workers, runs, enqueues and deletes jobs, retries dead ones. Reports data that became markup,
// numbers that are not those of the API, and what axe-core finds. Prints the problems as a JSON list.
//
// Arguments: the URL of the server, and an API key.

/** Clicks what begins with a label, as soon as it is there. */
async function click(tab, label) {
  const find = (wanted) => [...document.querySelectorAll("button, a[href]")].find((one) => one.textContent.trim().startsWith(wanted));
  const found = await tab.waitForFunction(find, {}, label);
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
const cells = (tab, row) => tab.$$eval("main tbody tr", (all, at) => [...all[at].querySelectorAll("td")].map((cell) => cell.textContent.trim()), row);

/** Reports elements that only data which became markup would make. */
async function checkMarkup(tab, label, report) {
  const made = await tab.$$eval("main b, main img", (all) => all.map((one) => one.outerHTML));
  if (made.length > 0) report(`${label}: data became markup: ${made[0]}`);
}

/** Queues have the numbers of the API; one is paused and resumed. */
async function checkQueues(context, base, report) {
  const tab = await open(context, base, report);
  await tab.goto(`${base}/console`);
  await heading(tab, "Home");
  await goByKeys(tab, "j", "Jobs");
  await says(tab, "payments");
  await tab.goto(`${base}/console/jobs?sort=name`);
  await says(tab, "payments");
  const { queues } = await api(tab, "/queues");
  for (const [at, queue] of queues.entries()) {
    const [name, status, ready, , running, scheduled, retrying] = await cells(tab, at);
    const shown = [name, status, ready, running, scheduled, retrying].join(" ");
    const wanted = [queue.name, queue.status, queue.size, queue.running, queue.scheduled, queue.retrying].join(" ");
    if (shown !== wanted) report(`a queue is ${wanted}, but shown as ${shown}`);
  }
  await tab.focus("h1");
  await reach(tab, "Pause the queue payments", report);
  await tab.keyboard.press("Enter");
  await says(tab, "The queue is paused");
  if ((await api(tab, "/queues/payments")).status !== "paused") report("the queue is not paused");
  await click(tab, "Undo");
  await says(tab, "Undone.");
  if ((await api(tab, "/queues/payments")).status === "paused") report("the queue is still paused");
  await tab.focus("h1");
  await tab.keyboard.press("j");
  await tab.keyboard.press("j");
  await tab.keyboard.press("Enter");
  await inAddress(tab, "queue=payments");
  await says(tab, "Attempts that ended");
  await says(tab, "57 (");
  await checkMarkup(tab, "queues", report);
  await checkViolations(tab, "queues", report);
  await tab.close();
}

/** A worker shows what it holds; all become quiet after the count was confirmed. */
async function checkWorkers(context, base, report) {
  const tab = await open(context, base, report);
  await tab.goto(`${base}/console/jobs?view=workers`);
  await says(tab, "1 of 4");
  await tab.focus("h1");
  await tab.keyboard.press("j");
  await tab.keyboard.press("Enter");
  await says(tab, "Jobs of web-1");
  await tab.waitForFunction(() => document.querySelector(".panel .rows .what")?.textContent === "Welcome");
  await click(tab, "Quiet all");
  await dialogOpen(tab, "Quiet 1 worker?");
  await reach(tab, "Quiet all", report);
  await tab.keyboard.press("Enter");
  await noDialog(tab);
  await says(tab, "1 worker finishes its current jobs");
  if ((await api(tab, "/workers")).workers[0].status !== "quiet") report("the worker is not quiet");
  await tab.close();
}

/** Jobs that wait are found; one is run now, one deleted; one like it is enqueued. */
async function checkLive(context, base, report) {
  const tab = await open(context, base, report, { mayFail: (status) => status === 422 });
  await tab.goto(`${base}/console/jobs?view=live`);
  await says(tab, "Digest");
  await says(tab, "9007199254740993");
  await checkMarkup(tab, "jobs", report);
  await tab.type("#search-search", "digest");
  await inAddress(tab, "search=digest");
  await tab.waitForFunction(() => document.querySelectorAll("main tbody tr").length === 1);
  await tab.focus("h1");
  await tab.keyboard.press("j");
  await tab.keyboard.press("x");
  await click(tab, "Run 1 now");
  await says(tab, "1 job made ready.");
  const [{ id, status }] = (await api(tab, "/jobs?search=digest")).jobs;
  if (status !== "ready") report(`the job is ${status}`);
  await tab.goto(`${base}/console/jobs/${id}`);
  await heading(tab, "Digest");
  await click(tab, "Enqueue one like it");
  await dialogOpen(tab, "Enqueue a job");
  await tab.$eval("#job-arguments", (field) => field.select());
  await tab.type("#job-arguments", "[1]");
  await reach(tab, "Enqueue", report);
  await tab.keyboard.press("Enter");
  await says(tab, "arguments must be an object");
  await tab.$eval("#job-arguments", (field) => field.select());
  await tab.type("#job-arguments", '{"id": 9007199254740993, "note": "<b>x</b>"}');
  await tab.$eval("#job-class_name", (field) => field.select());
  await tab.type("#job-class_name", "<b>Copy</b>");
  await tab.keyboard.press("Enter");
  await heading(tab, "<b>Copy</b>");
  await says(tab, '"id": 9007199254740993');
  await checkMarkup(tab, "a job", report);
  await click(tab, "Delete…");
  await dialogOpen(tab, "Delete the job?");
  await reach(tab, "Delete", report);
  await tab.keyboard.press("Enter");
  await heading(tab, "Jobs");
  await inAddress(tab, "view=live");
  if ((await api(tab, `/jobs?search=${encodeURIComponent("<b>copy")}`)).jobs.length > 0) report("the job was not deleted");
  await checkViolations(tab, "jobs", report);
  await tab.close();
}

/** Dead jobs are found, retried and deleted; what is asked about is what the server counts. */
async function checkDead(context, base, report) {
  const tab = await open(context, base, report, { mayFail: (status) => status === 409 });
  await tab.goto(`${base}/console/jobs?view=dead`);
  await says(tab, "no <b>answer</b>");
  await checkMarkup(tab, "dead jobs", report);
  await says(tab, "1 to 50 of 57");
  await tab.type("#search-search", "ORDER-004");
  await inAddress(tab, "search=");
  await tab.waitForFunction(() => document.querySelectorAll("main tbody tr").length === 1);
  await tab.focus("h1");
  await tab.keyboard.press("j");
  await tab.keyboard.press("Enter");
  await heading(tab, "Charge");
  await says(tab, "Died: no attempts are left");
  await says(tab, "pay.rb:3");
  await click(tab, "Retry");
  await says(tab, "Enqueued as a new job.");
  await tab.waitForFunction(() => document.querySelector(".about")?.textContent.includes("ready"));
  await tab.goto(`${base}/console/jobs?view=dead&error_class=Timeout`);
  const { total } = await api(tab, "/dead-jobs?error_class=Timeout");
  await says(tab, "Retry all that match");
  await click(tab, "Retry all that match");
  await dialogOpen(tab, `Retry ${total} dead jobs?`);
  // Somebody else retries one meanwhile: the number is another one, and is asked about again.
  await tab.evaluate(async () => {
    const { dead_jobs: [job] } = await (await fetch("/api/v1/dead-jobs?error_class=Timeout")).json();
    await fetch(`/api/v1/dead-jobs/${job.id}/retry`, { method: "POST", headers: { "Content-Type": "application/json" }, body: "{}" });
  });
  await reach(tab, `Retry ${total}`, report);
  await tab.keyboard.press("Enter");
  await dialogOpen(tab, `Retry ${total - 1} dead jobs?`);
  await click(tab, `Retry ${total - 1}`);
  await noDialog(tab);
  await says(tab, `${total - 1} jobs enqueued again.`);
  if ((await api(tab, "/dead-jobs?error_class=Timeout")).total !== 0) report("not all were retried");
  await tab.goto(`${base}/console/jobs?view=dead`);
  await says(tab, "Select all shown");
  const left = (await api(tab, "/dead-jobs")).total;
  await tab.evaluate(() => [...document.querySelectorAll(".pick input")].slice(0, 2).forEach((box) => box.click()));
  await click(tab, "Delete 2…");
  await dialogOpen(tab, "Delete 2 dead jobs?");
  await reach(tab, "Delete 2", report);
  await tab.keyboard.press("Enter");
  await noDialog(tab);
  await says(tab, "2 dead jobs deleted.");
  if ((await api(tab, "/dead-jobs")).total !== left - 2) report("the number of dead jobs is wrong");
  await checkViolations(tab, "dead jobs", report);
  await tab.close();
}

/** Looks at every view and dialog with axe-core, without the policy, which would not admit it. */
async function checkWithAxe(context, base, width, scheme, report) {
  const tab = await open(context, base, report, { width, scheme });
  await tab.setBypassCSP(true);
  const look = async (label) => {
    await tab.evaluate(AXE);
    await axe(tab, `jobs-${label}-${width}-${scheme}`, report);
  };
  const dialogs = { "queue=payments": ["Delete waiting jobs…", "Enqueue…"], "view=workers": ["Quiet all…", "Stop…"], "view=live": [], "view=dead": ["Retry all…", "Delete all…"], "view=dead&search=nothing-like-this": [] };
  for (const [query, buttons] of Object.entries(dialogs)) {
    await tab.goto(`${base}/console/jobs?${query}`, { waitUntil: "networkidle0" });
    await look(query.replaceAll(/\W/g, "-"));
    for (const button of buttons) {
      await click(tab, button);
      await tab.waitForFunction(() => document.querySelector("dialog[open]"));
      await look(button.replaceAll(/\W+/g, "-"));
      await tab.keyboard.press("Escape");
      await noDialog(tab);
    }
  }
  const { dead_jobs: [dead] } = await api(tab, "/dead-jobs");
  await tab.goto(`${base}/console/jobs/${dead.id}`, { waitUntil: "networkidle0" });
  await look("job");
  await tab.close();
}

inBrowser(async (browser, report) => {
  const [base, key] = process.argv.slice(-2);
  const context = await signedIn(browser, base, key);
  await checkQueues(context, base, report);
  for (const [width, scheme] of VIEWS) await checkWithAxe(context, base, width, scheme, report);
  await checkWorkers(context, base, report);
  await checkLive(context, base, report);
  await checkDead(context, base, report);
});
