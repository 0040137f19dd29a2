//! What readers of the wiki are promised, also if names in the repository are hostile.

use std::collections::HashSet;

use super::limits::PAGE_BYTES_MAX;
use super::pages::{WikiPage, pages};
use super::test_index::index_of;
use crate::areas::repositories::index::Index;

fn page<'pages>(pages: &'pages [WikiPage], title: &str) -> &'pages WikiPage {
    pages.iter().find(|page| page.title == title).unwrap()
}

fn small() -> Index {
    index_of(&[
        ("README.md", "# Tool\n\nA tool for <b>logs</b>. It is fast.\n"),
        (
            "src/main.rs",
            "//! Starts the tool.\nmod log;\nuse log::read_log;\nfn main() {\n    read_log();\n}\n",
        ),
        (
            "src/log.rs",
            "//! Reads logs.\n\n/// Reads a `log` file_name.\npub fn read_log() {}\nfn private() {}\n",
        ),
    ])
}

#[test]
fn a_small_repository_has_a_page_for_each_file() {
    let pages = pages(&small()).unwrap();
    let slugs: Vec<&str> = pages.iter().map(|page| page.slug.as_str()).collect();
    assert_eq!(slugs, ["overview", "src-log-rs", "src-main-rs"]);
    let overview = page(&pages, "Overview");
    assert!(overview.markdown.contains("A tool for &lt;b&gt;logs&lt;/b&gt;. It is fast."));
    assert!(overview.markdown.contains("- [src/log.rs](src-log-rs): Reads logs."));
    assert!(overview.markdown.contains("| rust | 2 | 11 |"), "{}", overview.markdown);
    assert!(overview.markdown.contains("- [src/main.rs:4](src/main.rs#L4)"));
    let log = &page(&pages, "src/log.rs").markdown;
    assert!(log.contains("`read_log`") && log.contains("[src/log.rs:4](src/log.rs#L4)"), "{log}");
    assert!(log.contains("Reads a `log` file\\_name."), "{log}");
    assert!(!log.contains("private"));
    assert!(log.contains("## Used by\n\n- [src/main.rs](src-main-rs)"), "{log}");
    assert!(
        page(&pages, "src/main.rs")
            .markdown
            .contains("## Depends on\n\n- [src/log.rs](src-log-rs)")
    );
}

#[test]
fn pages_are_the_same_each_time_and_refer_to_lines_that_exist() {
    let index = small();
    let first = pages(&index).unwrap();
    assert_eq!(first, pages(&index).unwrap());
    for (path, lines) in first.iter().flat_map(|page| &page.references) {
        let id = index.find(path).unwrap();
        assert!(lines.end() <= index.entry(id).unwrap().lines, "{path} {lines:?}");
    }
}

#[test]
fn hostile_names_are_no_markup() {
    let index = index_of(&[
        (
            "a](javascript:alert(1))/<img src=x>.py",
            "\"\"\"<script>alert(1)</script> [click](http://evil) `code`.\"\"\"\ndef f(x=\"<b>\"):\n    \"\"\"![x](http://evil/x.png) **bold** @everyone\"\"\"\n",
        ),
        ("a|b/`tick`.py", "class A: pass\n"),
        ("日本/ファイル.py", "class 日本: pass\n"),
        ("日本/other.py", ""),
    ]);
    let pages = pages(&index).unwrap();
    for page in &pages {
        for wrong in
            ["<script", "<img", "<b>", "](javascript", "](http", "![", "**bold**", " @everyone"]
        {
            // Code spans show their content and nothing else.
            let outside: String = page.markdown.split('`').step_by(2).collect();
            assert!(!outside.replace("\\]\\(", "").contains(wrong), "{wrong} in {}", page.markdown);
        }
        assert!(page.slug.chars().all(|char| char.is_ascii_alphanumeric() || char == '-'));
    }
    assert_eq!(pages.iter().map(|page| &page.slug).collect::<HashSet<_>>().len(), pages.len());
}

#[test]
fn many_folders_are_joined_and_pages_are_bounded() {
    let mut files: Vec<(String, String)> = Vec::new();
    for number in 0..300 {
        files.push((format!("m{}/sub{number}/x.py", number % 7), "def f(): pass\n".repeat(40)));
    }
    let long = format!("\"\"\"{}\"\"\"\n", "word ".repeat(20_000));
    files.push(("long/x.py".to_owned(), long + &"def g(): pass\n".repeat(5_000)));
    let files: Vec<(&str, &str)> =
        files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let pages = pages(&index_of(&files)).unwrap();
    let titles: Vec<&str> = pages.iter().map(|page| page.title.as_str()).collect();
    assert_eq!(titles, ["Overview", "long", "m0", "m1", "m2", "m3", "m4", "m5", "m6"]);
    assert!(pages.iter().all(|page| page.markdown.len() <= PAGE_BYTES_MAX));
}

#[test]
fn an_empty_repository_has_an_overview() {
    let pages = pages(&index_of(&[])).unwrap();
    assert_eq!(pages.len(), 1);
    assert!(pages[0].markdown.starts_with("# Overview"));
}

#[test]
fn secrets_are_not_shown() {
    let index = index_of(&[(
        "k.py",
        "\"\"\"Key ghp_0123456789abcdefghijklmnopqrstuvwxyz here. Fine.\"\"\"\ndef f(token=\"q8Zr4Lw0Xn5Yt7\"):\n    pass\n",
    )]);
    let all: String = pages(&index).unwrap().into_iter().map(|page| page.markdown).collect();
    assert!(!all.contains("ghp_") && !all.contains("q8Zr4"), "{all}");
    assert!(all.contains("`f`"), "{all}");
}
