//! What is particular to Ruby: `private` as a word before methods, and `new` as a call of a
//! class.

use tree_sitter::Node;

use super::grammar::{Definition, DocStyle, Place, Rules, no_container};
use super::model::{Import, ReferenceKind, SymbolKind};
use super::nodes::{Text, child_of_kind, first_line, named_children};
use super::parameters::parameters;

pub(super) const RULES: Rules =
    Rules { definition, reference, imports, docs: DocStyle::AnyComment, container: no_container };

fn definition<'t>(
    node: Node<'t>,
    text: &Text<'_>,
    place: &Place<'_, 't>,
) -> Option<Definition<'t>> {
    let is_in_type = matches!(place.parent, Some(SymbolKind::Class | SymbolKind::Module));
    let kind = match node.kind() {
        "method" if is_in_type => SymbolKind::Method,
        "singleton_method" => SymbolKind::Method,
        "method" => SymbolKind::Function,
        "class" => SymbolKind::Class,
        "module" => SymbolKind::Module,
        "assignment" if !place.in_function => return constant(node, text),
        _ => return None,
    };
    let name = node.child_by_field_name("name")?;
    let name_node = last_constant(name);
    let mut definition = Definition::new(kind, name_node, node, text);
    definition.body = node.child_by_field_name("body");
    if let Some(list) = node.child_by_field_name("parameters") {
        definition.parameters = parameters(list, text);
    }
    definition.is_public = !is_private(text, place) && !definition.name.starts_with('_');
    definition.is_test = definition.name.starts_with("test_");
    Some(definition)
}

fn constant<'t>(node: Node<'t>, text: &Text<'_>) -> Option<Definition<'t>> {
    let name = node.child_by_field_name("left").filter(|left| left.kind() == "constant")?;
    Some(Definition::new(SymbolKind::Constant, name, node, text))
}

/// Returns the last name of `A::B`.
fn last_constant(name: Node<'_>) -> Node<'_> {
    match name.kind() {
        "scope_resolution" => name.child_by_field_name("name").unwrap_or(name),
        _ => name,
    }
}

/// Returns whether a method follows `private`, or is its argument.
fn is_private(text: &Text<'_>, place: &Place<'_, '_>) -> bool {
    let is_word = |of: Node<'_>| matches!(text.of(of), "private" | "protected");
    let call = place.outer_of_kind("argument_list").and(place.outer_of_outer());
    let is_argument = call.and_then(|call| call.child_by_field_name("method")).is_some_and(is_word);
    is_argument || place.marker.is_some_and(is_word)
}

fn reference<'t>(
    node: Node<'t>,
    text: &Text<'_>,
    place: &Place<'_, 't>,
) -> Option<(Node<'t>, ReferenceKind)> {
    match node.kind() {
        "call" => {
            let method = node.child_by_field_name("method")?;
            // `A.new` creates an A.
            let created = node.child_by_field_name("receiver").map(last_constant);
            match created.filter(|of| of.kind() == "constant" && text.of(method) == "new") {
                Some(class) => Some((class, ReferenceKind::Call)),
                None => Some((method, ReferenceKind::Call)),
            }
        }
        "superclass" => Some((last_constant(node.named_child(0)?), ReferenceKind::Implementation)),
        "constant" => {
            let parent = place.outer()?;
            let is_own_name = matches!(parent.kind(), "class" | "module")
                && parent.child_by_field_name("name") == Some(node);
            let is_other = is_own_name
                || parent.kind() == "superclass"
                || parent.kind() == "assignment"
                    && parent.child_by_field_name("left") == Some(node);
            if is_other { None } else { Some((node, ReferenceKind::Type)) }
        }
        _ => None,
    }
}

fn imports(node: Node<'_>, text: &Text<'_>) -> Vec<Import> {
    let is_require = node.kind() == "call"
        && node.child_by_field_name("receiver").is_none()
        && matches!(text.field(node, "method"), Some("require" | "require_relative" | "load"));
    if !is_require {
        return Vec::new();
    }
    let argument = node
        .child_by_field_name("arguments")
        .and_then(|list| named_children(list).next())
        .filter(|of| of.kind() == "string")
        .and_then(|string| child_of_kind(string, "string_content"));
    let Some(path) = argument.map(|of| text.of(of)) else { return Vec::new() };
    let is_relative = text.field(node, "method") == Some("require_relative");
    let path = match is_relative && !path.starts_with('.') {
        true => format!("./{path}"),
        false => path.to_owned(),
    };
    vec![Import { path, names: Vec::new(), line: first_line(node) }]
}
