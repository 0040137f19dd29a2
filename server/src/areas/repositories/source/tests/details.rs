//! What is known of symbols and files beside their places.

use super::fixtures::{
    C_FILE, CPP_FILE, GO_FILE, JAVA_FILE, PYTHON_FILE, RUBY_FILE, RUST_FILE, TYPESCRIPT_FILE,
};
use crate::areas::repositories::source::{
    Import, Language, Parameter, ReferenceKind, Symbol, outline,
};

fn symbol(path: &str, text: &str, name: &str) -> Symbol {
    let found = outline(path, text).symbols.into_iter().rev().find(|symbol| symbol.name == name);
    found.unwrap()
}

fn parameters(symbol: &Symbol) -> Vec<String> {
    let parameter = |parameter: &Parameter| {
        let Parameter { name, type_name, default } = parameter;
        let of = |value: &Option<String>| value.clone().unwrap_or_default();
        format!("{name}:{}={}", of(type_name), of(default))
    };
    symbol.parameters.iter().map(parameter).collect()
}

fn imports(path: &str, text: &str) -> Vec<String> {
    let import = |import: &Import| format!("{} {}", import.path, import.names.join(" "));
    outline(path, text).imports.iter().map(|of| import(of).trim().to_owned()).collect()
}

fn references(path: &str, text: &str, kind: ReferenceKind) -> Vec<String> {
    let found = outline(path, text).references;
    let mut names: Vec<String> =
        found.into_iter().filter(|of| of.kind == kind).map(|of| of.name).collect();
    names.dedup();
    names
}

/// Functions: the file, its text, the name, and the signature, parameters and type.
const SIGNATURES: [(&str, &str, &str, &str, &str, &str); 8] = [
    (
        "src/lib.rs",
        RUST_FILE,
        "add",
        "pub fn add(&mut self, n: u64, by: &str) -> Result<u64, Overflow>",
        "n:u64=, by:&str=",
        "Result<u64, Overflow>",
    ),
    (
        "store.py",
        PYTHON_FILE,
        "__init__",
        "def __init__(self, path: str, *, size=10, **options)",
        "path:str=, size:=10, options:=",
        "",
    ),
    (
        "store.py",
        PYTHON_FILE,
        "find",
        "async def find(self, name: Optional[str]) -> \"User\"",
        "name:Optional[str]=",
        "\"User\"",
    ),
    (
        "client.ts",
        TYPESCRIPT_FILE,
        "create",
        "export const create = (options: Options): Client =>",
        "options:Options=",
        "Client",
    ),
    (
        "store.go",
        GO_FILE,
        "lookup",
        "func lookup(a, b string) *User",
        "a:string=, b:string=",
        "*User",
    ),
    (
        "Shop.java",
        JAVA_FILE,
        "Shop",
        "public Shop(String name, int... sizes)",
        "name:String=, sizes:int...=",
        "",
    ),
    (
        "cart.rb",
        RUBY_FILE,
        "add",
        "def add(item, count = 1, *rest, key: 2)",
        "item:=, count:=1, rest:=, key:=2",
        "",
    ),
    (
        "point.h",
        C_FILE,
        "point_add",
        "point_t *point_add(const point_t *a, point_t b)",
        "a:const point_t *=, b:point_t=",
        "point_t *",
    ),
];

#[test]
fn types_of_c_include_what_the_declarator_adds() {
    for (text, name, types, returns) in [
        (
            "char *f(const char *names[], size_t n);",
            "f",
            "names:const char *[]=, n:size_t=",
            "char *",
        ),
        ("static inline const char *const f(void) { return 0; }", "f", "", "const char *const"),
        (
            "void f(int (*call)(int), void **out) {}",
            "f",
            "call:int (*)(int)=, out:void **=",
            "void",
        ),
        ("static unsigned long f(struct a *a, ...) {}", "f", "a:struct a *=", "unsigned long"),
    ] {
        let found = symbol("a.c", text, name);
        assert_eq!(parameters(&found).join(", "), types, "{text}");
        assert_eq!(found.returns.as_deref(), Some(returns), "{text}");
    }
    for (text, types, returns) in [
        (
            "const std::string &f(const std::vector<int> &a, T &&b, int c = 2) { }",
            "a:const std::vector<int> &=, b:T &&=, c:int=2",
            Some("const std::string &"),
        ),
        ("virtual auto f(int a) -> std::vector<int>;", "a:int=", Some("std::vector<int>")),
    ] {
        let found = symbol("a.cpp", &format!("class A {{\n{text}\n}};"), "f");
        assert_eq!(parameters(&found).join(", "), types, "{text}");
        assert_eq!(found.returns.as_deref(), returns, "{text}");
    }
    assert_eq!(symbol("a.cpp", "A::A(int a) : b(a) {}", "A").returns, None);
}

#[test]
fn comments_keep_examples_and_belong_to_what_follows() {
    let doc = |path: &str, text: &str| symbol(path, text, "f").doc;
    let example = "/// A.\n///\n/// ```\n/// if a {\n///     }\n/// ----\n/// ```\nfn f() {}";
    assert_eq!(doc("a.rs", example).unwrap(), "A.\n\n```\nif a {\n    }\n----\n```");
    assert_eq!(doc("a.rs", "/// A\n/// -----\n/// b\nfn f() {}").unwrap(), "A\nb");
    let apart = "let a;\n/**\n * Adds.\n * @param {number} a\n */\n\nfunction f(a) {}";
    assert!(doc("a.js", apart).unwrap().starts_with("Adds."));
    let public = "let a;\n/** Other.\n * @public */\n\nfunction f(a) {}";
    assert!(doc("a.js", public).unwrap().starts_with("Other."));
    assert_eq!(doc("a.js", "let a;\n// Other.\n\nfunction f(a) {}"), None);
    assert_eq!(doc("a.js", "let a;\n/** @file Other. */\n\nfunction f(a) {}"), None);
    assert_eq!(doc("a.js", "let a;\n/** Other. */\n\n\nfunction f(a) {}"), None);
    let section = "let a;\n/** ---- Helpers of the session ---- */\n\nfunction f(a) {}";
    assert_eq!(doc("a.js", section), None);
    let variable = symbol("a.js", "/** Dependencies. @private */\n\nvar f = require('f')", "f");
    assert_eq!(variable.doc, None);
}

#[test]
fn functions_have_signatures_and_parameters() {
    let of = |path, text, name| {
        let found = symbol(path, text, name);
        (found.signature.clone(), parameters(&found).join(", "), found.returns.unwrap_or_default())
    };
    for (path, text, name, signature, parameters, returns) in SIGNATURES {
        let expected = (signature.to_owned(), parameters.to_owned(), returns.to_owned());
        assert_eq!(of(path, text, name), expected, "{path} {name}");
    }
}

#[test]
fn imports_are_paths_with_names() {
    for (path, text, expected) in [
        (
            "src/lib.rs",
            RUST_FILE,
            vec!["std::collections BTreeMap HashMap", "std::fmt Display self", "self::inner"],
        ),
        ("store.py", PYTHON_FILE, vec!["os.path", "typing Optional List"]),
        ("client.ts", TYPESCRIPT_FILE, vec!["./util a b", "fs fs", "path"]),
        ("store.go", GO_FILE, vec!["fmt", "example.com/log log"]),
        ("Shop.java", JAVA_FILE, vec!["java.util List", "java.lang.Math"]),
        ("cart.rb", RUBY_FILE, vec!["json", "./helper"]),
        ("point.h", C_FILE, vec!["stdio.h", "util.h"]),
        ("a.rs", "use a::{b::{C, d::*}, e as f};", vec!["a e", "a::b C", "a::b::d"]),
        ("a.js", "export { x, y as z } from './a.js';", vec!["./a.js x y"]),
    ] {
        assert_eq!(imports(path, text), expected, "{path}");
    }
}

#[test]
fn names_are_used_as_functions_and_types() {
    let calls = |path, text| references(path, text, ReferenceKind::Call);
    let bases = |path, text| references(path, text, ReferenceKind::Implementation);
    assert_eq!(
        calls("src/lib.rs", RUST_FILE),
        ["ok_or", "checked_add", "helper", "log", "Ok", "write_str", "assert_eq", "new", "add"]
    );
    assert_eq!(bases("src/lib.rs", RUST_FILE), ["Display"]);
    assert_eq!(calls("store.py", PYTHON_FILE), ["property", "len", "query", "find", "Store"]);
    assert_eq!(bases("store.py", PYTHON_FILE), ["Base", "ABC"]);
    assert_eq!(calls("client.ts", TYPESCRIPT_FILE), ["require", "fetch", "Client"]);
    assert_eq!(bases("client.ts", TYPESCRIPT_FILE), ["Base", "Emitter", "Sender"]);
    assert_eq!(calls("store.go", GO_FILE), ["lookup", "Sprint"]);
    assert_eq!(bases("store.go", GO_FILE), ["Base"]);
    assert_eq!(calls("Shop.java", JAVA_FILE), ["add", "Cart"]);
    assert_eq!(bases("Shop.java", JAVA_FILE), ["Base", "Store"]);
    assert_eq!(calls("cart.rb", RUBY_FILE), ["require", "require_relative", "save", "Item"]);
    assert_eq!(bases("cart.cpp", CPP_FILE), ["Base"]);
    let within = |name: &str| {
        let outline = outline("src/lib.rs", RUST_FILE);
        let used = outline.references.iter().find(|of| of.name == name).unwrap();
        outline.symbols[used.within.unwrap() as usize].name.clone()
    };
    assert_eq!(within("helper"), "add");
}

#[test]
fn files_say_what_they_are_but_not_whose() {
    let doc = |path, text| outline(path, text).doc;
    assert_eq!(doc("a.rs", "//! A.\n//! B.\n\n//! C.\nfn f() {}"), Some("A.\nB.".to_owned()));
    assert_eq!(doc("a.rs", "// Not documentation.\nfn f() {}"), None);
    assert_eq!(doc("a.py", "#!/usr/bin/env python\n\"\"\"One.\n\n    Two.\n\"\"\"\n"), {
        Some("One.\n\nTwo.".to_owned())
    });
    let licensed = "// Copyright 2020 A\n\n// Package a is good.\npackage a\n";
    assert_eq!(doc("a.go", licensed), Some("Package a is good.".to_owned()));
    let licensed =
        "# Copyright A\n# Use it well,\n# also at night.\n\n# Sends mail.\nrequire 'a'\n";
    assert_eq!(doc("a.rb", licensed), Some("Sends mail.".to_owned()));
    assert_eq!(doc("a.rb", "# Copyright A\n# Use it well.\nrequire 'a'\n"), None);
    assert_eq!(doc("a.js", "/*********\n * ------\n */\nlet a;"), None);
    assert_eq!(doc("a.txt", "text"), None);
}

#[test]
fn languages_are_known_by_name_or_first_line() {
    for (path, text, expected) in [
        ("a/b.RS", "", Some(Language::Rust)),
        ("Rakefile", "", Some(Language::Ruby)),
        ("bin/run", "#!/usr/bin/env python3\n", Some(Language::Python)),
        ("bin/run", "#!/bin/sh\n", None),
        ("a.h", "int f(void);", Some(Language::C)),
        ("a.h", "// class of things\nint f(void);", Some(Language::C)),
        ("a.h", "namespace a {\n}", Some(Language::Cpp)),
        ("a.tsx", "", Some(Language::Tsx)),
        ("README.md", "", None),
        ("", "", None),
    ] {
        assert_eq!(Language::of(path, text), expected, "{path}");
    }
}

#[test]
fn types_of_java_include_dimensions_and_variable_arguments() {
    let text = "class T {\n  int old(int a[], @Nullable List<? super K>... b)[] { return null; }\n  int[] sums(int[]... values) { return null; }\n}\n";
    let old = symbol("T.java", text, "old");
    assert_eq!(parameters(&old), ["a:int[]=", "b:List<? super K>...="]);
    assert_eq!(old.returns.as_deref(), Some("int[]"));
    assert_eq!(parameters(&symbol("T.java", text, "sums")), ["values:int[]...="]);
}

#[test]
fn variable_arguments_of_cpp_have_a_name() {
    let text = "template <class... Ts> void print_all(const Ts&... ts, auto&&... args) {}\n";
    let found = symbol("t.cpp", text, "print_all");
    assert_eq!(parameters(&found), ["ts:const Ts&...=", "args:auto&&...="]);
}
