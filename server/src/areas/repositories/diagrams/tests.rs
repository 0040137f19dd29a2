//! What is drawn. That the texts are Mermaid's language is verified with Mermaid itself, outside of
//! these tests; here it is verified that no name reaches the syntax.

use std::collections::HashSet;

use super::draw::{DiagramKind, diagrams};
use super::limits::{CLASS_DIAGRAMS_MAX, EDGES_MAX, NODES_MAX};
use super::mermaid::label;
use crate::areas::repositories::wiki::test_index::index_of;

#[test]
fn modules_and_types_are_drawn() {
    let index = index_of(&[
        (
            "src/main.rs",
            "mod shapes;\nuse crate::shapes::Square;\nfn main() {\n    Square::build();\n}\n",
        ),
        (
            "src/shapes.rs",
            "pub trait Shape {}\npub struct Side {\n    pub length: u32,\n}\npub struct Square {\n    pub side: Side,\n}\nimpl Shape for Square {}\nimpl Square {\n    pub fn build() {}\n}\n",
        ),
    ]);
    let drawn = diagrams(&index).unwrap();
    let [modules, types] = drawn.as_slice() else { panic!("{drawn:?}") };
    assert_eq!((modules.slug.as_str(), modules.kind), ("modules", DiagramKind::ModuleGraph));
    assert_eq!(
        modules.mermaid,
        "flowchart LR\n  n1[\"src/main.rs\"]\n  n2[\"src/shapes.rs\"]\n  n1 --> n2\n"
    );
    assert_eq!(
        (types.slug.as_str(), types.kind),
        ("types-src-shapes-rs", DiagramKind::ClassDiagram)
    );
    let expected = "classDiagram\n  class c1[\"Shape\"]\n  <<trait>> c1\n  class c2[\"Side\"]\n  c2 : length\n  class c3[\"Square\"]\n  c3 : side\n  c3 : build#40;#41;\n  c1 <|.. c3\n  c3 *-- c2\n";
    assert_eq!(types.mermaid, expected);
    assert_eq!(drawn, diagrams(&index).unwrap());
}

#[test]
fn labels_have_no_syntax() {
    for (text, expected) in [
        ("src/store.rs", "src/store.rs"),
        ("a\"b`c", "a#34;b#96;c"),
        ("<b>#1;", "#60;b#62;#35;1#59;"),
        ("%%{init}%%", "#37;#37;#123;init#125;#37;#37;"),
        ("日本 é", "日本 é"),
        ("a\n  end\nb", "a end b"),
        ("\u{202e}x", "x"),
        ("", "#63;"),
    ] {
        assert_eq!(label(text), expected);
    }
    assert!(label(&"x".repeat(500)).chars().count() <= 61);
}

#[test]
fn diagrams_are_bounded() {
    let mut files: Vec<(String, String)> = Vec::new();
    for number in 0..90 {
        let imports: String =
            (0..90).map(|other| format!("from m{other}.x import f{other}\n")).collect();
        let types: String = (0..60)
            .map(|kind| format!("class C{kind}(D{kind}): pass\nclass D{kind}: pass\n"))
            .collect();
        files.push((format!("m{number}/x.py"), format!("{imports}def f{number}(): pass\n{types}")));
    }
    let files: Vec<(&str, &str)> =
        files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let drawn = diagrams(&index_of(&files)).unwrap();
    let graph = drawn.iter().find(|found| found.kind == DiagramKind::ModuleGraph).unwrap();
    assert!(graph.mermaid.matches('[').count() <= NODES_MAX);
    assert!(graph.mermaid.matches("-->").count() <= EDGES_MAX);
    let classes: Vec<_> =
        drawn.iter().filter(|found| found.kind == DiagramKind::ClassDiagram).collect();
    assert_eq!(classes.len(), CLASS_DIAGRAMS_MAX);
    assert!(classes.iter().all(|found| found.mermaid.matches("class c").count() <= 24));
    assert_eq!(drawn.iter().map(|found| &found.slug).collect::<HashSet<_>>().len(), drawn.len());
}

/// Hostile names. `HOSTILE_DIAGRAMS` in the output is JSON for `check_mermaid.mjs`.
#[test]
fn hostile_names_do_not_reach_the_syntax() {
    let names = [
        "end",
        "a\"b",
        "`x`",
        "<img onerror=1>",
        "%%{init: {}}%%",
        "graph",
        "subgraph",
        "click",
        "style n1 fill:#f00;",
        "日本",
        "x]-->y[",
        "#quot;",
        "\u{202e}evil",
        "href:javascript:1",
        "classDef a fill:#f;",
        "direction TB",
        "{{",
        "~T~",
        "<<interface>>",
        "note for c1 \"x\"",
    ];
    let mut files: Vec<(String, String)> = Vec::new();
    for name in names {
        files.push((format!("{name}/{name}.py"), "class end(graph): pass\nclass graph: pass\nclass 日本(end):\n    def style(self): pass\n".to_owned()));
        files.push((format!("{name}-ts/b.ts"), "class end { subgraph: class_; \"a`<b>]\": string; note(): void {} }\nclass class_ {}\n".to_owned()));
    }
    let files: Vec<(&str, &str)> =
        files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let drawn = diagrams(&index_of(&files)).unwrap();
    let json: Vec<_> = drawn
        .iter()
        .map(|found| serde_json::json!({"slug": found.slug, "mermaid": found.mermaid}))
        .collect();
    println!("HOSTILE_DIAGRAMS {}", serde_json::Value::Array(json));
    for line in drawn.iter().flat_map(|found| found.mermaid.lines()) {
        let is_syntax = ["flowchart LR", "classDiagram", "  <<", "  n", "  c"]
            .iter()
            .any(|start| line.starts_with(start));
        assert!(is_syntax, "{line}");
        let label = line.split_once("[\"").and_then(|(_, label)| label.strip_suffix("\"]"));
        if let Some(label) = label {
            assert!(!label.contains(['"', '`', '<', '%', '[', '{']), "{line}");
        }
    }
}
