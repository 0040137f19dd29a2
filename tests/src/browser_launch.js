// How the tests in a real browser start it, and how they look at pages. It stands before all others.

/** What puppeteer and Playwright both take. */
const LAUNCH = {
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: [
    "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
  ],
};

/**
 * The widths and colour schemes in which pages are looked at: each width and each scheme once. All pairs take
 * twice the time (`make console`).
 */
const VIEWS = process.env.CONSOLE_VIEWS === "all"
  ? [[390, "light"], [390, "dark"], [1280, "light"], [1280, "dark"]]
  : [[390, "dark"], [1280, "light"]];

