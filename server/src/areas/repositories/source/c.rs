//! What is particular to C and C++: declarators, `typedef`, prototypes, qualified names and
//! access specifiers.

use tree_sitter::Node;

use super::grammar::{Definition, DocStyle, Place, Rules};
use super::limits;
use super::model::{Import, ReferenceKind, SymbolKind};
use super::nodes::{Text, child_of_kind, first_line, has_word, named_children, one_line};
use super::parameters::parameters;

pub(super) const RULES: Rules =
    Rules { definition, reference, imports, docs: DocStyle::AnyComment, container };

fn definition<'t>(
    node: Node<'t>,
    text: &Text<'_>,
    place: &Place<'_, 't>,
) -> Option<Definition<'t>> {
    match node.kind() {
        "function_definition" => function(node, node.child_by_field_name("body"), text, place),
        "declaration" if !place.in_function => declaration(node, text, place),
        "field_declaration" => member(node, text, place),
        "type_definition" => typedef(node, text),
        "enumerator" => named(SymbolKind::Variant, node, text),
        "preproc_def" | "preproc_function_def" => macro_definition(node, text),
        "namespace_definition" => named(SymbolKind::Module, node, text),
        "alias_declaration" | "concept_definition" => named(SymbolKind::TypeAlias, node, text),
        "struct_specifier" => with_body(SymbolKind::Struct, node, text, place),
        "union_specifier" => with_body(SymbolKind::Union, node, text, place),
        "enum_specifier" => with_body(SymbolKind::Enum, node, text, place),
        "class_specifier" => with_body(SymbolKind::Class, node, text, place),
        _ => None,
    }
}

fn named<'t>(kind: SymbolKind, node: Node<'t>, text: &Text<'_>) -> Option<Definition<'t>> {
    let name = node.child_by_field_name("name")?;
    let mut definition = Definition::new(kind, name, node, text);
    definition.body = node.child_by_field_name("body");
    Some(definition)
}

/// A type that is defined here, not only named.
fn with_body<'t>(
    kind: SymbolKind,
    node: Node<'t>,
    text: &Text<'_>,
    place: &Place<'_, 't>,
) -> Option<Definition<'t>> {
    let body = node.child_by_field_name("body")?;
    let name = node.child_by_field_name("name")?;
    let mut definition = Definition::new(kind, name, templated(node, place), text);
    definition.name = text.type_name(name).to_owned();
    definition.body = Some(body);
    Some(definition)
}

fn macro_definition<'t>(node: Node<'t>, text: &Text<'_>) -> Option<Definition<'t>> {
    let mut definition = named(SymbolKind::Macro, node, text)?;
    definition.body = node.child_by_field_name("value");
    if let Some(list) = node.child_by_field_name("parameters") {
        definition.parameters = parameters(list, text);
    }
    Some(definition)
}

/// `typedef struct { … } name;` and other names of types.
fn typedef<'t>(node: Node<'t>, text: &Text<'_>) -> Option<Definition<'t>> {
    let name = innermost(node.child_by_field_name("declarator")?)?;
    let of = node.child_by_field_name("type")?;
    let has_name = of.child_by_field_name("name").is_some();
    let body = of.child_by_field_name("body");
    let kind = match (of.kind(), body.is_some() && !has_name) {
        ("struct_specifier", true) => SymbolKind::Struct,
        ("union_specifier", true) => SymbolKind::Union,
        ("enum_specifier", true) => SymbolKind::Enum,
        _ => SymbolKind::TypeAlias,
    };
    let mut definition = Definition::new(kind, name, node, text);
    definition.body = body;
    Some(definition)
}

fn function<'t>(
    node: Node<'t>,
    body: Option<Node<'t>>,
    text: &Text<'_>,
    place: &Place<'_, 't>,
) -> Option<Definition<'t>> {
    let declarator = function_declarator(node.child_by_field_name("declarator")?)?;
    let (name, container) = qualified(declarator.child_by_field_name("declarator")?, text)?;
    let is_in_type =
        matches!(place.parent, Some(SymbolKind::Class | SymbolKind::Struct | SymbolKind::Union));
    let is_method = is_in_type || container.is_some();
    let kind = if is_method { SymbolKind::Method } else { SymbolKind::Function };
    let mut definition = Definition::new(kind, name, templated(node, place), text);
    definition.body = body;
    definition.container = container;
    if let Some(list) = declarator.child_by_field_name("parameters") {
        definition.parameters = parameters(list, text);
    }
    definition.returns = returned(node, declarator, text);
    definition.is_public = !has_storage(node, text, "static") && is_accessible(text, place);
    definition.is_test = false;
    Some(definition)
}

/// Returns the type that a function returns: qualifiers, type, and what the declarator adds to it,
/// such as `*`. Constructors and destructors have none.
fn returned(node: Node<'_>, declarator: Node<'_>, text: &Text<'_>) -> Option<String> {
    if let Some(trailing) = child_of_kind(declarator, "trailing_return_type") {
        let of = text.of(trailing).trim_start_matches("->");
        return Some(one_line(of, limits::TYPE_BYTES_MAX));
    }
    let of = node.child_by_field_name("type")?;
    let qualifiers = named_children(node)
        .filter(|child| child.kind() == "type_qualifier" && child.end_byte() <= of.start_byte())
        .map(|child| text.of(child))
        .filter(|word| ["const", "volatile", "_Atomic", "restrict"].contains(word));
    let mut parts: Vec<&str> = qualifiers.collect();
    parts.push(text.of(of));
    let after = text.between(of.end_byte(), declarator.start_byte());
    // Attributes between the two say nothing about the type.
    parts.push(if after.contains('(') { "" } else { after });
    Some(one_line(&parts.join(" "), limits::TYPE_BYTES_MAX))
}

/// Prototypes of functions, and variables of a file.
fn declaration<'t>(
    node: Node<'t>,
    text: &Text<'_>,
    place: &Place<'_, 't>,
) -> Option<Definition<'t>> {
    if let Some(prototype) = function(node, None, text, place) {
        return Some(prototype);
    }
    let declarator = node.child_by_field_name("declarator")?;
    let name = innermost(declarator).filter(|name| name.kind() == "identifier")?;
    let is_constant = named_children(node)
        .any(|child| child.kind() == "type_qualifier" && text.of(child).starts_with("const"));
    let kind = if is_constant { SymbolKind::Constant } else { SymbolKind::Variable };
    let mut definition = Definition::new(kind, name, node, text);
    definition.is_public = !has_storage(node, text, "static");
    Some(definition)
}

/// Fields and the prototypes of methods.
fn member<'t>(node: Node<'t>, text: &Text<'_>, place: &Place<'_, 't>) -> Option<Definition<'t>> {
    if let Some(prototype) = function(node, None, text, place) {
        return Some(Definition { kind: SymbolKind::Method, ..prototype });
    }
    let name = innermost(node.child_by_field_name("declarator")?)?;
    let mut definition = Definition::new(SymbolKind::Field, name, node, text);
    definition.is_public = is_accessible(text, place);
    Some(definition)
}

/// Returns the declarator with parameters, within pointers and references.
fn function_declarator(mut declarator: Node<'_>) -> Option<Node<'_>> {
    loop {
        match declarator.kind() {
            "function_declarator" => {
                // `int (*f)(int)` is a variable.
                let inner = declarator.child_by_field_name("declarator")?;
                return (inner.kind() != "parenthesized_declarator").then_some(declarator);
            }
            "pointer_declarator" | "init_declarator" | "array_declarator" => {
                declarator = declarator.child_by_field_name("declarator")?;
            }
            "reference_declarator" => declarator = declarator.named_child(0)?,
            _ => return None,
        }
    }
}

/// Returns the name in a declarator.
fn innermost(mut declarator: Node<'_>) -> Option<Node<'_>> {
    loop {
        match declarator.kind() {
            "identifier" | "field_identifier" | "type_identifier" => return Some(declarator),
            "reference_declarator" | "parenthesized_declarator" => {
                declarator = declarator.named_child(0)?;
            }
            _ => declarator = declarator.child_by_field_name("declarator")?,
        }
    }
}

/// Returns the last name of `A::b`, and the name before it.
fn qualified<'t>(mut name: Node<'t>, text: &Text<'_>) -> Option<(Node<'t>, Option<String>)> {
    let mut container = None;
    while name.kind() == "qualified_identifier" {
        container = name.child_by_field_name("scope").map(|of| text.type_name(of).to_owned());
        name = name.child_by_field_name("name")?;
    }
    if name.kind() == "template_function" {
        name = name.child_by_field_name("name")?;
    }
    let is_name = matches!(
        name.kind(),
        "identifier" | "field_identifier" | "destructor_name" | "operator_name" | "type_identifier"
    );
    is_name.then_some((name, container))
}

/// Returns a definition with its template parameters.
fn templated<'t>(node: Node<'t>, place: &Place<'_, 't>) -> Node<'t> {
    place.outer_of_kind("template_declaration").unwrap_or(node)
}

fn has_storage(node: Node<'_>, text: &Text<'_>, word: &str) -> bool {
    named_children(node)
        .any(|child| child.kind() == "storage_class_specifier" && text.of(child) == word)
}

/// Returns whether a member may be used from elsewhere: by the access specifier before it, or else
/// by whether a class or a struct contains it.
fn is_accessible(text: &Text<'_>, place: &Place<'_, '_>) -> bool {
    let specifier = place.marker.filter(|of| of.kind() == "access_specifier");
    if let Some(specifier) = specifier {
        return text.of(specifier).starts_with("public");
    }
    let outer = place.outer_of_kind("field_declaration_list").and(place.outer_of_outer());
    outer.is_none_or(|of| !has_word(of, "class"))
}

/// Functions that are defined outside of their class name it themselves; what is in a `typedef` of
/// a struct without a name belongs to it.
fn container<'t>(node: Node<'t>, text: &Text<'_>, place: &Place<'_, 't>) -> Option<String> {
    let is_anonymous =
        matches!(node.kind(), "struct_specifier" | "union_specifier" | "enum_specifier")
            && node.child_by_field_name("name").is_none();
    let typedef = place.outer_of_kind("type_definition").filter(|_| is_anonymous)?;
    Some(text.of(innermost(typedef.child_by_field_name("declarator")?)?).to_owned())
}

fn reference<'t>(
    node: Node<'t>,
    _: &Text<'_>,
    place: &Place<'_, 't>,
) -> Option<(Node<'t>, ReferenceKind)> {
    match node.kind() {
        "call_expression" => {
            let mut function = node.child_by_field_name("function")?;
            while function.kind() == "qualified_identifier" {
                function = function.child_by_field_name("name")?;
            }
            let name = match function.kind() {
                "identifier" => function,
                "field_expression" => function.child_by_field_name("field")?,
                "template_function" => function.child_by_field_name("name")?,
                _ => return None,
            };
            Some((name, ReferenceKind::Call))
        }
        "new_expression" => {
            let of = node.child_by_field_name("type")?;
            (of.kind() == "type_identifier").then_some((of, ReferenceKind::Call))
        }
        "type_identifier" => {
            let parent = place.outer()?;
            let is_own_name = parent.child_by_field_name("name") == Some(node)
                && parent.child_by_field_name("body").is_some();
            let is_declared = parent.kind() == "type_definition"
                && parent.child_by_field_name("declarator") == Some(node);
            let is_created = parent.kind() == "new_expression";
            if is_own_name || is_declared || is_created {
                return None;
            }
            let is_base = parent.kind() == "base_class_clause";
            Some((node, if is_base { ReferenceKind::Implementation } else { ReferenceKind::Type }))
        }
        _ => None,
    }
}

fn imports(node: Node<'_>, text: &Text<'_>) -> Vec<Import> {
    if node.kind() != "preproc_include" {
        return Vec::new();
    }
    let path = child_of_kind(node, "system_lib_string")
        .or_else(|| child_of_kind(node, "string_literal"))
        .map(|of| text.of(of).trim_matches(['<', '>', '"']).to_owned());
    path.map(|path| Import { path, names: Vec::new(), line: first_line(node) })
        .into_iter()
        .collect()
}
