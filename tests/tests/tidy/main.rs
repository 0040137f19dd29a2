//! Keeps the structure of the tree that `ARCHITECTURE.md` describes: reads the source files
//! and fails when one breaks a rule. Each rule is a function from a source file to violations, and
//! is itself tested with a file that breaks it and one that keeps it.

mod console;
mod cycles;
mod dependencies;
mod files;
mod language;
mod source;

use cycles::Folders;
use source::{SourceFile, source_files};

/// Fails when a file of the tree breaks a rule.
#[track_caller]
fn check_tree(rule: fn(&SourceFile) -> Vec<String>) {
    let sources = source_files();
    assert!(sources.len() > 40, "only {} source files were found", sources.len());
    let violations: Vec<String> = sources.iter().flat_map(rule).collect();
    assert!(violations.is_empty(), "\n{}\n", violations.join("\n"));
}

/// Fails unless a file with the text `bad` breaks a rule, and one with the text `good` does not.
#[track_caller]
fn check_rule(rule: fn(&SourceFile) -> Vec<String>, path: &str, bad: &str, good: &str) {
    assert_ne!(rule(&SourceFile::new(path, bad)), Vec::<String>::new(), "{path}: {bad}");
    assert_eq!(rule(&SourceFile::new(path, good)), Vec::<String>::new(), "{path}: {good}");
}

#[test]
fn every_file_starts_with_module_docs() {
    check_tree(files::starts_with_module_docs);
    let rule = files::starts_with_module_docs;
    check_rule(rule, "engine/src/a.rs", "use std::fmt;\n", "//! Owns a.\nuse std::fmt;\n");
}

#[test]
fn files_do_not_exceed_their_line_limit() {
    check_tree(files::has_few_lines);
    let line = "const A: u8 = 0;\n";
    check_rule(files::has_few_lines, "engine/src/a.rs", &line.repeat(501), &line.repeat(500));
    let tested = format!("{}#[cfg(test)]\nmod tests {{\n{}}}\n", line.repeat(499), line.repeat(90));
    check_rule(files::has_few_lines, "engine/src/a.rs", &line.repeat(501), &tested);
    check_rule(files::has_few_lines, "tests/tests/api/a.rs", &line.repeat(601), &line.repeat(600));
}

#[test]
fn handlers_do_not_exceed_their_line_limit() {
    check_tree(files::handlers_are_short);
    let handler = |lines| format!("async fn list() {{\n{}}}\n", "    a();\n".repeat(lines));
    let path = "server/src/areas/metrics/routes.rs";
    check_rule(files::handlers_are_short, path, &handler(19), &handler(18));
}

#[test]
fn mod_and_lib_files_contain_no_logic() {
    check_tree(files::module_lists_have_no_logic);
    let rule = files::module_lists_have_no_logic;
    check_rule(
        rule,
        "engine/src/codec/mod.rs",
        "fn f() {}\n",
        "//! A.\nmod a;\npub use a::{\n    B, C,\n};\n",
    );
    check_rule(
        rule,
        "engine/src/lib.rs",
        "impl A {}\n",
        "//! A.\n#![warn(missing_docs)]\npub mod a;\n",
    );
}

#[test]
fn no_file_has_a_generic_name() {
    check_tree(files::names_are_specific);
    let violations = |path| files::names_are_specific(&SourceFile::new(path, "//! Owns all.\n"));
    assert_eq!(violations("engine/src/utils.rs").len(), 1);
    assert_eq!(violations("engine/src/common/mod.rs").len(), 1);
    assert_eq!(violations("engine/src/codec/mod.rs").len(), 0);
}

#[test]
fn no_task_is_left_open_and_every_ignored_test_has_a_reason() {
    check_tree(files::has_no_open_tasks);
    let rule = files::has_no_open_tasks;
    check_rule(rule, "engine/src/a.rs", concat!("// TO", "DO: more\n"), "// All of it.\n");
    check_rule(
        rule,
        "engine/src/a.rs",
        concat!("// Pha", "se 2\n"),
        "// The phases of the moon.\n",
    );
    check_rule(
        rule,
        "engine/src/a.rs",
        concat!("#[ign", "ore]\n"),
        "#[ignore = \"takes an hour\"]\n",
    );
}

#[test]
fn dependencies_point_one_way() {
    check_tree(dependencies::dependency_violations);
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
            "// crate::storage is mentioned\n",
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
        (
            "server/src/areas/metrics/ops.rs",
            "use crate::http::Query;\n",
            "use super::query::definitions;\n",
        ),
        (
            "server/src/areas/metrics/routes.rs",
            "use telltale_engine::Write;\n",
            "use crate::http::Route;\n",
        ),
        ("server/src/areas/metrics/wire.rs", "use http::StatusCode;\n", "use http::HeaderMap;\n"),
    ] {
        check_rule(dependencies::dependency_violations, path, bad, good);
    }
}

#[test]
fn only_wire_and_stored_forms_of_areas_are_serialised() {
    check_tree(dependencies::serialises_elsewhere);
    let (bad, good) = ("#[derive(Debug, Serialize)]\nstruct A;\n", "#[derive(Debug)]\nstruct A;\n");
    check_rule(dependencies::serialises_elsewhere, "server/src/areas/a/model.rs", bad, good);
    let wire = SourceFile::new("server/src/areas/a/wire.rs", bad);
    assert!(dependencies::serialises_elsewhere(&wire).is_empty());
}

#[test]
fn limits_that_several_files_use_are_in_one_file() {
    check_tree(files::limits_are_in_one_file);
    let (bad, good) = ("pub(super) const ROWS_MAX: usize = 9;\n", "const ROWS_MAX: usize = 9;\n");
    check_rule(files::limits_are_in_one_file, "engine/src/events/a.rs", bad, good);
}

#[test]
fn folders_do_not_import_each_other_in_circles() {
    let sources = source_files();
    for root in ["engine/src/", "server/src/", "tests/simulation/src/", "benches/compare/src/"] {
        let circles = Folders::of(&sources, root).circles(&sources);
        assert!(circles.is_empty(), "\n{root}\n{}\n", circles.join("\n"));
    }
}

#[test]
fn comments_fit_a_screen_and_phrases_are_standard() {
    check_tree(language::comments_fit);
    let rule = language::comments_fit;
    check_rule(rule, "engine/src/a.rs", &format!("// {}\n", "a".repeat(98)), "// a\n");
    check_tree(language::phrases_are_standard);
    let bad = concat!("/// A loss is to", "ld.\n");
    check_rule(language::phrases_are_standard, "engine/src/a.rs", bad, "/// A loss is reported.\n");
}

#[test]
fn every_dependency_is_used() {
    let unused = files::unused_dependencies(&source_files());
    assert!(unused.is_empty(), "\n{}\n", unused.join("\n"));
}

#[test]
fn no_file_contains_a_path_of_a_developers_machine() {
    let lines = files::machine_paths();
    assert!(lines.is_empty(), "\n{}\n", lines.join("\n"));
}

#[test]
fn the_files_that_every_project_needs_exist() {
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
        assert!(text.len() > 40, "{file} is missing or nearly empty");
    }
}
