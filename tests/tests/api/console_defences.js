// Proves each defence of the console by removing it, outside of the server: in a proxy before it, or in
// the files that the browser gets. With the defence an attack fails; without it the attack succeeds, and
// what the other tests look at shows it. Prints the problems as a JSON list.
//
// Arguments: the URL of a server with an error whose title is markup that runs a script, and an API key.

const http = require("node:http");

/** What `watch` and the looks of the other tests report of an attack. */
const SEEN = {
  ran: (all) => all.some((one) => one.startsWith("dialog: ")),
  refused: (all) => all.some((one) => one.includes("violation: require-trusted-types-for") || one.includes("violation: script-src")),
  markup: (all) => all.includes("data became markup"),
  none: (all) => all.length === 0,
};

/** Has the browser load a page that turns the titles of errors into markup. */
async function withoutEscaping(context) {
  await context.route("**/js/pages/home.js", async (route) => {
    const answer = await route.fetch();
    const text = await answer.text();
    const escaped = /(<a class="what" href=\$\{href\(`\/errors\/[^>]*)>\$\{error\.title\}<\/a>/;
    if (!escaped.test(text)) throw new Error("home.js shows errors in another way than this test expects");
    const changed = text.replace(escaped, "$1 dangerouslySetInnerHTML=${{ __html: error.title }}></a>");
    await route.fulfill({ response: answer, body: changed });
  });
}

/** Has the browser load the shell without its policy. */
async function withoutPolicy(context) {
  await context.route("**/console", async (route) => {
    const answer = await route.fetch();
    const headers = { ...answer.headers() };
    if (!headers["content-security-policy"]?.includes("trusted-types 'none'")) throw new Error("the shell has no policy");
    delete headers["content-security-policy"];
    await route.fulfill({ response: answer, headers });
  });
}

/** Looks at Home as the other tests do, and returns what they would report. */
async function lookAtHome(browser, base, key, removed) {
  const context = await signedInAt(browser, base, key);
  for (const remove of removed) await remove(context);
  const page = await context.newPage();
  const found = [];
  await watch(page, base, (problem) => found.push(problem), (text) => text.includes("404"));
  await page.goto(`${base}/console`);
  await whenShown(page);
  // What the policy refuses is not shown at all.
  await page.waitForFunction(() => document.querySelector("main a[href*='/errors/']") || globalThis.violations.length > 0);
  // An image that is asked for after that of the attack, and is missing too.
  await page.evaluate(() => new Promise((done) => Object.assign(new Image(), { onerror: done, src: "/none-either" })));
  await reportViolations(page, "home", (problem) => found.push(problem));
  if ((await page.locator("main a img, main b").count()) > 0) found.push("data became markup");
  await context.close();
  return found;
}

/** Markup in data is shown as text; each of two defences alone keeps it from running. */
async function checkMarkup(browser, base, key, report) {
  for (const [label, removed, wanted] of [
    ["with all defences", [], ["none"]],
    ["without the policy", [withoutPolicy], ["none"]],
    ["without escaping", [withoutEscaping], ["refused"]],
    ["without both", [withoutEscaping, withoutPolicy], ["ran", "markup"]],
  ]) {
    const found = await lookAtHome(browser, base, key, removed);
    for (const name of wanted) if (!SEEN[name](found)) report(`${label}: not ${name}, but ${JSON.stringify(found)}`);
    if (!wanted.includes("ran") && SEEN.ran(found)) report(`${label}: a script of the data ran`);
  }
}

/** Starts a server for the time of `use(url)`. */
async function serving(handler, use) {
  const server = http.createServer(handler);
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  try {
    await use(`http://127.0.0.1:${server.address().port}`);
  } finally {
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  }
}

/** Returns a proxy that hides from a server which page sent a request: to it all are of its own pages. */
function withoutOrigin(base) {
  const { host, hostname, port } = new URL(base);
  return (request, response) => {
    const headers = { ...request.headers, host };
    delete headers.origin;
    headers["sec-fetch-site"] = "same-origin";
    const forwarded = http.request({ hostname, port, path: request.url, method: request.method, headers }, (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      answer.pipe(response);
    });
    forwarded.on("error", () => response.destroy());
    request.pipe(forwarded);
  };
}

/** Has a page of another site send a request with the cookie of a session; returns whether it counted. */
async function forge(browser, base, key, name) {
  const context = await signedInAt(browser, base, key);
  await serving((request, response) => {
    response.writeHead(200, { "Content-Type": "text/html" });
    response.end("<!doctype html><title>Win a prize</title>");
  }, async (foreign) => {
    const page = await context.newPage();
    await page.goto(foreign);
    await page.evaluate(([url, text]) => fetch(url, { method: "POST", mode: "no-cors", credentials: "include", body: new Blob([text]) }),
      [`${base}/api/v1/dashboards`, JSON.stringify({ name })]);
  });
  const { data } = await apiOf(context, base, "/dashboards?limit=1000");
  await context.close();
  return data.some((one) => one.name === name);
}

/** A page of another site that sends the cookie changes nothing, unless the server does not look where it is from. */
async function checkForgery(browser, base, key, report) {
  if (await forge(browser, base, key, "Forged")) report("a page of another site made a dashboard");
  await serving(withoutOrigin(base), async (proxy) => {
    if (!(await forge(browser, proxy, key, "Forged without a check"))) report("without the check of the origin nothing is forged: the attack is none");
  });
}

inPlaywright(async (browser, report) => {
  const [base, key] = process.argv.slice(-2);
  await checkMarkup(browser, base, key, report);
  await checkForgery(browser, base, key, report);
});
