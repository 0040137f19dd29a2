// Uses the pages of alerts and on-call in a real browser, by keyboard where people would: takes charge
// of an alert, makes a rule beside its preview, saves what somebody else has changed, tests a channel,
// overrides a shift by dragging. Compares what is shown with the API. Prints the problems as a JSON list.
//
// Arguments: the URL of the server, an API key, and the URL of a receiver of webhooks.

const LONG = "<b>rule</b> \u0645\u0644\u0641 /%2F, ";

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
const choose = (tab, id, value) => tab.select(`#${id}`, value);
const found = async (tab, path, name) => (await api(tab, `${path}?limit=1000`)).data.find((one) => one.name.startsWith(name));

/** Takes charge of an alert and resolves it, by keyboard. */
async function checkAlerts(context, base, report) {
  const tab = await open(context, base, report);
  await tab.goto(`${base}/console`);
  await heading(tab, "Home");
  await tab.keyboard.press("g");
  await tab.keyboard.press("a");
  await heading(tab, "Alerts");
  await tab.waitForFunction(() => document.activeElement?.textContent === "Alerts");
  await says(tab, "host=<i>web</i>");
  if ((await tab.$$("main i, main b")).length > 0) report("data became markup");
  const firing = await api(tab, "/alerts?status=firing");
  const shown = await text(tab, "section[aria-label=Firing] .tag");
  if (shown !== String(firing.meta.total)) report(`${shown} alerts are shown as firing, of ${firing.meta.total}`);
  await reach(tab, "Acknowledge CPU high (web-1)", report);
  await tab.keyboard.press("Enter");
  await dialogOpen(tab, "Acknowledge the alert?");
  await reach(tab, "Acknowledge", report);
  await tab.keyboard.press("Enter");
  await noDialog(tab);
  await says(tab, "1 alert acknowledged.");
  await tab.waitForSelector("section[aria-label=Acknowledged]");
  const taken = await api(tab, "/alerts?status=acknowledged");
  if (taken.meta.total !== 1) report(`${taken.meta.total} alerts are acknowledged`);
  await tab.evaluate(() => document.querySelector("section[aria-label=Acknowledged] .alert-name a").click());
  await heading(tab, "CPU high");
  await says(tab, "acknowledged by");
  await says(tab, "Each value covers the window");
  await click(tab, "Resolve");
  await dialogOpen(tab, "Resolve the alert?");
  await click(tab, "Resolve");
  await noDialog(tab);
  await says(tab, "1 alert resolved.");
  const { data } = await api(tab, `/alerts/${taken.data[0].id}`);
  if (data.status !== "resolved") report(`the alert is ${data.status}`);
  await checkViolations(tab, "alerts", report);
  await tab.close();
}

/** Makes a rule beside its preview; what is wrong is said at its field. */
async function checkRule(context, base, report) {
  const tab = await open(context, base, report, { mayFail: (status) => [400, 412, 422].includes(status) });
  await tab.goto(`${base}/console/alerts/rules/new`);
  await heading(tab, "New alert rule");
  await field(tab, "rule-name", `${LONG}cpu`);
  await field(tab, "rule-name-of", "cpu");
  await field(tab, "rule-threshold", "50");
  await field(tab, "rule-window", "soon");
  await click(tab, "Make the rule");
  await tab.waitForFunction(() => document.activeElement?.id === "rule-window" && document.activeElement.getAttribute("aria-invalid"));
  await says(tab, "window must");
  await field(tab, "rule-window", "10m");
  await field(tab, "rule-group", "tags.host");
  await says(tab, "It would have fired");
  await tab.waitForFunction(() => /would have fired [1-9]/.test(document.querySelector(".verdict")?.textContent ?? ""));
  const said = await text(tab, ".verdict strong");
  const rows = await text(tab, ".preview .facts div:first-child dd");
  if (parseInt(said, 10) !== parseInt(rows, 10)) report(`the preview says ${said} and ${rows}`);
  await tab.focus("#rule-name");
  await tab.keyboard.press("Enter");
  await heading(tab, `${LONG}cpu`);
  const made = await found(tab, "/alert_rules", LONG);
  const { data: rule } = await api(tab, `/alert_rules/${made.id}`);
  if (rule.condition.threshold !== 50 || rule.window !== "10m" || rule.group_by !== "tags.host") report(`made: ${JSON.stringify(rule)}`);
  await checkConflict(tab, rule, report);
  await click(tab, "Delete");
  await dialogOpen(tab, "Delete the rule?");
  await tab.keyboard.press("Escape");
  await noDialog(tab);
  await checkViolations(tab, "rule", report);
  await tab.close();
}

/** Presses Save until the rule is sent: a form sends nothing while it waits for an earlier answer. */
async function save(tab) {
  let isSent = false;
  const sent = tab.waitForResponse((answer) => answer.request().method() === "PATCH").then(() => { isSent = true; });
  while (!isSent) {
    await click(tab, "Save");
    await tab.evaluate(() => new Promise(requestAnimationFrame));
  }
  await sent;
}

/** Somebody else changes the rule that is edited: both versions are shown, and nothing is overwritten. */
async function checkConflict(tab, rule, report) {
  const other = (description) => tab.evaluate(async (id, value) => {
    const body = JSON.stringify({ description: value });
    return (await fetch(`/api/v1/alert_rules/${id}`, { method: "PATCH", headers: { "Content-Type": "application/json" }, body })).status;
  }, rule.id, description);
  await settled(tab);
  await field(tab, "rule-threshold", "60");
  await other("theirs");
  await click(tab, "Save");
  await dialogOpen(tab, "Somebody changed it meanwhile");
  const both = await text(tab, "dialog[open] table");
  if (!both.includes("theirs") || !both.includes("60")) report(`both versions: ${both}`);
  const { data: kept } = await api(tab, `/alert_rules/${rule.id}`);
  if (kept.condition.threshold !== 50 || kept.description !== "theirs") report(`overwritten: ${JSON.stringify(kept)}`);
  await click(tab, "Back to the form");
  await noDialog(tab);
  const typed = await tab.$eval("#rule-threshold", (element) => element.value);
  if (typed !== "60") report(`what was typed is lost: ${typed}`);
  await click(tab, "Save");
  await dialogOpen(tab, "Somebody changed it meanwhile");
  await click(tab, "Save yours over it");
  await noDialog(tab);
  await says(tab, "The rule is saved.");
  const { data: saved } = await api(tab, `/alert_rules/${rule.id}`);
  if (saved.condition.threshold !== 60) report(`saved: ${JSON.stringify(saved)}`);
  await other("later");
  await click(tab, "Save");
  await dialogOpen(tab, "Somebody changed it meanwhile");
  await click(tab, "Begin again with theirs");
  await noDialog(tab);
  await field(tab, "rule-threshold", "70");
  // The second goes on from what the first has saved, not from the rule as it was opened.
  await save(tab);
  await save(tab);
  const { data: last } = await api(tab, `/alert_rules/${rule.id}`);
  if (last.condition.threshold !== 70 || last.description !== "later") report(`saved twice: ${JSON.stringify(last)}`);
}

/** Makes a window that recurs, a channel that is tested, and a policy. */
async function checkReceivers(context, base, receiver, report) {
  const tab = await open(context, base, report, { mayFail: (status) => [400, 422].includes(status) });
  await tab.goto(`${base}/console/alerts/windows/new`);
  await field(tab, "window-name", "<i>every Sunday</i>");
  await tab.evaluate(() => [...document.querySelectorAll("main label")].find((label) => label.textContent.startsWith("Recurs")).click());
  await tab.waitForSelector("#recurs");
  await tab.evaluate(() => [...document.querySelectorAll("main .choices label")].find((label) => label.textContent.trim() === "Sun").click());
  await click(tab, "Make the window");
  await heading(tab, "<i>every Sunday</i>");
  const window = await found(tab, "/maintenance_windows", "<i>");
  const { data: whole } = await api(tab, `/maintenance_windows/${window.id}`);
  if (whole.recurrence_rule !== "FREQ=WEEKLY;BYDAY=SU") report(`recurs by ${whole.recurrence_rule}`);
  await tab.goto(`${base}/console/alerts/channels/new`);
  await tab.waitForSelector("#channel-type");
  await choose(tab, "channel-type", "webhook");
  await field(tab, "channel-name", "hook <b>");
  await field(tab, "channel-webhook_url", "nowhere");
  await click(tab, "Make the channel");
  await tab.waitForFunction(() => document.activeElement?.id === "channel-webhook_url" && document.activeElement.getAttribute("aria-invalid"));
  await field(tab, "channel-webhook_url", receiver);
  await click(tab, "Make the channel");
  await dialogOpen(tab, "The signing secret");
  const secret = await text(tab, "dialog[open] pre");
  if (secret.length < 20) report(`the secret is ${secret}`);
  await click(tab, "Done");
  await heading(tab, "hook <b>");
  if ((await tab.evaluate(() => document.body.innerText)).includes(secret)) report("the secret is still shown");
  await click(tab, "Test hook <b>");
  await tab.waitForFunction(() => (document.querySelector(".tested [role=status]")?.textContent ?? "") !== "");
  const channel = await found(tab, "/channels", "hook");
  if (!channel.verified) report(`the test said ${await text(tab, ".tested [role=status]")}`);
  await tab.goto(`${base}/console/alerts/policies/new`);
  await field(tab, "policy-name", "Day");
  await click(tab, "Step");
  await tab.waitForFunction(() => document.querySelectorAll(".ladder > li").length === 3);
  await click(tab, "Make the policy");
  await heading(tab, "Day");
  const { data: policy } = await api(tab, `/escalation_policies/${(await found(tab, "/escalation_policies", "Day")).id}`);
  if (policy.steps.map((step) => step.delay_minutes).join() !== "0,10") report(`steps: ${JSON.stringify(policy.steps)}`);
  await checkViolations(tab, "receivers", report);
  await tab.close();
}

const overrides = async (tab, id) => (await api(tab, `/on_call_schedules/${id}`)).data.overrides;

/** Overrides a shift by dragging and by keyboard, and takes an override away. */
async function checkOnCall(context, base, report) {
  const tab = await open(context, base, report, { mayFail: (status) => [400, 422].includes(status) });
  await tab.goto(`${base}/console/on-call`);
  await says(tab, "ann@example.com");
  const schedule = await found(tab, "/on_call_schedules", "Platform");
  await tab.goto(`${base}/console/on-call/${schedule.id}?view=month`);
  await heading(tab, schedule.name);
  await tab.waitForSelector(".week");
  const place = (week, day) => tab.evaluate((w, d) => {
    const { left, top, width, height } = document.querySelectorAll(".week")[w].getBoundingClientRect();
    return { x: left + (width * (d + 0.5)) / 7, y: top + height - 4 };
  }, week, day);
  await tab.evaluate(() => document.querySelectorAll(".week")[2].scrollIntoView({ block: "center" }));
  const [from, to] = [await place(2, 1), await place(2, 3)];
  await tab.mouse.move(from.x, from.y);
  await tab.mouse.down();
  await tab.mouse.move(to.x, to.y, { steps: 8 });
  await tab.mouse.up();
  await dialogOpen(tab, "Override");
  const [starts, ends] = await tab.evaluate(() => ["#override-starts", "#override-ends"].map((id) => document.querySelector(id).value));
  if (Date.parse(`${ends}Z`) - Date.parse(`${starts}Z`) !== 3 * 86_400_000) report(`dragged from ${starts} to ${ends}`);
  await field(tab, "override-user", "nobody");
  await click(tab, "Override");
  await tab.waitForFunction(() => document.activeElement?.id === "override-user" && document.activeElement.getAttribute("aria-invalid"));
  await field(tab, "override-user", "guest@example.com");
  await tab.keyboard.press("Enter");
  await noDialog(tab);
  await says(tab, "guest@example.com is on call instead.");
  const made = await overrides(tab, schedule.id);
  if (made.length !== 1 || made[0].user !== "guest@example.com") report(`overrides: ${JSON.stringify(made)}`);
  // The same by keyboard, for one day.
  await tab.focus(".day.today button");
  await tab.keyboard.press("Enter");
  await dialogOpen(tab, "Override");
  await tab.keyboard.type("eve@example.com");
  await tab.keyboard.press("Enter");
  await noDialog(tab);
  await says(tab, "eve@example.com");
  if ((await overrides(tab, schedule.id)).length !== 2) report("the second override is missing");
  await tab.evaluate(() => document.querySelector("main button[aria-label^='Remove the override of eve']").click());
  await dialogOpen(tab, "Remove the override?");
  await click(tab, "Remove");
  await noDialog(tab);
  if ((await overrides(tab, schedule.id)).length !== 1) report("the override is still there");
  await click(tab, "Calendar link");
  await dialogOpen(tab, "Calendar");
  await click(tab, "Make a link");
  await tab.waitForSelector("dialog[open] pre");
  const link = await text(tab, "dialog[open] pre");
  const calendar = await tab.evaluate(async (url) => (await fetch(url, { credentials: "omit" })).text(), link);
  if (!calendar.startsWith("BEGIN:VCALENDAR")) report(`the calendar is ${calendar.slice(0, 80)}`);
  await checkViolations(tab, "on-call", report);
  await tab.close();
}

/** Returns the pages, with the dialogs to open on them: `[path, button, title]`. */
async function pages(tab) {
  const id = async (path, name) => encodeURIComponent((await found(tab, path, name)).id);
  const alert = encodeURIComponent((await api(tab, "/alerts?limit=1")).data[0].id);
  const schedule = await id("/on_call_schedules", "Platform");
  return [
    ["/console/alerts?last=1h"],
    [`/console/alerts/${alert}`],
    ["/console/alerts/rules"],
    ["/console/alerts/rules/new"],
    [`/console/alerts/rules/${await id("/alert_rules", "CPU high")}`, "Delete", "Delete the rule?"],
    ["/console/alerts/windows"],
    [`/console/alerts/windows/${await id("/maintenance_windows", "<i>")}`],
    ["/console/alerts/channels"],
    [`/console/alerts/channels/${await id("/channels", "hook")}`, "Rotate the secret", "Replace the signing secret?"],
    ["/console/alerts/policies"],
    [`/console/alerts/policies/${await id("/escalation_policies", "Day")}`],
    ["/console/on-call"],
    [`/console/on-call/${schedule}?view=month`, "Override", "Override"],
    [`/console/on-call/${schedule}?view=week`, "Calendar link", "Calendar"],
    [`/console/on-call/${schedule}?view=agenda`],
    [`/console/on-call/${schedule}/edit`],
    ["/console/on-call/new/edit"],
    ["/console/alerts/rules/rule_00000000000000000000000000"],
  ];
}

async function checkWithAxe(context, base, width, scheme, report) {
  const tab = await open(context, base, report, { width, scheme, mayFail: (status) => status === 404 });
  await tab.setBypassCSP(true);
  await tab.goto(`${base}/console/nothing`);
  for (const [path, button, title] of await pages(tab)) {
    const label = `${path.replace(/\W+/g, "-").slice(9, 40)}-${width}-${scheme}`;
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
  const [base, key, receiver] = process.argv.slice(-3);
  const context = await signedIn(browser, base, key);
  await checkAlerts(context, base, report);
  await checkRule(context, base, report);
  await checkReceivers(context, base, receiver, report);
  await checkOnCall(context, base, report);
  for (const [width, scheme] of VIEWS) await checkWithAxe(context, base, width, scheme, report);
});
