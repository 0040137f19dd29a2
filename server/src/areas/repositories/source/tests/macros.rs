//! Items in macros, and documentation with remarks below it.

use crate::areas::repositories::source::{FileOutline, outline};

const MACROS: &str = r#"//! Tasks.

cfg_rt! {
    /// Runs a function on a thread for blocking work.
    #[track_caller]
    pub fn spawn_blocking<F>(run: F) -> JoinHandle {
        pool::start(run)
    }

    cfg_unstable! {
        /// Names tasks.
        pub struct Builder;
    }
}

impl Builder {
    cfg_rt! {
        /// Spawns a task.
        pub fn spawn(&self) {}
    }
}

bitflags! {
    pub struct Flags: u32 { const A = 1; }
}

fn after() {
    thread_local! { static INNER: u8 = 1; }
}
"#;

fn symbols(found: &FileOutline) -> Vec<String> {
    let symbols = found.symbols.iter();
    symbols
        .map(|symbol| {
            let container = symbol.container.as_deref().unwrap_or_default();
            let doc = symbol.doc.as_deref().unwrap_or_default();
            let kind = symbol.kind.name();
            let (name, lines, line) = (&symbol.name, symbol.lines, symbol.name_line);
            format!("{kind} {container}.{name} {lines:?}@{line} {doc}")
        })
        .collect()
}

#[test]
fn items_in_macros_are_symbols() {
    let found = outline("src/task.rs", MACROS);
    assert_eq!(
        symbols(&found),
        [
            "function .spawn_blocking 4-8@6 Runs a function on a thread for blocking work.",
            "struct .Builder 11-12@12 Names tasks.",
            "method Builder.spawn 18-19@19 Spawns a task.",
            "function .after 27-29@27 ",
        ]
    );
    assert!(found.is_complete && found.symbols.iter().take(3).all(|symbol| symbol.is_public));
    let call = found.references.iter().find(|used| used.name == "start").unwrap();
    assert_eq!((call.line, call.within), (7, Some(0)));
    assert!(found.references.iter().any(|used| used.name == "cfg_unstable"));
}

#[test]
fn macros_in_macros_are_bounded() {
    let text = format!("{}fn f() {{}}{}", "m! { ".repeat(3_000), " }".repeat(3_000));
    assert!(outline("src/a.rs", &text).symbols.is_empty());
    assert_eq!(outline("src/a.rs", "m! {}\nm! { }\nm!();\nm! {").symbols, []);
}

#[test]
fn remarks_and_attributes_are_below_documentation() {
    let text = "\
/// Wakes one waiter.
///
/// If no one waits, the next one does not wait.
// Alias for the old name.
#[cfg_attr(docsrs, doc(alias = \"notify\"))]
pub fn notify_one() {}

// A remark.
pub fn without_doc() {}

/// Doc.

// Apart.
pub fn apart() {}
";
    let found = outline("src/notify.rs", text);
    let first = found.symbols.first().unwrap();
    assert_eq!(
        first.doc.as_deref(),
        Some("Wakes one waiter.\n\nIf no one waits, the next one does not wait.")
    );
    assert_eq!(format!("{:?}", first.lines), "1-6");
    assert!(found.symbols.iter().skip(1).all(|symbol| symbol.doc.is_none()));
    assert_eq!(format!("{:?}", found.symbols.get(1).unwrap().lines), "9-9");
}

#[test]
fn comments_and_patterns_in_macros_call_nothing() {
    let text = "\
dsl! { rename (a) => b; // with(x)
 #[cfg(any(unix))] keep (1) /* also(2) */ call(3) }
macro_rules! methods { ($x:ident name(y)) => { $x(1); made(2) }; }
#[cfg(not(test))]
fn f() {}
";
    let found = outline("src/a.rs", text);
    let names: Vec<&str> = found.references.iter().map(|used| used.name.as_str()).collect();
    assert_eq!(names, ["dsl", "call", "made"]);
}
