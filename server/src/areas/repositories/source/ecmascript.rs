//! What is particular to JavaScript and TypeScript: functions that are values, `exports`,
//! prototypes, and members of classes.

use tree_sitter::Node;

use super::grammar::{Definition, DocStyle, Place, Rules, no_container};
use super::limits;
use super::model::{Import, Parameter, ReferenceKind, SymbolKind};
use super::nodes::{Text, child_of_kind, first_line, has_word, named_children, one_line};
use super::parameters::parameters;

pub(super) const RULES: Rules =
    Rules { definition, reference, imports, docs: DocStyle::AnyComment, container: no_container };

fn definition<'t>(
    node: Node<'t>,
    text: &Text<'_>,
    place: &Place<'_, 't>,
) -> Option<Definition<'t>> {
    match node.kind() {
        "variable_declarator" => return declarator(node, text, place),
        "assignment_expression" => return assignment(node, text, place),
        "pair" => return pair(node, text, place),
        "function_expression" => return named_expression(node, text, place),
        "enum_assignment" => {
            let name = node.child_by_field_name("name")?;
            return Some(Definition::new(SymbolKind::Variant, name, node, text));
        }
        "property_identifier" if place.outer_of_kind("enum_body").is_some() => {
            return Some(Definition::new(SymbolKind::Variant, node, node, text));
        }
        _ => {}
    }
    let kind = match node.kind() {
        "function_declaration" | "generator_function_declaration" | "function_signature" => {
            SymbolKind::Function
        }
        "method_definition" | "method_signature" | "abstract_method_signature" => {
            SymbolKind::Method
        }
        "class_declaration" | "abstract_class_declaration" => SymbolKind::Class,
        "interface_declaration" => SymbolKind::Interface,
        "type_alias_declaration" => SymbolKind::TypeAlias,
        "enum_declaration" => SymbolKind::Enum,
        "internal_module" | "module" => SymbolKind::Module,
        "field_definition" | "public_field_definition" | "property_signature" => SymbolKind::Field,
        _ => return None,
    };
    let name = node.child_by_field_name("name").or(node.child_by_field_name("property"))?;
    let mut definition = Definition::new(kind, name, whole(node, place.outer()), text);
    definition.name = definition.name.trim_matches(['"', '\'', '`']).to_owned();
    definition.body = node.child_by_field_name("body");
    // Types in the parameters of functions have properties too.
    if kind == SymbolKind::Field && place.in_function {
        return None;
    }
    // A field whose value is a function is called like a method.
    let value = node.child_by_field_name("value").filter(|value| is_function(*value));
    if let Some(function) = value.filter(|_| kind == SymbolKind::Field) {
        definition.kind = SymbolKind::Method;
        describe_function(&mut definition, function, text);
    } else {
        describe_function(&mut definition, node, text);
    }
    definition.is_public = is_public(node, &definition.name, text, place);
    Some(definition)
}

/// `const f = () => …`, `const A = class …`, and constants and variables of a file.
fn declarator<'t>(
    node: Node<'t>,
    text: &Text<'_>,
    place: &Place<'_, 't>,
) -> Option<Definition<'t>> {
    let name = node.child_by_field_name("name").filter(|name| name.kind() == "identifier")?;
    let value = node.child_by_field_name("value");
    let declaration = place.outer()?;
    let function = value.filter(|value| is_function(*value));
    let class = value.filter(|value| value.kind() == "class");
    let kind = if function.is_some() {
        SymbolKind::Function
    } else if class.is_some() {
        SymbolKind::Class
    } else if place.in_function || !is_at_top(place) {
        return None;
    } else if has_word(declaration, "const") {
        SymbolKind::Constant
    } else {
        SymbolKind::Variable
    };
    let outer = place.outer_of_outer();
    let mut definition = Definition::new(kind, name, whole(declaration, outer), text);
    if let Some(function) = function {
        describe_function(&mut definition, function, text);
    }
    if let Some(class) = class {
        definition.body = class.child_by_field_name("body");
    }
    definition.is_public = !place.in_function;
    Some(definition)
}

/// `exports.f = function …`, `A.prototype.f = function …`.
fn assignment<'t>(
    node: Node<'t>,
    text: &Text<'_>,
    place: &Place<'_, 't>,
) -> Option<Definition<'t>> {
    let left = node.child_by_field_name("left").filter(|of| of.kind() == "member_expression")?;
    let value = node.child_by_field_name("right")?;
    let object = text.field(left, "object")?;
    let is_exported = object == "exports" || object == "module.exports";
    if place.in_function && !object.ends_with(".prototype") {
        return None;
    }
    let kind = match (is_function(value), value.kind()) {
        (true, _) if is_exported => SymbolKind::Function,
        (true, _) => SymbolKind::Method,
        (false, "class") => SymbolKind::Class,
        (false, _) if is_exported => SymbolKind::Constant,
        _ => return None,
    };
    let name = left.child_by_field_name("property")?;
    let statement = place.outer_of_kind("expression_statement");
    let mut definition = Definition::new(kind, name, statement.unwrap_or(node), text);
    if !is_exported {
        let owner = object.strip_suffix(".prototype").unwrap_or(object);
        definition.container = Some(owner.to_owned());
    }
    if is_function(value) {
        describe_function(&mut definition, value, text);
    }
    Some(definition)
}

/// Functions in objects: `{ f: function () … }`.
fn pair<'t>(node: Node<'t>, text: &Text<'_>, place: &Place<'_, 't>) -> Option<Definition<'t>> {
    let value = node.child_by_field_name("value").filter(|value| is_function(*value))?;
    if place.in_function {
        return None;
    }
    let name = node.child_by_field_name("key")?;
    let mut definition = Definition::new(SymbolKind::Method, name, node, text);
    definition.name = definition.name.trim_matches(['"', '\'']).to_owned();
    describe_function(&mut definition, value, text);
    Some(definition)
}

/// `return function close () …`: a function with a name of its own that nothing else is named by.
fn named_expression<'t>(
    node: Node<'t>,
    text: &Text<'_>,
    place: &Place<'_, 't>,
) -> Option<Definition<'t>> {
    let name = node.child_by_field_name("name")?;
    let is_named_otherwise = place.outer().is_some_and(|outer| {
        ["variable_declarator", "assignment_expression", "pair"].contains(&outer.kind())
            || outer.kind().ends_with("field_definition")
    });
    if is_named_otherwise {
        return None;
    }
    let mut definition = Definition::new(SymbolKind::Function, name, node, text);
    describe_function(&mut definition, node, text);
    definition.is_public = false;
    Some(definition)
}

fn is_function(value: Node<'_>) -> bool {
    matches!(
        value.kind(),
        "arrow_function" | "function_expression" | "function" | "generator_function"
    )
}

fn describe_function(definition: &mut Definition<'_>, function: Node<'_>, text: &Text<'_>) {
    let body = function.child_by_field_name("body");
    if body.is_some_and(|body| body.start_byte() >= definition.whole.start_byte()) {
        // The body is in the whole, whatever is between.
        set_body(definition, function);
    }
    if let Some(list) = function.child_by_field_name("parameters") {
        definition.parameters = parameters(list, text);
    } else if let Some(one) = function.child_by_field_name("parameter") {
        let name = one_line(text.of(one), limits::TYPE_BYTES_MAX);
        definition.parameters = vec![Parameter { name, type_name: None, default: None }];
    }
    let returns = function.child_by_field_name("return_type");
    definition.returns =
        returns.map(|of| one_line(text.of(of).trim_start_matches(':'), limits::TYPE_BYTES_MAX));
}

fn set_body<'t>(definition: &mut Definition<'t>, function: Node<'_>) {
    let wanted = function.child_by_field_name("body").map(|body| body.byte_range());
    let Some(range) = wanted else { return };
    definition.body = definition.whole.descendant_for_byte_range(range.start, range.end);
}

/// Returns a declaration with what exports it and decorates it.
fn whole<'t>(node: Node<'t>, outer: Option<Node<'t>>) -> Node<'t> {
    outer.filter(|of| of.kind() == "export_statement").unwrap_or(node)
}

/// Returns whether a declarator is at the level of a file or a namespace.
fn is_at_top(place: &Place<'_, '_>) -> bool {
    let outer = place.around.iter().rev().skip(1).filter(|of| of.kind() != "export_statement");
    let mut kinds = outer.map(Node::kind);
    match (kinds.next(), kinds.next()) {
        (Some("program"), _) => true,
        (Some("statement_block"), of) => matches!(of, Some("internal_module" | "module")),
        _ => false,
    }
}

fn is_public(node: Node<'_>, name: &str, text: &Text<'_>, place: &Place<'_, '_>) -> bool {
    let modifier = child_of_kind(node, "accessibility_modifier").map(|of| text.of(of));
    !name.starts_with(['#', '_'])
        && !matches!(modifier, Some("private" | "protected"))
        && !place.in_function
}

fn reference<'t>(
    node: Node<'t>,
    _: &Text<'_>,
    place: &Place<'_, 't>,
) -> Option<(Node<'t>, ReferenceKind)> {
    match node.kind() {
        "call_expression" => {
            Some((last_name(node.child_by_field_name("function")?)?, ReferenceKind::Call))
        }
        "new_expression" => {
            Some((last_name(node.child_by_field_name("constructor")?)?, ReferenceKind::Call))
        }
        "jsx_opening_element" | "jsx_self_closing_element" => {
            Some((last_name(node.child_by_field_name("name")?)?, ReferenceKind::Call))
        }
        "type_identifier" | "identifier" => {
            let parent = place.outer()?;
            match (node.kind(), parent.kind()) {
                (
                    _,
                    "extends_clause"
                    | "implements_clause"
                    | "class_heritage"
                    | "extends_type_clause",
                ) => Some((node, ReferenceKind::Implementation)),
                ("type_identifier", _) if parent.child_by_field_name("name") != Some(node) => {
                    Some((node, ReferenceKind::Type))
                }
                ("type_identifier", "generic_type" | "nested_type_identifier") => {
                    Some((node, ReferenceKind::Type))
                }
                _ => None,
            }
        }
        _ => None,
    }
}

fn last_name(node: Node<'_>) -> Option<Node<'_>> {
    match node.kind() {
        "identifier" | "type_identifier" => Some(node),
        "member_expression" => node.child_by_field_name("property"),
        _ => None,
    }
}

fn imports(node: Node<'_>, text: &Text<'_>) -> Vec<Import> {
    let unquoted = |node: Node<'_>| text.of(node).trim_matches(['"', '\'', '`']).to_owned();
    let line = first_line(node);
    match node.kind() {
        "import_statement" | "export_statement" => {
            let Some(source) = node.child_by_field_name("source") else { return Vec::new() };
            vec![Import { path: unquoted(source), names: imported_names(node, text), line }]
        }
        "call_expression" if text.field(node, "function") == Some("require") => {
            let argument = node.child_by_field_name("arguments").and_then(|of| of.named_child(0));
            let path = argument.filter(|of| of.kind() == "string");
            let path = path.map(unquoted);
            path.map(|path| Import { path, names: Vec::new(), line }).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

fn imported_names(node: Node<'_>, text: &Text<'_>) -> Vec<String> {
    let mut names = Vec::new();
    for clause in named_children(node) {
        let parts: Vec<Node<'_>> = match clause.kind() {
            "import_clause" => named_children(clause).collect(),
            "export_clause" => vec![clause],
            _ => continue,
        };
        for part in parts {
            match part.kind() {
                "identifier" => names.push(text.of(part).to_owned()),
                "namespace_import" => {
                    names.extend(part.named_child(0).map(|of| text.of(of).to_owned()));
                }
                "named_imports" | "export_clause" => names.extend(
                    named_children(part)
                        .take(limits::IMPORTED_NAMES_MAX)
                        .filter_map(|of| text.field(of, "name"))
                        .map(str::to_owned),
                ),
                _ => {}
            }
        }
    }
    names
}
