//! Claims that something is not there, and claims about several things of one name: both are only
//! made if they are true.

use super::fixture::ask;
use crate::areas::repositories::index::Index;
use crate::areas::repositories::wiki::test_index::index_of;

/// Checks that the answer to a question contains some texts and lacks others.
#[track_caller]
fn check(index: &Index, question: &str, contained: &[&str], missing: &[&str]) {
    let answer = ask(index, &[question]);
    for text in contained {
        assert!(answer.text.contains(text), "{question}\n{text}\n{}", answer.text);
    }
    for text in missing {
        assert!(!answer.text.contains(text), "{question}\n{text}\n{}", answer.text);
    }
}

#[test]
fn calls_in_macros_are_calls() {
    let text = "\
pub fn is_open() -> bool { true }
pub fn is_shut() -> bool { false }
pub fn by_name(path: &str) {}

macro_rules! ensure_shut {
    () => { is_shut() };
}

fn check_all(door: u8) {
    assert!(is_open(), \"{}\", door.is_locked());
    walk(by_name);
}
";
    let index = index_of(&[("src/lib.rs", text)]);
    check(
        &index,
        "Who calls is_open?",
        &["is used by `check_all` (src/lib.rs:10) [1]"],
        &["No use"],
    );
    check(&index, "Who calls is_shut?", &["is used by `ensure_shut` (src/lib.rs:6)"], &["No use"]);
    check(
        &index,
        "What does check_all call?",
        &["`is_open` (src/lib.rs:1)", "`is_locked`"],
        &["No calls"],
    );
    // A function that is a value is used, too.
    check(
        &index,
        "Who calls by_name?",
        &["is certain.", "also appears in src/lib.rs:11 as `walk(by_name);`"],
        &[],
    );
}

#[test]
fn what_is_delegated_is_called() {
    let inner = "pub struct Inner;\n\nimpl Inner {\n    pub fn close(&self) {}\n}\n";
    let outer = "use crate::inner::Inner;\n\npub struct Outer {\n    inner: Inner,\n}\n\n\
                 impl Outer {\n    pub fn close(&self) {\n        self.inner.close();\n    }\n}\n";
    let index = index_of(&[("src/inner.rs", inner), ("src/outer.rs", outer)]);
    check(
        &index,
        "What does Outer::close call?",
        &["`Outer::close` calls `Inner::close` (src/inner.rs:4)"],
        &["No calls"],
    );
    check(
        &index,
        "Who calls Inner::close?",
        &["`Inner::close` is used by `Outer::close` (src/outer.rs:9)"],
        &["No use"],
    );
    let python = "class Child:\n    def load(self):\n        return 1\n\n\ndef load(p):\n    \
                  return make().load(p)\n";
    let index = index_of(&[("c.py", python)]);
    check(&index, "Who calls Child.load?", &["is used by `load` (c.py:7)"], &["No other code"]);
}

#[test]
fn a_function_with_a_name_that_is_returned_is_defined() {
    let text = "\
function build (server) {
  return function closeSessions () {
    server.end()
  }
}

function run (server) {
  closeSessions()
}
";
    let index = index_of(&[("lib/server.js", text)]);
    check(
        &index,
        "Where is closeSessions defined?",
        &["`closeSessions` is a function defined in lib/server.js:2"],
        &[],
    );
    check(&index, "What does run call?", &["closeSessions"], &["no definition was found"]);
}

#[test]
fn base_classes_are_references() {
    let text = "\
class Tag:
    pass


class PassTag(Tag):
    def check(self, value):
        return known(value)
";
    let index = index_of(&[("tags.py", text)]);
    check(
        &index,
        "What does PassTag depend on?",
        &[
            "`PassTag` refers to `Tag` (tags.py:1)",
            "It also calls `known`, for which no definition was found in the index",
        ],
        &["No "],
    );
}

#[test]
fn lists_within_an_enum_are_of_one() {
    let index = index_of(&[
        ("src/a.rs", "pub enum Kind {\n    /// A.\n    First,\n    Second,\n}\n"),
        ("src/b.rs", "enum Kind {\n    Third,\n}\n\npub enum Other {\n    Fourth,\n}\n"),
        ("src/c.rs", "fn kind() {}\n"),
    ]);
    check(
        &index,
        "How many variants does Kind have?",
        &[
            "`Kind`, an enum in src/a.rs:1, has these enum variants: `Kind::First` (src/a.rs:3) [1] \
             and `Kind::Second` (src/a.rs:4) [1].",
            "The index has 1 more with the name `Kind`.",
        ],
        &["Third", "Fourth"],
    );
}

#[test]
fn errors_are_those_of_the_function() {
    let python = "\
class SendError(Exception):
    pass


class OtherError(Exception):
    pass


def upload(f):
    if not f:
        raise Empty()
    raise SendError(f)
";
    let index = index_of(&[("c.py", python)]);
    check(
        &index,
        "Which errors can upload raise?",
        &["`upload` names these errors: `Empty` (line 11) [1] and `SendError` (line 12) [1]."],
        &["OtherError"],
    );
}

#[test]
fn types_that_implement_are_those_of_the_blocks() {
    let text = "\
pub trait Resolve {
    type Future;
}

impl<T> Resolve for &mut T
where
    T: Resolve,
{
    type Future = u8;
}

pub struct Ready;

impl std::future::Future for Ready {}

mod tests {
    struct Late<T>(T);

    impl<T> Future for Late<T> {}
}
";
    let index = index_of(&[("src/lib.rs", text)]);
    check(
        &index,
        "Which types implement Future?",
        &["`Future` is not defined in the index; it is implemented or extended by `Ready` \
             (src/lib.rs:14) [1] and `Late<T>` (src/lib.rs:19)"],
        &["Resolve", "`tests`", "alias"],
    );
    check(&index, "Who implements Resolve?", &["by `&mut T` (src/lib.rs:5)"], &["`mut`"]);
}

#[test]
fn extending_has_a_direction() {
    let sansio = "class Scaffold:\n    pass\n\n\nclass Blueprint(Scaffold):\n    pass\n";
    let main = "from .sansio import Blueprint as SansioBlueprint\n\n\n\
                class Blueprint(SansioBlueprint):\n    pass\n";
    let rust = "pub struct Pipe;\n\nimpl Read for Pipe {}\n\nimpl Pipe {}\n";
    let index =
        index_of(&[("app/sansio.py", sansio), ("app/blueprints.py", main), ("src/pipe.rs", rust)]);
    check(
        &index,
        "What does Blueprint extend?",
        &["app/sansio.py:5 [1], implements or extends `Scaffold` (app/sansio.py:5) [1]."],
        &["No "],
    );
    check(
        &index,
        "Who extends Blueprint?",
        &["is implemented or extended by `Blueprint` (app/blueprints.py:4)"],
        &["No "],
    );
    check(
        &index,
        "Which traits does Pipe implement?",
        &[
            "`Pipe`, a struct in src/pipe.rs:1 [2], implements or extends `Read` (src/pipe.rs:3) [1].",
        ],
        &["No "],
    );
    check(&index, "What does Scaffold extend?", &["No type that `Scaffold`"], &[]);
}

#[test]
fn what_is_not_defined_is_said_first() {
    let index = index_of(&[("src/lib.rs", "/// Closes it.\npub fn close_all() {}\n")]);
    let answer = ask(&index, &["What does FooBar do with close_all?"]);
    assert!(
        answer.text.starts_with("`FooBar` is not defined in the index. `close_all` is a function"),
        "{answer:?}"
    );
    assert!(answer.confidence < 0.2 && !answer.references.is_empty(), "{answer:?}");
}

#[test]
fn uses_that_cannot_be_quoted_are_no_lack_of_uses() {
    let long = format!("pub fn solo_fn() {{}}\nfn run() {{ solo_fn({}); }}\n", "1,".repeat(5_000));
    let index = index_of(&[("src/big.rs", &long)]);
    check(
        &index,
        "Who calls solo_fn?",
        &["`solo_fn`, defined in src/big.rs:1 [1], is used in src/big.rs:2, on lines that are too"],
        &["No use", "No other"],
    );
    check(&index, "What does run call?", &[], &["calls nothing"]);
    let secret = "import b\n\nconnect(password=\"hunter2hunter2\", by=b.boot_all)\n";
    let index = index_of(&[("b.py", "def boot_all(x):\n    return x\n"), ("c.py", secret)]);
    check(
        &index,
        "Who calls boot_all?",
        &["The name `boot_all` also appears on lines that are not quoted.", "hold a secret"],
        &["No other code", "hunter2"],
    );
    let shell = "#!/bin/sh\npython -c \"import b; b.quiet(1)\"\n";
    let index = index_of(&[("b.py", "def quiet(x):\n    return x\n"), ("run.sh", shell)]);
    check(
        &index,
        "Who calls quiet?",
        &["No other code with the name `quiet` was found in the files whose language is"],
        &[],
    );
}

#[test]
fn types_depend_on_types() {
    let index = index_of(&[("src/lib.rs", "pub struct Empty;\n")]);
    check(
        &index,
        "What does Empty depend on?",
        &["`Empty`, a struct in src/lib.rs:1 [1], names no other type of the index"],
        &["No calls"],
    );
}

#[test]
fn attributes_call_nothing() {
    let text = "\
pub fn any(x: u8) -> bool { true }
pub fn with(a: u8) {}

#[cfg(any(unix, windows))]
fn guarded() {}

#[serde(with(a), rename(b))]
pub struct Empty;
";
    let index = index_of(&[("src/lib.rs", text)]);
    for name in ["any", "with"] {
        let question = format!("Who calls `{name}`?");
        check(&index, &question, &["is certain"], &["is used by"]);
    }
}

#[test]
fn derived_traits_are_implemented() {
    let text = "#[derive(Debug, Clone)]\npub struct Pipe;\n\nimpl Read for Pipe {}\n\n\
                /// Doc.\n#[derive(\n    serde::Serialize, // For files.\n    Eq,\n)]\n\
                pub struct Long;\n";
    let index = index_of(&[("src/lib.rs", text)]);
    check(
        &index,
        "Which traits does Pipe implement?",
        &["`Debug` (src/lib.rs:1) [1], `Clone` (src/lib.rs:1) [1] and `Read` (src/lib.rs:4)"],
        &[],
    );
    check(
        &index,
        "Which traits does Long implement?",
        &["`Serialize` (src/lib.rs:8) [1] and `Eq` (src/lib.rs:9)"],
        &["For files"],
    );
}

#[test]
fn implementors_are_types() {
    let text = "pub trait Shout {}\npub struct Bar;\nimpl Shout for Bar // kept for tests\n{}\n\
                pub struct Arr<const N: usize>;\nimpl Shout for Arr<{ 1 + 2 }> {}\n";
    let index = index_of(&[("src/lib.rs", text)]);
    check(
        &index,
        "Who implements Shout?",
        &["by `Bar` (src/lib.rs:3) [1] and `Arr<{ 1 + 2 }>` (src/lib.rs:6)"],
        &["`tests`", "`Arr<`"],
    );
}

#[test]
fn counts_of_what_was_cut_are_at_least() {
    let files: Vec<(String, String)> = (0..100)
        .map(|n| (format!("src/m{n}.rs"), format!("pub enum Kind {{\n    A{n},\n}}\n")))
        .collect();
    let files: Vec<(&str, &str)> =
        files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let question = "How many variants does Kind have?";
    check(&index_of(&files), question, &["The index has at least 63 more with the name"], &[]);
    let variants: String = (0..25_000).map(|n| format!("    V{n},\n")).collect();
    let cut = format!("pub enum Kind {{\n{variants}}}\n");
    let index = index_of(&[("src/lib.rs", &cut)]);
    check(&index, question, &["has at least 19999 enum variants, among them"], &[]);
}

#[test]
fn released_things_are_not_versions() {
    let text = "/// Slot 2 is released when its permit is dropped.\npub fn drop_slot() {}\n";
    let index = index_of(&[("src/lib.rs", text), ("README.md", "# Slots\n\nKeeps slots.\n")]);
    check(&index, "When is slot 2 released?", &["“Slot 2 is released when"], &[]);
    check(&index, "When is drop_slot 1.0 released?", &["drop_slot"], &["No supporting"]);
    check(&index, "When was slots 1.0 released?", &["No supporting code"], &[]);
}

#[test]
fn the_end_of_a_file_ends_a_statement() {
    let index = index_of(&[("last.py", "value_of = 1\nknown(unknown_thing=[")]);
    check(&index, "What is unknown_thing?", &["last.py:2 as `known(unknown_thing=[` [1]"], &[]);
}
