// Asks about and reads code in the console, by keyboard where people would: questions with references,
// a search, a file whose lines are chosen and explained, the wiki, diagrams, settings that somebody else
// changes too, a connection. Reports what must not happen, and prints the problems as a JSON list.
//
// Arguments: the URL of the server, a JSON object with the ids of a repository and of one whose sync failed,
// and the URLs of one that can be connected, and an API key.

/** Markup that must stay text. */
const MARKUP = "<b>bold</b>";
/** A file whose path has what addresses and markup give a meaning to. */
const HOSTILE = "odd/a,b%2Fc/<b>bold #1?.py";
const encoded = (path) => path.split("/").map(encodeURIComponent).join("/");

async function checkAsk(context, base, { shop }, report) {
  const tab = await open(context, base, report);
  await tab.goto(`${base}/console/code`);
  await says(tab, "sync failed");
  await press(tab, "shop");
  await heading(tab, "shop");
  await tab.waitForSelector("#question");
  await tab.keyboard.press("/");
  await tab.waitForFunction(() => document.activeElement?.id === "question");
  await tab.keyboard.type("How are failed operations repeated?");
  await tab.keyboard.press("Enter");
  await tab.waitForSelector(".answer .reference");
  await says(tab, "confidence");
  const session = await tab.evaluate(() => new URLSearchParams(location.search).get("session"));
  const { messages } = await api(tab, `/chat/sessions/${session}`);
  const [first] = messages[1].references;
  // A number in the text opens the lines, Escape closes them and gives the focus back.
  await tab.focus(".answer .reference");
  const number = await tab.evaluate(() => Number(document.activeElement.dataset.reference));
  await tab.keyboard.press("Enter");
  await tab.waitForSelector(".panel .source");
  const of = messages[1].references[number - 1];
  const shown = await tab.$eval(".panel .source", (element) => element.textContent);
  if (shown.trimEnd() !== of.snippet.trimEnd()) report(`the lines of the reference are ${shown}`);
  await tab.waitForFunction(() => document.activeElement?.closest(".panel"));
  await tab.keyboard.press("Escape");
  await tab.waitForFunction((wanted) => document.activeElement?.dataset.reference === String(wanted), {}, number);
  await tab.focus("#question");
  await tab.keyboard.type(`Where is the ${MARKUP} flux capacitor?`);
  await tab.keyboard.press("Enter");
  await says(tab, "little or nothing was found");
  if ((await tab.evaluate(() => new URLSearchParams(location.search).get("session"))) !== session) report("a follow-up began another session");
  await tab.reload();
  await says(tab, `Where is the ${MARKUP} flux capacitor?`);
  await tab.$eval(".sessions-list", (list) => { list.open = true; });
  await says(tab, "How are failed operations repeated?", ".sessions-list");
  await press(tab, "Delete the session How are failed operations repeated?");
  await dialogOpen(tab, "Delete the session?");
  await press(tab, "Delete");
  await noDialog(tab);
  await tab.waitForFunction(() => !location.search.includes("session"));
  await checkClean(tab, "ask", report);
  await tab.close();
  return `${encoded(first.file_path)}?lines=${first.line_start}-${first.line_end}`;
}

async function checkFiles(context, base, { shop }, report) {
  const tab = await open(context, base, report, { mayFail: (status) => status === 404 });
  await tab.goto(`${base}/console/code/${shop}/files`);
  const { total } = await api(tab, `/repositories/${shop}/files`);
  await says(tab, `${total} indexed files`);
  for (const folder of ["odd/", "a,b%2Fc/"]) await press(tab, folder);
  await press(tab, "<b>bold #1?.py");
  await heading(tab, "<b>bold #1?.py · shop");
  await tab.waitForSelector(".source");
  const file = await api(tab, `/repositories/${shop}/files/${encoded(HOSTILE)}`);
  const text = await tab.$eval(".source", (element) => element.textContent);
  if (text !== file.content) report(`the file is shown as ${text}`);
  await tab.focus(".source");
  await tab.keyboard.press("ArrowDown");
  await tab.keyboard.down("Shift");
  for (let i = 0; i < 3; i++) await tab.keyboard.press("ArrowDown");
  await tab.keyboard.up("Shift");
  await atQuery(tab, "lines=1-4");
  const chosen = await tab.$$eval(".source-line.chosen", (all) => all.map((line) => Number(line.dataset.line)));
  if (String(chosen) !== "1,2,3,4") report(`chosen: ${chosen}`);
  await press(tab, "Explain lines 1 to 4");
  await says(tab, "Returns", ".panel");
  await press(tab, "Close");
  await tab.waitForFunction(() => !document.querySelector(".panel"));
  await press(tab, "Document the file");
  await says(tab, "Documentation", ".panel");
  await tab.focus("#chosen-lines");
  await tab.keyboard.type("9999");
  await tab.keyboard.press("Enter");
  await says(tab, "Lines from 1 to");
  await checkClean(tab, "files", report);
  await tab.goto(`${base}/console/code/${shop}/files/no/such%2Ffile`);
  await says(tab, "has no such file");
  await tab.close();
}

async function checkSearch(context, base, { shop }, report) {
  const tab = await open(context, base, report);
  await tab.goto(`${base}/console/code/${shop}/search`);
  await tab.waitForSelector("#search-text");
  await tab.focus("#search-text");
  await tab.keyboard.type("retry");
  await tab.waitForSelector(".result");
  const { results } = await api(tab, `/repositories/${shop}/search?q=retry&limit=20`);
  const shown = await tab.$$eval(".result", (all) => all.map((one) => one.querySelector("a").textContent));
  const expected = results.map((of) => `${of.file_path}:${of.line_start}${of.line_end > of.line_start ? `–${of.line_end}` : ""}`);
  if (String(shown) !== String(expected)) report(`found: ${shown}`);
  await tab.select("#filter-kind", "symbol");
  await tab.$eval("#search-text", (field) => field.select());
  await tab.keyboard.type("");
  await tab.focus("#search-text");
  await tab.keyboard.type("retry_with_backoff");
  await says(tab, "1 result");
  await checkClean(tab, "search", report);
  await tab.close();
}

async function checkPages(context, base, { shop }, report) {
  const tab = await open(context, base, report);
  await tab.goto(`${base}/console/code/${shop}/wiki`);
  await tab.waitForSelector(".wiki h3");
  const { pages } = await api(tab, `/repositories/${shop}/wiki`);
  const titles = await tab.$$eval(".pages-list a", (all) => all.map((one) => one.textContent));
  if (String(titles) !== String(pages.map(({ title }) => title))) report(`pages: ${titles}`);
  const page = pages.find(({ title }) => title.includes("<b>"));
  await press(tab, page.title);
  await tab.waitForFunction((title) => document.querySelector(".wiki h2")?.textContent === title, {}, page.title);
  const links = await tab.$$eval(".wiki a", (all) => all.map((one) => new URL(one.href).pathname));
  if (!links.some((path) => decodeURIComponent(path).endsWith(HOSTILE))) report(`links: ${links}`);
  await checkClean(tab, "wiki", report);
  await tab.goto(`${base}/console/code/${shop}/diagrams`);
  await tab.waitForSelector(".diagram svg");
  const { diagrams } = await api(tab, `/repositories/${shop}/diagrams`);
  const boxes = await tab.$$eval(".diagram .box", (all) => all.length);
  const nodes = diagrams[0].mermaid.split("\n").filter((line) => /^ {2}n\d+\["/.test(line)).length;
  if (boxes !== nodes) report(`${boxes} boxes for ${nodes} nodes`);
  const overlap = await tab.$$eval(".diagram .box rect", (all) => {
    const rects = all.map((one) => one.getBoundingClientRect());
    return rects.some((a, i) => rects.some((b, j) => i < j && a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1));
  });
  if (overlap) report("boxes overlap");
  await tab.select("#chosen-node", "n1");
  await atQuery(tab, "node=n1");
  await tab.waitForSelector(".box.chosen");
  await checkClean(tab, "diagrams", report);
  await tab.close();
}

async function checkSettings(context, base, { shop }, report) {
  const tab = await open(context, base, report, { mayFail: (status) => status === 412 });
  await tab.goto(`${base}/console/code/${shop}/settings`);
  await tab.waitForSelector("#set-name");
  const change = (name) => tab.evaluate(async (path, body) => (await fetch(path, { method: "PUT", headers: { "Content-Type": "application/json" }, body })).status,
    `/api/v1/repositories/${shop}`, JSON.stringify({ name }));
  await change("theirs");
  await tab.$eval("#set-name", (field) => field.select());
  await tab.focus("#set-name");
  await tab.keyboard.type(`mine ${MARKUP}`);
  await tab.keyboard.press("Enter");
  await dialogOpen(tab, "Somebody changed it meanwhile");
  await says(tab, "theirs", "dialog[open]");
  if ((await api(tab, `/repositories/${shop}`)).name !== "theirs") report("the settings were overwritten without being seen");
  await press(tab, "Save yours over it");
  await noDialog(tab);
  await says(tab, "The settings are saved.", ".toasts");
  if ((await api(tab, `/repositories/${shop}`)).name !== `mine ${MARKUP}`) report("the settings are not saved");
  await change("shop");
  await says(tab, "connected", ".syncs");
  await checkClean(tab, "settings", report);
  await tab.close();
}

async function checkConnect(context, base, { url }, report) {
  const tab = await open(context, base, report, { mayFail: (status) => [409, 422].includes(status) });
  await tab.goto(`${base}/console/code`);
  await says(tab, "sync failed");
  await press(tab, "Connect a repository");
  await dialogOpen(tab, "Connect a repository");
  await tab.keyboard.type("nowhere");
  await tab.keyboard.press("Enter");
  await tab.waitForSelector("#connect-url[aria-invalid]");
  await tab.$eval("#connect-url", (field) => field.select());
  await tab.keyboard.type(url);
  await tab.focus("#connect-name");
  await tab.keyboard.type(`other ${MARKUP}`);
  await tab.keyboard.press("Enter");
  await heading(tab, `other ${MARKUP}`);
  await says(tab, "synced");
  await tab.waitForSelector("#question");
  await tab.goto(`${base}/console/code`);
  await says(tab, `other ${MARKUP}`);
  await press(tab, "Connect a repository");
  await dialogOpen(tab, "Connect a repository");
  await tab.keyboard.type(url);
  await tab.keyboard.press("Enter");
  await says(tab, "This branch is connected already", "dialog[open]");
  await checkClean(tab, "connect", report);
  await tab.close();
}

inBrowser(async (browser, report) => {
  const [base, made, key] = process.argv.slice(-3);
  const of = JSON.parse(made);
  const context = await signedIn(browser, base, key);
  const lines = await checkAsk(context, base, of, report);
  await checkFiles(context, base, of, report);
  await checkSearch(context, base, of, report);
  await checkPages(context, base, of, report);
  await checkSettings(context, base, of, report);
  await checkConnect(context, base, of, report);
  await atEachSize(context, base, report, async (tab, look) => {
    const paths = ["", `/${of.failed}`, ...["", "/search?text=retry", "/files", `/files/${lines}&help=explain`, `/files/${encoded(HOSTILE)}?help=docs`, "/wiki", "/diagrams", "/settings"]
      .map((rest) => `/${of.shop}${rest}`)];
    for (const path of paths) {
      await tab.goto(`${base}/console/code${path}`, { waitUntil: "networkidle0" });
      await look(`code${path.replace(/\W+/g, "_").slice(-40)}`);
    }
    await tab.goto(`${base}/console/code`, { waitUntil: "networkidle0" });
    await press(tab, "Connect a repository");
    await dialogOpen(tab, "Connect a repository");
    await look("code-connect");
  });
});
