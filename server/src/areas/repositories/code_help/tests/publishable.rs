//! Explanations and documentation say no secret, and hold nothing that becomes a link or a tag.

use super::super::Usage;
use super::harness::{documented, explained, listed, told};

const KEY: &str = "sk_live_51H8abcdEFGH23456";
const TOKEN: &str = "ghp_0123456789abcdefghijklmnopqrstuvwxyz";

/// Files of each kind with secrets in code, documentation, defaults and signatures.
fn files() -> Vec<(&'static str, String)> {
    vec![
        (
            "pay.py",
            format!(
                "\"\"\"Pays. Signs with {TOKEN} until May.\"\"\"\n\nAPI_KEY = \"{KEY}\"\n\
                 PASSWORD = 'hunter2-blue9'\n\n\ndef pay(amount, password=\"hunter2-blue9\"):\n    \
                 \"\"\"Pays an amount.\n\n    Uses token {TOKEN} to sign.\n\n    :param amount: How \
                 much, signed by {TOKEN}.\n    \"\"\"\n    token = \"{TOKEN}\"\n    secret = \\\n        \
                 \"hunter2-blue9\"\n    send(amount, key=\"{KEY}\")\n    if amount == \"{KEY}\":\n        \
                 raise Late(\"{KEY}\")\n    return \"{KEY}\"\n"
            ),
        ),
        (
            "pay.rs",
            format!(
                "//! Pays with {TOKEN}.\n\n/// The key, {KEY}.\npub const API_KEY: &'static str = \
                 \"{KEY}\";\n\n/// Pays. Use `{TOKEN}` for it.\n///\n/// ```\n/// pay(\"{KEY}\");\n\
                 /// ```\npub fn pay(amount: u8) -> &'static str {{\n    let password = \
                 \"hunter2-blue9\";\n    connect(\"postgres://me:pa55w0rX@db/main\");\n    \
                 \"{KEY}\"\n}}\n"
            ),
        ),
        (
            "pay.ts",
            format!("export function pay(token: string = \"{TOKEN}\") {{\n  return 1;\n}}\n"),
        ),
        (".env", format!("API_TOKEN=Zx81kQ0pLm33vvTr9sWe\nKEY={KEY}\n")),
        ("notes.md", format!("# Notes\n\nThe token is {TOKEN} for all.\n")),
        (
            "key.py",
            "KEY = \"\"\"\n-----BEGIN PRIVATE KEY-----\nMIIBsecretsecretMIIB\n-----END PRIVATE \
             KEY-----\n\"\"\"\n"
                .to_owned(),
        ),
    ]
}

#[track_caller]
fn check_no_secret(path: &str, said: &str) {
    let secrets =
        ["sk_live", "51H8", "ghp_", "0123456789", "hunter2", "pa55w0rX", "Zx81kQ0p", "MIIB"];
    for secret in secrets {
        assert!(!said.contains(secret), "{path}: {secret}\n{said}");
    }
}

#[test]
fn secrets_are_not_said() {
    for (path, text) in files() {
        let lines = u32::try_from(text.lines().count()).unwrap();
        let usage = |symbol| Usage {
            symbol,
            path: "tests/pay.py".to_owned(),
            line: 3,
            snippet: format!("pay(1, password=\"{KEY}\")"),
            is_test: true,
        };
        let usages: Vec<Usage> = (0..6).map(usage).collect();
        check_no_secret(path, &listed(&documented(path, &text, &usages)));
        check_no_secret(path, &told(&explained(path, &text, None)));
        for start in 1..=lines {
            for end in start..=lines {
                check_no_secret(path, &told(&explained(path, &text, Some((start, end)))));
            }
        }
    }
}

#[test]
fn what_is_no_secret_is_still_said() {
    let (path, text) = files().swap_remove(0);
    let told = told(&explained(path, &text, Some((7, 19))));
    assert!(told.contains("Pays an amount."), "{told}");
    assert!(told.contains("[redacted]"), "{told}");
    assert!(told.contains("in amount:"), "{told}");
    assert!(told.contains("in password:"), "{told}");
    let listed = listed(&documented(path, &text, &[]));
    assert!(listed.contains("pay: Pays an amount."), "{listed}");
}

#[test]
fn links_images_and_tags_of_comments_are_text() {
    let text = "/// Runs <img src=x onerror=alert(1)> and ![a](http://evil.example/a) it.\n\
                ///\n/// Returns `Vec<String>` \u{202e}backwards.\n///\n/// # Errors\n///\n\
                /// <script>fails</script>\npub fn run(\n    /// <b>bold</b>\n    \
                list: Vec<String>,\n) -> Vec<String> {\n    todo()\n}\n";
    let said = [
        told(&explained("a.rs", text, None)),
        told(&explained("a.rs", text, Some((8, 13)))),
        listed(&documented("a.rs", text, &[])),
    ];
    for said in said {
        for mark in [" <img", " <script", "](http", "\u{202e}"] {
            assert!(!said.contains(mark), "{mark}\n{said}");
        }
    }
    let said = listed(&documented("a.rs", text, &[]));
    assert!(said.contains("\\<img src=x") && said.contains("a]\\(http"), "{said}");
    assert!(said.contains("`Vec<String>` backwards"), "{said}");
    assert!(said.contains("in list: Vec<String> |"), "{said}");
    for path in ["[x](http://evil.example).txt", "<img src=x>.txt"] {
        let said = told(&explained(path, "One line.\n", None));
        assert!(!said.contains("](http") && !said.contains(" <img"), "{said}");
        assert!(!said.starts_with("<img"), "{said}");
    }
}
