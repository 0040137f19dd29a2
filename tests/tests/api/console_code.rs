//! Code in the console, in a real browser: questions, search, files, wiki, diagrams and settings.

use serde_json::json;
use telltale_tests::{ADMIN_KEY, console_problems};

use crate::keys::text;
use crate::repositories_git::{GitServer, connect, create, failed, setup};
use crate::repositories_shop::SHOP;

const SCRIPT: &str = include_str!("console_code.js");
/// A file whose path and text would show if data became markup.
const HOSTILE: (&str, &str) = (
    "odd/a,b%2Fc/<b>bold #1?.py",
    "def bold(text):\n    \"\"\"Returns <b>text</b> and [x](javascript:alert(1)).\"\"\"\n    \
     if not text:\n        raise ValueError(\"<b>none</b>\")\n    return text\n",
);

#[test]
fn code_is_read_and_asked_about_in_the_console() {
    let git = GitServer::start();
    git.source("shop").commit(SHOP.into_iter().chain([HOSTILE]));
    git.source("other").commit([("main.py", "def main():\n    return 1\n")]);
    git.source("empty");
    let server = setup().start();
    let client = server.client();
    let empty = create(&client, &json!({"url": git.url("empty")}));
    failed(&client, text(&empty["id"]));
    let shop = connect(&client, &git.url("shop"));
    let base = format!("http://{}", server.address());
    let made = json!({"shop": shop, "failed": empty["id"], "url": git.url("other")});
    assert_eq!(console_problems(SCRIPT, [&*base, &*made.to_string(), ADMIN_KEY]), json!([]));
}
