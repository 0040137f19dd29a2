//! Tests in a real browser: Chromium, controlled by puppeteer, with axe-core.

use serde_json::Value;

use crate::node::node;

const PACKAGES: [&str; 2] = ["puppeteer-core@24.43.1", "axe-core@4.14.1"];
/// The functions that all scripts share.
const SHARED: &str = include_str!("browser.js");
/// The functions that the scripts of the console share.
const CONSOLE: &str = include_str!("browser_console.js");

/// Runs a script after the functions of `browser.js`, and returns the list of problems that it
/// prints.
#[track_caller]
pub fn browser_problems<'a>(script: &str, arguments: impl IntoIterator<Item = &'a str>) -> Value {
    let printed = node(&PACKAGES, &format!("{SHARED}{script}"), arguments);
    match serde_json::from_str(&printed) {
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
