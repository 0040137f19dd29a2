//! The tree is the architecture, and this test keeps it so: it reads the sources and refuses what breaks the
//! order of the house. Each rule is a function from a source to complaints, and has cases that show it biting.

mod house;
mod source;
mod walls;

use source::{Source, tree};

/// Runs one rule over the whole tree.
#[track_caller]
fn keep(rule: fn(&Source) -> Vec<String>) {
    let sources = tree();
    assert!(sources.len() > 40, "only {} sources were found", sources.len());
    let broken: Vec<String> = sources.iter().flat_map(rule).collect();
    assert!(broken.is_empty(), "\n{}\n", broken.join("\n"));
}

/// Shows that a rule complains about one text in a place, and not about another.
#[track_caller]
fn bites(rule: fn(&Source) -> Vec<String>, path: &str, bad: &str, good: &str) {
    assert_ne!(rule(&Source::new(path, bad)), Vec::<String>::new(), "{path}: {bad}");
    assert_eq!(rule(&Source::new(path, good)), Vec::<String>::new(), "{path}: {good}");
}

#[test]
fn every_file_opens_with_what_it_owns() {
    keep(house::opens_with_its_purpose);
    let rule = house::opens_with_its_purpose;
    bites(rule, "engine/src/a.rs", "use std::fmt;\n", "//! Owns a.\nuse std::fmt;\n");
}

#[test]
fn files_stay_small() {
    keep(house::stays_small);
    let line = "const A: u8 = 0;\n";
    bites(house::stays_small, "engine/src/a.rs", &line.repeat(501), &line.repeat(500));
    let tested = format!("{}#[cfg(test)]\nmod tests {{\n{}}}\n", line.repeat(499), line.repeat(90));
    bites(house::stays_small, "engine/src/a.rs", &line.repeat(501), &tested);
    bites(house::stays_small, "tests/tests/api/a.rs", &line.repeat(601), &line.repeat(600));
}

#[test]
fn handlers_stay_thin() {
    keep(house::handlers_stay_thin);
    let handler = |lines| format!("async fn list() {{\n{}}}\n", "    a();\n".repeat(lines));
    let path = "server/src/areas/metrics/routes.rs";
    bites(house::handlers_stay_thin, path, &handler(19), &handler(18));
}

#[test]
fn tables_of_contents_hold_no_logic() {
    keep(house::contents_hold_no_logic);
    let rule = house::contents_hold_no_logic;
    bites(
        rule,
        "engine/src/codec/mod.rs",
        "fn f() {}\n",
        "//! A.\nmod a;\npub use a::{\n    B, C,\n};\n",
    );
    bites(rule, "engine/src/lib.rs", "impl A {}\n", "//! A.\n#![warn(missing_docs)]\npub mod a;\n");
}

#[test]
fn names_say_what_a_file_owns() {
    keep(house::names_say_something);
    let complaints = |path| house::names_say_something(&Source::new(path, "//! Owns all.\n"));
    assert_eq!(complaints("engine/src/utils.rs").len(), 1);
    assert_eq!(complaints("engine/src/common/mod.rs").len(), 1);
    assert_eq!(complaints("engine/src/codec/mod.rs").len(), 0);
}

#[test]
fn nothing_is_left_open() {
    keep(house::nothing_left_open);
    let rule = house::nothing_left_open;
    bites(rule, "engine/src/a.rs", concat!("// TO", "DO: more\n"), "// All of it.\n");
    bites(rule, "engine/src/a.rs", concat!("// Pha", "se 2\n"), "// The phases of the moon.\n");
    bites(rule, "engine/src/a.rs", concat!("#[ign", "ore]\n"), "#[ignore = \"takes an hour\"]\n");
}

#[test]
fn arrows_point_one_way() {
    keep(walls::respected);
    for (path, bad, good) in [
        ("engine/src/metrics/a.rs", "use rocksdb::DB;\n", "use crate::storage::Store;\n"),
        ("server/src/http/a.rs", "fn f() { rocksdb::DB::open(); }\n", "use hyper::body::Body;\n"),
        (
            "server/src/areas/metrics/ops.rs",
            "use hyper::Request;\n",
            "use crate::platform::time;\n",
        ),
        ("engine/src/metrics/a.rs", "use crate::events::List;\n", "use crate::model::Point;\n"),
        (
            "engine/src/metrics/a.rs",
            "use crate::{model::A, events::B};\n",
            "use crate::{model::A};\n",
        ),
        ("engine/src/metrics/a.rs", "use super::super::events::B;\n", "use super::events::B;\n"),
        (
            "engine/src/model/a.rs",
            "fn f() { crate::storage::g() }\n",
            "// crate::storage is told\n",
        ),
        ("engine/src/a.rs", "use tokio::spawn;\n", "const A: &str = \"tokio::spawn\";\n"),
        ("server/src/platform/a.rs", "use crate::areas::metrics::A;\n", "use super::time;\n"),
        (
            "server/src/areas/alerting/ops.rs",
            "use crate::areas::metrics::ops::query;\n",
            "use crate::areas::metrics::Service;\n",
        ),
        (
            "server/src/areas/metrics/model.rs",
            "use serde::Serialize;\n",
            "#[cfg(test)]\nmod tests {\n    use serde::Serialize;\n}\n",
        ),
    ] {
        bites(walls::respected, path, bad, good);
    }
}

#[test]
fn every_dependency_is_used() {
    let unused = house::unused_dependencies(&tree());
    assert!(unused.is_empty(), "\n{}\n", unused.join("\n"));
}

#[test]
fn no_text_names_the_machine_it_was_written_on() {
    let named = house::texts_that_name_a_machine();
    assert!(named.is_empty(), "\n{}\n", named.join("\n"));
}

#[test]
fn what_every_house_has_is_there() {
    for file in [
        "ARCHITECTURE.md",
        "CHANGELOG.md",
        "LICENSE",
        "Makefile",
        "README.md",
        "clippy.toml",
        "deny.toml",
        "docs/FORMAT.md",
        "docs/configuration.md",
        "docs/guides.md",
        "docs/operations.md",
        "packaging/Containerfile",
        "rust-toolchain.toml",
        "rustfmt.toml",
    ] {
        let text = std::fs::read_to_string(source::root().join(file)).unwrap_or_default();
        assert!(text.len() > 40, "{file} is missing or says nothing");
    }
}
