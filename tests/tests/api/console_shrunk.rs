//! What releases ship of the scripts of the console does the same as the scripts.

use std::path::Path;

use serde_json::{Value, json};
use telltale_tests::{folder, node};

#[path = "../../../server/build/shrink.rs"]
mod shrink;

const SCRIPT: &str = include_str!("console_shrunk.js");
const SOURCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../server/console/js");

/// Writes what is shipped of the scripts in a folder, and returns their number.
#[track_caller]
fn ship(from: &Path, to: &Path) -> usize {
    let mut scripts = 0;
    let made = std::fs::create_dir_all(to);
    assert!(made.is_ok(), "cannot make {}", to.display());
    for entry in std::fs::read_dir(from).into_iter().flatten().flatten() {
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            scripts += ship(&path, &target);
        } else if path.extension().is_some_and(|kind| kind == "js") {
            let source = std::fs::read_to_string(&path).unwrap_or_default();
            let short = shrink::script(&source);
            assert!(short.len() < source.len(), "{} is not shortened", path.display());
            let written = std::fs::write(&target, short);
            assert!(written.is_ok(), "cannot write {}", target.display());
            scripts += 1;
        }
    }
    scripts
}

#[test]
fn what_is_shipped_of_a_script_has_the_same_syntax_tree() {
    let folder = folder();
    let scripts = ship(Path::new(SOURCES), folder.path());
    assert!(scripts > 200, "{scripts}");
    let shipped = folder.path().to_string_lossy();
    let printed = node(&["typescript@5.9.3"], SCRIPT, [SOURCES, &shipped]);
    let found: Value = serde_json::from_str(&printed).unwrap_or_default();
    assert_eq!(found, json!([scripts, []]));
}

#[test]
fn comments_and_white_space_are_left_out_where_they_mean_nothing() {
    for (source, expected) in [
        ("// Owns a.\n\nlet a = 1; // one\nlet b;\n", "let a=1;let b;"),
        ("a = b /* c */ + /** d */ e;\n", "a=b + e;"),
        ("return a\n  // b\n  + c;", "return a\n+ c;"),
        ("a\n/* b\n */\nc\n", "a\nc\n"),
        ("x = a / b; y = /\\/[/*]/.test(c) / 2;", "x=a / b;y=/\\/[/*]/.test(c)/ 2;"),
        (
            "s = '// no' + \"/* no */\" + `// no ${ /* yes */ d } // no`;",
            "s='// no' +\"/* no */\"+`// no ${d} // no`;",
        ),
        ("t = `a\n   b`;\n", "t=`a\n   b`;"),
        ("t = html`<p\n   a=${ `x\n   y` }>`;\n", "t=html`<p\na=${`x\n   y`}>`;"),
        ("a = b + +c - -d;", "a=b + +c - -d;"),
        ("a = i++ / 2 + max_in / $of / 3;", "a=i++ / 2 + max_in / $of / 3;"),
        ("if (a) {\n  b();\n}\nc();\n", "if(a){b();}\nc();"),
    ] {
        assert_eq!(shrink::script(source), expected, "{source}");
    }
    // What it does not understand stays as it is.
    for source in ["let a = `b;\n", "let a = 'b\n';\n", "/* a\n", "}\n"] {
        assert_eq!(shrink::script(source), source);
    }
    let sheet = "/* Owns a. */\n.a { b: c; }\n\n  .d > e {\n    f: g; /* h */\n  }\n";
    assert_eq!(shrink::style_sheet(sheet), ".a{b:c;}.d > e{f:g;}");
    for (sheet, expected) in [
        (".a { b: \"/*\"; }\n/* c */\n.d { e: f; }\n", ".a{b:\"/*\";}.d{e:f;}"),
        ("a { b: 'it\\'s /*'; c: url(d/*e) }/* f */\n", "a{b:'it\\'s /*';c:url(d/*e)}"),
        ("a { b: 1px/**/2px }\n", "a{b:1px 2px}"),
        ("a :hover, b:not( .c ) { d: ' { e: ' f }", "a :hover,b:not( .c ){d:' { e: ' f}"),
        (
            "@media (a: 1px) and (b: 2px) {\n  u { v: calc(1px + 2px) !important; }\n}",
            "@media (a:1px) and (b:2px){u{v:calc(1px + 2px) !important;}}",
        ),
    ] {
        assert_eq!(shrink::style_sheet(sheet), expected);
    }
    let picture = "<svg>\n<!-- a -->\n<path d=\"m1 2\" />\n</svg>\n";
    assert_eq!(shrink::picture(picture), "<svg>\n<path d=\"m1 2\" />\n</svg>\n");
    assert_eq!(shrink::picture("<svg><!-- a"), "<svg><!-- a");
    for sheet in ["/* a\n", "  a { b: 'c\\\n  d' }\n", "  a { b: \"c }\n"] {
        assert_eq!(shrink::style_sheet(sheet), sheet);
    }
}
