//! The files of the console that the browser reads as they are: scripts that only import downwards
//! and never turn data into markup, style sheets, and modules of others, byte for byte theirs.

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha512};

use crate::source::root;

const FOLDER: &str = "server/console";
const FILE_LINES_MAX: usize = 300;
/// The folders of scripts: each imports from itself and those after it.
const LAYERS: [&str; 4] = ["pages", "parts", "api", "kit"];
/// What turns text into markup or code, with what a script may do instead.
const FORBIDDEN: [(&str, &str); 14] = [
    ("innerHTML", "text nodes"),
    ("outerHTML", "text nodes"),
    ("insertAdjacentHTML", "text nodes"),
    ("dangerouslySetInnerHTML", "text nodes"),
    ("document.write", "text nodes"),
    ("createContextualFragment", "text nodes"),
    ("DOMParser", "text nodes"),
    ("srcdoc", "text nodes"),
    ("eval(", "a function"),
    ("new Function", "a function"),
    ("javascript:", "a function"),
    ("style=", "a class"),
    (".setAttribute(\"style\"", "a class"),
    ("cssText", "a class"),
];

/// A script or style sheet of the console.
struct ConsoleFile {
    /// Below `server/console`.
    path: String,
    text: String,
}

impl ConsoleFile {
    fn new(path: &str, text: &str) -> Self {
        Self { path: path.to_owned(), text: text.to_owned() }
    }

    fn is_script(&self) -> bool {
        self.path.ends_with(".js")
    }

    fn is_style(&self) -> bool {
        self.path.ends_with(".css")
    }
}

fn console_files() -> Vec<ConsoleFile> {
    let mut files = Vec::new();
    collect(&root().join(FOLDER), "", &mut files);
    files
}

fn collect(folder: &Path, below: &str, files: &mut Vec<ConsoleFile>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = format!("{below}{}", entry.file_name().to_string_lossy());
        // Generated from the server's OpenAPI document; `tools/console-types` checks it.
        if path == "types.d.ts" {
            continue;
        }
        if entry.path().is_dir() {
            if path != "vendor" {
                collect(&entry.path(), &format!("{path}/"), files);
            }
        } else if let Ok(text) = std::fs::read_to_string(entry.path()) {
            files.push(ConsoleFile { path, text });
        }
    }
}

/// A file says in its first line what it owns.
fn has_header(file: &ConsoleFile) -> Vec<String> {
    let first = file.text.lines().next().unwrap_or_default();
    let is_missing = file.is_script() && !first.starts_with("// ")
        || file.is_style() && !first.starts_with("/* ");
    if is_missing { vec![format!("{}: no header", file.path)] } else { Vec::new() }
}

fn has_few_lines(file: &ConsoleFile) -> Vec<String> {
    let lines = file.text.lines().count();
    if lines > FILE_LINES_MAX {
        return vec![format!("{}: {lines} lines, more than {FILE_LINES_MAX}", file.path)];
    }
    Vec::new()
}

/// Returns what a script imports.
fn imports(text: &str) -> Vec<&str> {
    let after = |mark: &'static str| text.split(mark).skip(1);
    let static_ones = after(" from \"").chain(after("import \"")).chain(after("import(\""));
    static_ones.filter_map(|rest| rest.split('"').next()).collect()
}

fn layer(path: &str) -> Option<usize> {
    LAYERS.iter().position(|layer| path.starts_with(&format!("js/{layer}/")))
}

/// Imports point from pages to parts, to the API, to the kit. Only `main.js` puts all together.
fn imports_point_down(file: &ConsoleFile) -> Vec<String> {
    let Some(own) = layer(&file.path) else { return Vec::new() };
    let folder = file.path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let upwards = imports(&file.text).into_iter().filter(|import| {
        let target = match (import.strip_prefix("./"), import.strip_prefix("../")) {
            (Some(rest), _) => format!("{folder}/{rest}"),
            (_, Some(rest)) => format!("js/{rest}"),
            // A module of the import map.
            _ => return import.contains("://") || import.starts_with('/'),
        };
        layer(&target).is_none_or(|layer| layer < own)
    });
    upwards.map(|import| format!("{}: must not import {import}", file.path)).collect()
}

fn makes_no_markup(file: &ConsoleFile) -> Vec<String> {
    let found = FORBIDDEN.iter().filter(|(word, _)| file.text.contains(word));
    found.map(|(word, instead)| format!("{}: {word}; use {instead}", file.path)).collect()
}

/// No file names another origin, except the namespace of SVG, which nothing loads.
fn names_no_origin(file: &ConsoleFile) -> Vec<String> {
    let named = file.text.split(['"', '\'', '`', '(', ' ', '\n']).filter(|word| {
        let is_url = ["http://", "https://", "ws://", "wss://"].iter().any(|s| word.starts_with(s));
        (is_url || word.starts_with("//") && word.len() > 2 && file.is_style())
            && !word.starts_with("http://www.w3.org/2000/svg")
    });
    named.map(|word| format!("{}: {word}", file.path)).collect()
}

#[track_caller]
fn check_console(rule: fn(&ConsoleFile) -> Vec<String>) {
    let files = console_files();
    assert!(files.len() > 20, "only {} files were found", files.len());
    let violations: Vec<String> = files.iter().flat_map(rule).collect();
    assert!(violations.is_empty(), "\n{}\n", violations.join("\n"));
}

#[track_caller]
fn check_console_rule(rule: fn(&ConsoleFile) -> Vec<String>, path: &str, bad: &str, good: &str) {
    assert_ne!(rule(&ConsoleFile::new(path, bad)), Vec::<String>::new(), "{path}: {bad}");
    assert_eq!(rule(&ConsoleFile::new(path, good)), Vec::<String>::new(), "{path}: {good}");
}

#[test]
fn files_of_the_console_have_a_header_and_few_lines() {
    check_console(has_header);
    check_console(has_few_lines);
    check_console_rule(has_header, "js/kit/a.js", "let a;\n", "// Owns a.\nlet a;\n");
    check_console_rule(has_header, "css/a.css", "a {}\n", "/* Owns a. */\na {}\n");
    check_console_rule(has_few_lines, "js/kit/a.js", &"a\n".repeat(301), &"a\n".repeat(300));
}

#[test]
fn scripts_of_the_console_import_downwards() {
    check_console(imports_point_down);
    let import = |path: &str| format!("import {{ a }} from \"{path}\";\n");
    for (file, bad, good) in [
        ("js/kit/a.js", "../api/b.js", "./b.js"),
        ("js/api/a.js", "../parts/b.js", "../kit/b.js"),
        ("js/parts/a.js", "../pages/b.js", "../api/b.js"),
        ("js/pages/a.js", "../main.js", "../parts/b.js"),
        ("js/pages/a.js", "https://cdn.example/a.js", "preact"),
        ("js/kit/a.js", "/console/-/x/js/kit/b.js", "@preact/signals"),
    ] {
        check_console_rule(imports_point_down, file, &import(bad), &import(good));
    }
    let dynamic = "const load = () => import(\"../pages/b.js\");\n";
    check_console_rule(imports_point_down, "js/parts/a.js", dynamic, "");
}

#[test]
fn the_console_never_turns_data_into_markup_or_loads_from_elsewhere() {
    check_console(makes_no_markup);
    check_console(names_no_origin);
    check_console_rule(
        makes_no_markup,
        "js/parts/a.js",
        "node.innerHTML = text;\n",
        "node.textContent = text;\n",
    );
    check_console_rule(makes_no_markup, "index.html", "<p style=\"x\">\n", "<p class=\"x\">\n");
    check_console_rule(
        names_no_origin,
        "js/parts/a.js",
        "fetch(\"https://a.example/\");\n",
        "fetch(\"/api/v1/a\");\n",
    );
}

#[test]
fn modules_of_others_are_byte_for_byte_those_of_npm() {
    let folder = root().join(FOLDER).join("vendor");
    let list = std::fs::read_to_string(folder.join("VENDOR.toml")).unwrap_or_default();
    let list: toml::Value = match toml::from_str(&list) {
        Ok(list) => list,
        Err(error) => panic!("VENDOR.toml: {error}"),
    };
    let text = |value: Option<&toml::Value>| value.and_then(|v| v.as_str()).map(str::to_owned);
    let mut listed = vec!["VENDOR.toml".to_owned()];
    for package in list["package"].as_array().into_iter().flatten() {
        let name = text(package.get("name")).unwrap_or_default();
        for field in ["version", "license"] {
            assert!(text(package.get(field)).is_some_and(|v| v.len() >= 3), "{name}: {field}");
        }
        let integrity = text(package.get("integrity")).unwrap_or_default();
        assert!(integrity.starts_with("sha512-") && integrity.len() == 95, "{name}: {integrity}");
        for file in package.get("file").and_then(toml::Value::as_array).into_iter().flatten() {
            let name = text(file.get("name")).unwrap_or_default();
            let bytes = std::fs::read(folder.join(&name)).unwrap_or_default();
            let digest = format!("sha512-{}", STANDARD.encode(Sha512::digest(&bytes)));
            assert_eq!(Some(digest), text(file.get("sha512")), "{name} was changed");
            listed.push(name);
        }
    }
    let found = std::fs::read_dir(&folder).into_iter().flatten().flatten();
    let mut found: Vec<String> =
        found.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    found.sort_unstable();
    listed.sort_unstable();
    assert_eq!(found, listed);
}
