//! Tests in a real browser: Chromium, controlled by puppeteer, with axe-core, or by Playwright.

use serde_json::Value;

use crate::node::node;

const PACKAGES: [&str; 2] = ["puppeteer-core@24.43.1", "axe-core@4.14.1"];
const PLAYWRIGHT_PACKAGES: [&str; 1] = ["playwright-core@1.65.1"];
/// How all scripts start the browser.
const LAUNCH: &str = include_str!("browser_launch.js");
/// The functions that the scripts with puppeteer share.
const SHARED: &str = include_str!("browser.js");
/// The functions that the scripts of the console share.
const CONSOLE: &str = include_str!("browser_console.js");
/// The functions that the scripts with Playwright share.
const PLAYWRIGHT: &str = include_str!("playwright.js");

/// Runs a script after the functions of `browser.js`, and returns the list of problems that it
/// prints.
#[track_caller]
pub fn browser_problems<'a>(script: &str, arguments: impl IntoIterator<Item = &'a str>) -> Value {
    let script = format!("{LAUNCH}{SHARED}{script}");
    problems(&node(&PACKAGES, &script, arguments))
}

/// Returns the list of problems that a script printed.
#[track_caller]
fn problems(printed: &str) -> Value {
    match serde_json::from_str(printed) {
        Ok(problems) => problems,
        Err(error) => panic!("the script printed no JSON ({error}): {printed}"),
    }
}

/// Runs a script of the console after the functions of `browser.js` and `browser_console.js`, and
/// returns the list of problems that it prints.
#[track_caller]
pub fn console_problems<'a>(script: &str, arguments: impl IntoIterator<Item = &'a str>) -> Value {
    browser_problems(&format!("{CONSOLE}{script}"), arguments)
}

/// Runs a script after the functions of `playwright.js`, and returns the list of problems that it
/// prints.
#[track_caller]
pub fn playwright_problems<'a>(
    script: &str,
    arguments: impl IntoIterator<Item = &'a str>,
) -> Value {
    let script = format!("{LAUNCH}{PLAYWRIGHT}{script}");
    problems(&node(&PLAYWRIGHT_PACKAGES, &script, arguments))
}
