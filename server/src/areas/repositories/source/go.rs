//! What is particular to Go: receivers, groups of specifications, and names that are public by
//! their first letter.

use tree_sitter::Node;

use super::grammar::{Definition, DocStyle, Place, Rules, no_container};
use super::limits;
use super::model::{Import, ReferenceKind, SymbolKind};
use super::nodes::{Text, first_line, named_children};
use super::parameters::parameters;

pub(super) const RULES: Rules =
    Rules { definition, reference, imports, docs: DocStyle::AnyComment, container: no_container };

fn definition<'t>(
    node: Node<'t>,
    text: &Text<'_>,
    place: &Place<'_, 't>,
) -> Option<Definition<'t>> {
    let kind = match node.kind() {
        "function_declaration" => SymbolKind::Function,
        "method_declaration" | "method_elem" | "method_spec" => SymbolKind::Method,
        "type_spec" | "type_alias" => type_kind(node),
        "const_spec" if !place.in_function => SymbolKind::Constant,
        "var_spec" if !place.in_function => SymbolKind::Variable,
        "field_declaration" if !place.in_function => SymbolKind::Field,
        _ => return None,
    };
    let name = node.child_by_field_name("name")?;
    let mut definition = Definition::new(kind, name, whole(node, place), text);
    definition.body = match kind {
        SymbolKind::Struct | SymbolKind::Interface => {
            node.child_by_field_name("type").and_then(|of| named_children(of).next().or(Some(of)))
        }
        _ => node.child_by_field_name("body"),
    };
    if let Some(list) = node.child_by_field_name("parameters") {
        definition.parameters = parameters(list, text);
    }
    definition.returns =
        node.child_by_field_name("result").map(|of| text.line_of(of, limits::TYPE_BYTES_MAX));
    definition.container = node
        .child_by_field_name("receiver")
        .and_then(|list| named_children(list).next())
        .and_then(|receiver| receiver.child_by_field_name("type"))
        .map(|of| text.type_name(of).to_owned());
    definition.is_public = definition.name.starts_with(char::is_uppercase);
    let is_test_name = ["Test", "Benchmark", "Example", "Fuzz"]
        .iter()
        .any(|beginning| definition.name.starts_with(beginning));
    definition.is_test = place.path.ends_with("_test.go") || (place.in_test && is_test_name);
    Some(definition)
}

fn type_kind(node: Node<'_>) -> SymbolKind {
    match node.child_by_field_name("type").map(|of| of.kind()) {
        Some("struct_type") => SymbolKind::Struct,
        Some("interface_type") => SymbolKind::Interface,
        _ => SymbolKind::TypeAlias,
    }
}

/// Returns the declaration of a single type, constant or variable, with its keyword.
fn whole<'t>(node: Node<'t>, place: &Place<'_, 't>) -> Node<'t> {
    let is_group = |of: &Node<'_>| {
        matches!(of.kind(), "type_declaration" | "const_declaration" | "var_declaration")
    };
    let declaration = place.outer().filter(is_group);
    declaration.filter(|of| of.named_child_count() == 1).unwrap_or(node)
}

fn reference<'t>(
    node: Node<'t>,
    _: &Text<'_>,
    place: &Place<'_, 't>,
) -> Option<(Node<'t>, ReferenceKind)> {
    match node.kind() {
        "call_expression" => {
            let function = node.child_by_field_name("function")?;
            let name = match function.kind() {
                "identifier" => function,
                "selector_expression" => function.child_by_field_name("field")?,
                _ => return None,
            };
            Some((name, ReferenceKind::Call))
        }
        "type_identifier" => {
            let parent = place.outer()?;
            let is_own_name = matches!(parent.kind(), "type_spec" | "type_alias")
                && parent.child_by_field_name("name") == Some(node);
            let is_embedded = parent.kind() == "type_elem"
                || parent.kind() == "field_declaration"
                    && parent.child_by_field_name("name").is_none();
            match (is_own_name, is_embedded) {
                (true, _) => None,
                (false, true) => Some((node, ReferenceKind::Implementation)),
                (false, false) => Some((node, ReferenceKind::Type)),
            }
        }
        _ => None,
    }
}

fn imports(node: Node<'_>, text: &Text<'_>) -> Vec<Import> {
    if node.kind() != "import_spec" {
        return Vec::new();
    }
    let Some(path) = text.field(node, "path") else { return Vec::new() };
    let names = text.field(node, "name").map(str::to_owned).into_iter().collect();
    vec![Import { path: path.trim_matches(['"', '`']).to_owned(), names, line: first_line(node) }]
}
