//! What is particular to Python: docstrings, decorators, and names that are private by an
//! underscore.

use tree_sitter::Node;

use super::grammar::{Definition, DocStyle, Place, Rules, no_container};
use super::limits;
use super::model::{Import, ReferenceKind, SymbolKind};
use super::nodes::{Text, first_line, named_children};
use super::parameters::parameters;

pub(super) const RULES: Rules =
    Rules { definition, reference, imports, docs: DocStyle::Docstring, container: no_container };

fn definition<'t>(
    node: Node<'t>,
    text: &Text<'_>,
    place: &Place<'_, 't>,
) -> Option<Definition<'t>> {
    let is_in_class = place.parent == Some(SymbolKind::Class);
    match node.kind() {
        "function_definition" | "class_definition" => {
            let kind = match (node.kind(), is_in_class) {
                ("class_definition", _) => SymbolKind::Class,
                (_, true) => SymbolKind::Method,
                _ => SymbolKind::Function,
            };
            let decorated = place.outer_of_kind("decorated_definition");
            let name = node.child_by_field_name("name")?;
            let mut definition = Definition::new(kind, name, decorated.unwrap_or(node), text);
            definition.body = node.child_by_field_name("body");
            if let Some(list) = node.child_by_field_name("parameters") {
                definition.parameters = parameters(list, text);
            }
            definition.returns = node
                .child_by_field_name("return_type")
                .map(|of| text.line_of(of, limits::TYPE_BYTES_MAX));
            definition.is_public = is_public(&definition.name);
            definition.is_test = is_test(&definition.name, kind);
            Some(definition)
        }
        "assignment" if !place.in_function => variable(node, text, place),
        _ => None,
    }
}

fn variable<'t>(node: Node<'t>, text: &Text<'_>, place: &Place<'_, 't>) -> Option<Definition<'t>> {
    let is_in_class = place.parent == Some(SymbolKind::Class);
    let left = node.child_by_field_name("left").filter(|left| left.kind() == "identifier")?;
    // Not one within a condition or a loop, which is seldom a definition.
    let statement = place.outer_of_kind("expression_statement")?;
    place.outer_of_outer().filter(|of| matches!(of.kind(), "module" | "block"))?;
    let name = text.of(left);
    let is_constant = name.chars().all(|char| !char.is_lowercase());
    let kind = match (is_constant, is_in_class) {
        (true, _) => SymbolKind::Constant,
        (false, true) => SymbolKind::Field,
        (false, false) => SymbolKind::Variable,
    };
    let mut definition = Definition::new(kind, left, statement, text);
    definition.is_public = is_public(name);
    Some(definition)
}

/// Names with one underscore at their beginning are not; those of the language are.
fn is_public(name: &str) -> bool {
    !name.starts_with('_') || name.starts_with("__") && name.ends_with("__")
}

fn is_test(name: &str, kind: SymbolKind) -> bool {
    match kind {
        SymbolKind::Class => name.starts_with("Test") || name.ends_with("TestCase"),
        _ => name.starts_with("test_"),
    }
}

fn reference<'t>(
    node: Node<'t>,
    _: &Text<'_>,
    place: &Place<'_, 't>,
) -> Option<(Node<'t>, ReferenceKind)> {
    match node.kind() {
        "call" => Some((last_name(node.child_by_field_name("function")?)?, ReferenceKind::Call)),
        "decorator" => Some((last_name(node.named_child(0)?)?, ReferenceKind::Call)),
        "identifier" | "attribute" => {
            let parent = place.outer()?;
            match parent.kind() {
                "type" => Some((last_name(node)?, ReferenceKind::Type)),
                "argument_list" => {
                    let class =
                        place.outer_of_outer().filter(|of| of.kind() == "class_definition")?;
                    let is_base = class.child_by_field_name("superclasses") == Some(parent);
                    let name = last_name(node)?;
                    is_base.then_some((name, ReferenceKind::Implementation))
                }
                _ => None,
            }
        }
        _ => None,
    }
}

fn last_name(node: Node<'_>) -> Option<Node<'_>> {
    match node.kind() {
        "identifier" => Some(node),
        "attribute" => node.child_by_field_name("attribute"),
        _ => None,
    }
}

fn imports(node: Node<'_>, text: &Text<'_>) -> Vec<Import> {
    let line = first_line(node);
    let plain = |node: Node<'_>| match node.kind() {
        "aliased_import" => text.field(node, "name").unwrap_or_default().to_owned(),
        _ => text.of(node).to_owned(),
    };
    match node.kind() {
        "import_statement" => named_children(node)
            .filter(|child| matches!(child.kind(), "dotted_name" | "aliased_import"))
            .map(|child| Import { path: plain(child), names: Vec::new(), line })
            .collect(),
        "import_from_statement" => {
            let Some(module) = node.child_by_field_name("module_name") else { return Vec::new() };
            let names = named_children(node)
                .filter(|child| *child != module)
                .filter(|child| matches!(child.kind(), "dotted_name" | "aliased_import"))
                .take(limits::IMPORTED_NAMES_MAX)
                .map(plain)
                .collect();
            vec![Import { path: text.of(module).to_owned(), names, line }]
        }
        _ => Vec::new(),
    }
}
