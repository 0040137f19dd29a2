//! What is particular to Java: modifiers, members of interfaces, records and enumerations.

use tree_sitter::Node;

use super::grammar::{Definition, DocStyle, Place, Rules, no_container};
use super::limits;
use super::model::{Import, ReferenceKind, SymbolKind};
use super::nodes::{Text, child_of_kind, first_line, one_line};
use super::parameters::parameters;

pub(super) const RULES: Rules =
    Rules { definition, reference, imports, docs: DocStyle::AnyComment, container: no_container };

fn definition<'t>(
    node: Node<'t>,
    text: &Text<'_>,
    place: &Place<'_, 't>,
) -> Option<Definition<'t>> {
    let kind = match node.kind() {
        "class_declaration" => SymbolKind::Class,
        "record_declaration" => SymbolKind::Struct,
        "interface_declaration" | "annotation_type_declaration" => SymbolKind::Interface,
        "enum_declaration" => SymbolKind::Enum,
        "enum_constant" => SymbolKind::Variant,
        "method_declaration"
        | "constructor_declaration"
        | "annotation_type_element_declaration" => SymbolKind::Method,
        "variable_declarator" => return field(node, text, place),
        _ => return None,
    };
    let name = node.child_by_field_name("name")?;
    let mut definition = Definition::new(kind, name, node, text);
    definition.body = node.child_by_field_name("body");
    if let Some(list) = node.child_by_field_name("parameters") {
        definition.parameters = parameters(list, text);
    }
    definition.returns =
        node.child_by_field_name("type").filter(|_| kind == SymbolKind::Method).map(|of| {
            // `int old()[]` returns `int[]`.
            let dimensions = text.field(node, "dimensions").unwrap_or_default();
            one_line(&format!("{}{dimensions}", text.of(of)), limits::TYPE_BYTES_MAX)
        });
    let modifiers = child_of_kind(node, "modifiers").map_or("", |of| text.of(of));
    definition.is_public = kind == SymbolKind::Variant || is_public(modifiers, place);
    definition.is_test = modifiers.contains("@Test") || modifiers.contains("@ParameterizedTest");
    Some(definition)
}

fn field<'t>(node: Node<'t>, text: &Text<'_>, place: &Place<'_, 't>) -> Option<Definition<'t>> {
    let declaration = place.outer();
    let declaration = declaration
        .filter(|of| matches!(of.kind(), "field_declaration" | "constant_declaration"))?;
    let modifiers = child_of_kind(declaration, "modifiers").map_or("", |of| text.of(of));
    let is_constant = modifiers.contains("static") && modifiers.contains("final")
        || declaration.kind() == "constant_declaration";
    let kind = if is_constant { SymbolKind::Constant } else { SymbolKind::Field };
    let name = node.child_by_field_name("name")?;
    let mut definition = Definition::new(kind, name, declaration, text);
    definition.is_public = is_public(modifiers, place);
    Some(definition)
}

/// Members of interfaces and of enumerations are as public as these.
fn is_public(modifiers: &str, place: &Place<'_, '_>) -> bool {
    let is_word = |word: &str| modifiers.split_whitespace().any(|of| of == word);
    is_word("public") || matches!(place.parent, Some(SymbolKind::Interface)) && !is_word("private")
}

fn reference<'t>(
    node: Node<'t>,
    _: &Text<'_>,
    place: &Place<'_, 't>,
) -> Option<(Node<'t>, ReferenceKind)> {
    match node.kind() {
        "method_invocation" => Some((node.child_by_field_name("name")?, ReferenceKind::Call)),
        "object_creation_expression" => {
            let of = node.child_by_field_name("type")?;
            let name = match of.kind() {
                "type_identifier" => of,
                "generic_type" => child_of_kind(of, "type_identifier")?,
                _ => return None,
            };
            Some((name, ReferenceKind::Call))
        }
        "type_identifier" => {
            let parent = place.outer()?;
            let outer = match parent.kind() {
                "generic_type" | "type_list" => place.outer_of_outer()?,
                _ => parent,
            };
            let is_base = matches!(
                outer.kind(),
                "superclass" | "super_interfaces" | "extends_interfaces" | "type_list"
            );
            let is_created = outer.kind() == "object_creation_expression";
            match (is_base, is_created) {
                (true, _) => Some((node, ReferenceKind::Implementation)),
                (_, true) => None,
                _ => Some((node, ReferenceKind::Type)),
            }
        }
        _ => None,
    }
}

fn imports(node: Node<'_>, text: &Text<'_>) -> Vec<Import> {
    if node.kind() != "import_declaration" {
        return Vec::new();
    }
    let path = text.of(node).trim_start_matches("import").trim_start();
    let path = path.trim_start_matches("static ").trim_end_matches(';').trim();
    let path = path.split_whitespace().collect::<String>();
    let (package, name) = match path.rsplit_once('.') {
        Some((package, "*")) => (package.to_owned(), None),
        Some((package, name)) => (package.to_owned(), Some(name.to_owned())),
        None => (path, None),
    };
    vec![Import { path: package, names: name.into_iter().collect(), line: first_line(node) }]
}
