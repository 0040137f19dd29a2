// Uses the console in a real browser, by keyboard where people would: signs in, looks at every page,
// makes and revokes a key, signs in again over the page. Reports what must not happen: an error on
// the browser's console, a violation of the policy of the page, a dialog, a request to another
// origin, something that axe-core finds. Prints the problems as a JSON list.
//
// Arguments: the URL of the server, a JSON list of two links that sign in, and an API key.

const PAGES = ["/console", "/console/settings", "/console/nothing"];

/** Signs in with a wrong and a right key, by keyboard. */
async function signInByKey(browser, base, key, report) {
  const context = await browser.createBrowserContext();
  let isTrying = false;
  const tab = await open(context, base, report, { mayFail: (status) => status === 401 && isTrying });
  await tab.goto(`${base}/console`);
  await dialogOpen(tab, "Sign in");
  isTrying = true;
  if ((await tab.evaluate(() => document.activeElement.id)) !== "sign-in-key") report("the field for the key has no focus");
  await tab.keyboard.press("Escape");
  await dialogOpen(tab, "Sign in");
  await tab.keyboard.type("tt_wrong");
  await tab.keyboard.press("Enter");
  await tab.waitForFunction(() => document.getElementById("sign-in-message")?.textContent.startsWith("The key is not valid"));
  await tab.$eval("#sign-in-key", (field) => field.select());
  await tab.keyboard.type(key);
  await tab.keyboard.press("Enter");
  await noDialog(tab);
  await heading(tab, "Home");
  const seen = await tab.evaluate(() => document.cookie + JSON.stringify(localStorage) + JSON.stringify(sessionStorage));
  if (seen !== '{"telltale.signed_in":"yes"}{}') report(`scripts can read ${seen}`);
  await checkViolations(tab, "sign-in", report);
  await context.close();
}

/** Opens a link and answers its question, by keyboard. */
async function answerLink(tab) {
  await dialogOpen(tab, "Sign in with the link?");
  await tab.keyboard.press("Tab");
  await tab.keyboard.press("Enter");
}

/** Signs in with a link, which works once and leaves no trace in the address. */
async function signInByLink(browser, base, [link, later], report) {
  const context = await browser.createBrowserContext();
  const tab = await open(context, base, report);
  await tab.goto(link);
  await dialogOpen(tab, "Sign in with the link?");
  if (tab.url() !== `${base}/console`) report(`the address is ${tab.url()}`);
  await answerLink(tab);
  await heading(tab, "Home");
  const other = await browser.createBrowserContext();
  const again = await open(other, base, report, { mayFail: (status) => status === 401 });
  await again.goto(link);
  await answerLink(again);
  await dialogOpen(again, "Sign in");
  const said = await text(again, "#sign-in-message");
  if (!said.startsWith("The link did not sign you in")) report(`a used link: ${said}`);
  // Opened in the tab that asks for it.
  await again.evaluate((address) => location.assign(address), later);
  await answerLink(again);
  await heading(again, "Home");
  if (again.url() !== `${base}/console`) report(`the address is ${again.url()}`);
  await other.close();
  return context;
}

/** Looks at the data on Home, which contains markup. */
async function checkHome(context, base, report) {
  const tab = await open(context, base, report);
  await tab.goto(`${base}/console`);
  await says(tab, "the card <b>was</b> declined", "main");
  await says(tab, "mailers", "main");
  const bold = await tab.$$eval("main b", (all) => all.length);
  if (bold !== 0) report("data became markup");
  await tab.keyboard.press("?");
  await dialogOpen(tab, "Keyboard shortcuts");
  await tab.keyboard.press("Escape");
  await noDialog(tab);
  await tab.keyboard.press("g");
  await tab.keyboard.press("s");
  await heading(tab, "Settings");
  // The heading of a new page gets the focus, and is read out.
  await tab.waitForFunction(() => document.activeElement?.textContent === "Settings");
  if ((await tab.title()) !== "Settings · Telltale") report(`the title is ${await tab.title()}`);
  await tab.goBack();
  await heading(tab, "Home");
  await checkViolations(tab, "home", report);
  await tab.close();
}

/** Makes a key and revokes it, by keyboard alone. */
async function checkKeys(context, base, report) {
  const tab = await open(context, base, report, { mayFail: (status) => status === 422 });
  await tab.goto(`${base}/console/settings`);
  await says(tab, "this one", "main");
  await reach(tab, "New key", report);
  await tab.keyboard.press("Enter");
  await dialogOpen(tab, "New key");
  await reach(tab, "Make the key", report);
  await tab.keyboard.press("Enter");
  await tab.waitForFunction(() => document.querySelector("#new-key-name[aria-invalid]"));
  await reach(tab, "new-key-name", report);
  await tab.keyboard.type("<img src=x onerror=alert(1)>");
  for (let i = 0; i < 2; i++) await tab.keyboard.press("Tab");
  await tab.keyboard.press("Space");
  await reach(tab, "Make the key", report);
  await tab.keyboard.press("Enter");
  await dialogOpen(tab, "The key was made");
  const shown = await tab.$$eval("dialog pre", (all) => all.map((pre) => pre.textContent));
  if (!/^tt_\w+$/.test(shown[0]) || !/^http:\/\/\w+:\w+@127\.0\.0\.1:\d+\/1$/.test(shown[1])) report(`shown: ${shown}`);
  await tab.keyboard.press("Escape");
  await noDialog(tab);
  await says(tab, "<img src=x onerror=alert(1)>", "main");
  await tab.focus("h1");
  await reach(tab, "Revoke the key <img src=x onerror=alert(1)>", report);
  await tab.keyboard.press("Enter");
  await dialogOpen(tab, "Revoke the key?");
  await reach(tab, "Revoke", report);
  await tab.keyboard.press("Enter");
  await noDialog(tab);
  await says(tab, "revoked", "main");
  await checkViolations(tab, "keys", report);
  await tab.close();
}

/** Loses the session in the middle of work: nothing typed is lost. */
async function checkSignInOver(context, base, key, report) {
  const tab = await open(context, base, report, { mayFail: (status) => status === 401 });
  await tab.goto(`${base}/console/settings`);
  await says(tab, "this one", "main");
  await tab.evaluate(() => [...document.querySelectorAll("button")].find((b) => b.textContent.includes("New key")).click());
  await dialogOpen(tab, "New key");
  await tab.type("#new-key-name", "kept");
  await clickOn(tab, "input[value=read]");
  const status = await tab.evaluate(async () => (await fetch("/api/v1/session", { method: "DELETE" })).status);
  if (status !== 200) report(`signing out: ${status}`);
  await tab.evaluate(() => [...document.querySelectorAll("button")].find((b) => b.textContent.includes("Make the key")).click());
  // Until the dialog is modal, the one below it has the focus.
  await tab.waitForFunction(() => document.activeElement?.id === "sign-in-key");
  await tab.type("#sign-in-key", key);
  await tab.keyboard.press("Enter");
  await dialogOpen(tab, "The key was made");
  await tab.keyboard.press("Escape");
  await says(tab, "kept", "main");
  await checkViolations(tab, "signing in over the page", report);
  await tab.close();
}

/** Runs axe-core, without the policy, which would not admit it, on every page and dialog. */
async function checkWithAxe(browser, context, base, width, scheme, report) {
  const tab = await open(context, base, report, { width, scheme });
  await tab.setBypassCSP(true);
  for (const path of PAGES) {
    const label = `${path.split("/").pop()}-${width}-${scheme}`;
    await tab.goto(base + path, { waitUntil: "networkidle0" });
    await tab.evaluate(AXE);
    await axe(tab, label, report);
    if (path === "/console") {
      await tab.$eval("details", (details) => { details.open = true; });
      await axe(tab, `${label}-steps`, report);
    }
    if (path !== "/console/settings") continue;
    for (const [button, title] of [["New key", "New key"], ["Revoke", "Revoke the key?"]]) {
      await tab.evaluate((wanted) => [...document.querySelectorAll("main button")].find((b) => b.textContent.trim() === wanted).click(), button);
      await dialogOpen(tab, title);
      await axe(tab, `${label}-${button.replace(" ", "-")}`, report);
      await tab.keyboard.press("Escape");
      await noDialog(tab);
    }
  }
  await tab.close();
  const stranger = await browser.createBrowserContext();
  const out = await open(stranger, base, report, { width, scheme, mayFail: (status) => status === 401 });
  await out.setBypassCSP(true);
  await out.goto(`${base}/console`);
  await dialogOpen(out, "Sign in");
  await out.evaluate(AXE);
  await axe(out, `sign-in-${width}-${scheme}`, report);
  await stranger.close();
}

/** Refused and failed requests say what is missing, and keep what was shown. */
async function checkFailures(context, base, report) {
  const tab = await open(context, base, report, { mayFail: () => true });
  const answers = new Map();
  await tab.setRequestInterception(true);
  tab.on("request", (request) => {
    const found = [...answers].find(([part]) => request.url().includes(part));
    if (found) request.respond({ contentType: "application/json", ...found[1] });
    else request.continue();
  });
  const error = (code, message) => JSON.stringify({ error: { code, message } });
  answers.set("/api/v1/errors", { status: 403, body: error("forbidden", 'the key lacks the scope "read"') });
  answers.set("/api/v1/queues", { status: 500, body: error("internal", "an internal error occurred") });
  await tab.goto(`${base}/console`);
  await says(tab, "Your key lacks the scope “read”.", "main");
  await says(tab, "An internal error occurred.", "main");
  answers.clear();
  await tab.keyboard.press("r");
  await says(tab, "the card <b>was</b> declined", "main");
  answers.set("/api/v1/errors", { status: 429, headers: { "Retry-After": "2" }, body: error("rate_limited", "slow down") });
  await tab.keyboard.press("r");
  await says(tab, "The server asked to wait", "main");
  await says(tab, "the card <b>was</b> declined", "main");
  answers.clear();
  await gone(tab, "The server asked to wait");
  answers.set("/api/v1/server", { status: 500, body: error("internal", "an internal error occurred") });
  await tab.reload();
  await says(tab, "Try again", "main");
  answers.clear();
  await press(tab, "Try again");
  await says(tab, "the card <b>was</b> declined", "main");
  answers.set("/api/v1/server", { status: 200, body: JSON.stringify({ data: { areas: ["errors"], console_build: "other" } }) });
  await tab.reload();
  await says(tab, "The server has a new version of this page.", "main");
  await tab.close();
}

/** What comes from outside is read in a time that grows with its length, and times of every zone are right. */
async function checkKit(context, base, report) {
  const tab = await open(context, base, report);
  await tab.goto(`${base}/console`);
  const problems = await tab.evaluate(async () => {
    const own = document.querySelector("script[src]").src;
    const [markdown, mermaid, layered, json, zone] = await Promise.all(["markdown", "mermaid", "layered", "json", "zone"].map((name) => import(new URL(`kit/${name}.js`, own))));
    const found = [];
    const fill = (part) => part.repeat(100_000 / part.length);
    const drawn = (lines) => {
      const { nodes, edges } = mermaid.read(["flowchart LR", ...lines].join("\n"));
      return layered.layout(nodes.map(({ id }) => ({ id, along: 10, across: 10 })), edges);
    };
    const nodes = Array.from({ length: 2_000 }, (_, i) => `n${i}["a"]`);
    const texts = ["[", "[`", "[\\]", "[a](", "`", "|\n"].map((part) => `a${fill(part)}`);
    texts.push(Array.from({ length: 440 }, (_, i) => `${"`".repeat(i + 1)}a`).join(""), `# ${fill(" ")}\u2028x`, `${"[".repeat(20_000)}x${"](b)".repeat(20_000)}`);
    const works = [
      ...texts.map((text) => () => markdown.blocks(text)),
      () => drawn([...nodes, ...nodes.slice(1).map((_, i) => `n${i} --> n${i + 1}`), ...nodes.slice(1_000).map((_, i) => `n${i} --> n${1_999 - i}`)]),
      () => json.json(json.parse(`${"[".repeat(20_000)}1.0${"]".repeat(20_000)}`)),
    ];
    for (const [i, work] of works.entries()) {
      const begin = performance.now();
      work();
      // On an idle machine each takes less than a fifth of a second; they took up to a minute, or overflowed the stack.
      if (performance.now() - begin > 5_000) found.push(`work ${i} took ${performance.now() - begin} ms`);
    }
    const before = zone.zone.value;
    for (const [name, skipped, later] of [["America/New_York", "2026-03-08T02:30", "2026-03-08T03:30"], ["America/Santiago", "2026-09-06T00:00", "2026-09-06T01:00"]]) {
      zone.zone.value = name;
      const shown = zone.localOf(zone.fromLocal(skipped));
      if (shown !== later) found.push(`${skipped} of ${name} is ${shown}`);
    }
    zone.zone.value = before;
    return found;
  });
  for (const problem of problems) report(problem);
  await tab.close();
}

inBrowser(async (browser, report) => {
  const [base, links, key] = process.argv.slice(-3);
  await signInByKey(browser, base, key, report);
  const context = await signInByLink(browser, base, JSON.parse(links), report);
  await checkHome(context, base, report);
  await checkKeys(context, base, report);
  await checkFailures(context, base, report);
  await checkKit(context, base, report);
  for (const [width, scheme] of VIEWS) await checkWithAxe(browser, context, base, width, scheme, report);
  await checkSignInOver(context, base, key, report);
});
