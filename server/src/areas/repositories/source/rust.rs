//! What is particular to Rust: `impl` blocks, use trees, attributes, and items that are as public
//! as their trait.

use tree_sitter::Node;

use super::grammar::{Definition, DocStyle, Place, Rules};
use super::limits;
use super::model::{Import, ReferenceKind, SymbolKind};
use super::nodes::{Text, child_of_kind, first_line, named_children};
use super::parameters::parameters;

/// Nodes between the name of a trait and the `impl` block.
const IMPLEMENTED_DEPTH_MAX: usize = 3;

pub(super) const RULES: Rules =
    Rules { definition, reference, imports, docs: DocStyle::MarkedComment, container };

fn definition<'t>(
    node: Node<'t>,
    text: &Text<'_>,
    place: &Place<'_, 't>,
) -> Option<Definition<'t>> {
    let kind = match node.kind() {
        "function_item" | "function_signature_item" if is_in_type(place) => SymbolKind::Method,
        "function_item" | "function_signature_item" => SymbolKind::Function,
        "struct_item" => SymbolKind::Struct,
        "enum_item" => SymbolKind::Enum,
        "enum_variant" => SymbolKind::Variant,
        "union_item" => SymbolKind::Union,
        "trait_item" => SymbolKind::Trait,
        "type_item" | "associated_type" => SymbolKind::TypeAlias,
        "mod_item" => SymbolKind::Module,
        "macro_definition" => SymbolKind::Macro,
        "const_item" => SymbolKind::Constant,
        "static_item" => SymbolKind::Variable,
        "field_declaration" => SymbolKind::Field,
        _ => return None,
    };
    let name = node.child_by_field_name("name")?;
    let mut definition = Definition::new(kind, name, node, text);
    definition.body = node.child_by_field_name("body");
    if kind == SymbolKind::Macro {
        definition.body = child_of_kind(node, "macro_rule");
    }
    if kind == SymbolKind::Enum || kind == SymbolKind::Trait || kind == SymbolKind::Struct {
        definition.body = node.child_by_field_name("body");
    }
    if matches!(kind, SymbolKind::Constant | SymbolKind::Variable) {
        definition.body = None;
    }
    if let Some(list) = node.child_by_field_name("parameters") {
        definition.parameters = parameters(list, text);
    }
    definition.returns =
        node.child_by_field_name("return_type").map(|of| text.line_of(of, limits::TYPE_BYTES_MAX));
    definition.is_public = is_public(node, place);
    definition.is_test = is_test(place, text);
    Some(definition)
}

/// Returns whether an `impl` or a trait contains a function.
fn is_in_type(place: &Place<'_, '_>) -> bool {
    place.outer_of_kind("declaration_list").is_some()
        && place.outer_of_outer().is_some_and(|of| matches!(of.kind(), "impl_item" | "trait_item"))
}

/// Items of traits, of implementations of traits and of enumerations are as public as these.
fn is_public(node: Node<'_>, place: &Place<'_, '_>) -> bool {
    let of_trait = place.outer_of_outer().is_some_and(|of| {
        of.kind() == "trait_item"
            || of.kind() == "impl_item" && of.child_by_field_name("trait").is_some()
    });
    child_of_kind(node, "visibility_modifier").is_some()
        || of_trait
        || node.kind() == "enum_variant"
        || place.parent == Some(SymbolKind::Trait)
        || node.kind() == "macro_definition"
}

/// Returns whether an item is a test, or a module of them.
fn is_test(place: &Place<'_, '_>, text: &Text<'_>) -> bool {
    let attributes = place.leading.iter().filter(|node| node.kind() == "attribute_item");
    attributes.map(|attribute| text.of(*attribute)).any(|written| {
        written.contains("cfg(test)")
            || written.contains("#[test]")
            || written.contains("::test]")
            || written.contains("::test(")
    })
}

fn container<'t>(node: Node<'t>, text: &Text<'_>, _: &Place<'_, 't>) -> Option<String> {
    if node.kind() != "impl_item" {
        return None;
    }
    let of = node.child_by_field_name("type")?;
    Some(text.type_name(of).to_owned())
}

fn reference<'t>(
    node: Node<'t>,
    text: &Text<'_>,
    place: &Place<'_, 't>,
) -> Option<(Node<'t>, ReferenceKind)> {
    match node.kind() {
        "identifier" if place.outer_of_kind("token_tree").is_some() => {
            is_called_in_tokens(node, text).then_some((node, ReferenceKind::Call))
        }
        "call_expression" => {
            let function = node.child_by_field_name("function")?;
            Some((called(function)?, ReferenceKind::Call))
        }
        "macro_invocation" => {
            let name = node.child_by_field_name("macro")?;
            Some((name.child_by_field_name("name").unwrap_or(name), ReferenceKind::Call))
        }
        "type_identifier" => {
            let parent = place.outer()?;
            let is_own_name = parent.child_by_field_name("name") == Some(node)
                && parent.kind() != "scoped_type_identifier";
            let is_parameter = matches!(parent.kind(), "type_parameter" | "type_parameters");
            if is_own_name || is_parameter {
                return None;
            }
            let kind = match is_implemented(node, place) {
                true => ReferenceKind::Implementation,
                false => ReferenceKind::Type,
            };
            Some((node, kind))
        }
        _ => None,
    }
}

/// Returns whether a type is the trait of an `impl` block, maybe as the end of a path or with
/// arguments: `impl std::fmt::Display for …`, `impl From<A> for …`.
fn is_implemented<'t>(name: Node<'t>, place: &Place<'_, 't>) -> bool {
    let mut inner = name;
    for outer in place.around.iter().rev().take(IMPLEMENTED_DEPTH_MAX) {
        let is_field = |field| outer.child_by_field_name(field) == Some(inner);
        match outer.kind() {
            "impl_item" => return is_field("trait"),
            "scoped_type_identifier" if is_field("name") => inner = *outer,
            "generic_type" if is_field("type") => inner = *outer,
            _ => return false,
        }
    }
    false
}

/// Returns whether a name within the tokens of a macro is called there, by the text around it: to
/// ask a token for its siblings takes time in proportion to their number. Names in upper case are
/// as often patterns.
fn is_called_in_tokens(name: Node<'_>, text: &Text<'_>) -> bool {
    let before = text.before(name.start_byte(), limits::KEYWORD_BYTES_MAX).trim_end();
    let after = text.after(name.end_byte(), limits::TYPE_BYTES_MAX);
    let is_in_attribute =
        before.rfind("#[").is_some_and(|at| before.get(at..).is_some_and(|of| !of.contains(']')));
    let is_definition =
        is_in_attribute || before.ends_with("fn") || before.ends_with("macro_rules!");
    let is_type = text.of(name).starts_with(char::is_uppercase);
    let arguments = after.strip_prefix("::<").and_then(after_generics).unwrap_or(after);
    let is_macro = ["!(", "![", "!{", "! {"].iter().any(|mark| after.starts_with(mark));
    !is_definition && !is_type && (arguments.starts_with('(') || is_macro)
}

/// Returns what follows the end of generic arguments.
fn after_generics(text: &str) -> Option<&str> {
    let mut depth = 1_usize;
    let end = text.char_indices().find_map(|(at, char)| {
        match char {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            _ => {}
        }
        (depth == 0).then_some(at + 1)
    });
    text.get(end?..)
}

fn called(function: Node<'_>) -> Option<Node<'_>> {
    match function.kind() {
        "identifier" => Some(function),
        "field_expression" => function.child_by_field_name("field"),
        "scoped_identifier" => function.child_by_field_name("name"),
        "generic_function" => called_once(function.child_by_field_name("function")?),
        _ => None,
    }
}

/// Like [`called`], for what has type arguments.
fn called_once(function: Node<'_>) -> Option<Node<'_>> {
    match function.kind() {
        "identifier" => Some(function),
        "field_expression" => function.child_by_field_name("field"),
        "scoped_identifier" => function.child_by_field_name("name"),
        _ => None,
    }
}

fn imports(node: Node<'_>, text: &Text<'_>) -> Vec<Import> {
    match node.kind() {
        "use_declaration" => {
            node.child_by_field_name("argument").map_or_else(Vec::new, |tree| leaves(tree, text))
        }
        "mod_item" if node.child_by_field_name("body").is_none() => node
            .child_by_field_name("name")
            .map(|name| Import {
                path: format!("self::{}", text.of(name)),
                names: Vec::new(),
                line: first_line(node),
            })
            .into_iter()
            .collect(),
        _ => Vec::new(),
    }
}

/// Returns the paths of a use tree, with the names that each brings in.
fn leaves(tree: Node<'_>, text: &Text<'_>) -> Vec<Import> {
    let mut imports: Vec<Import> = Vec::new();
    let mut open = vec![(String::new(), tree)];
    while let Some((prefix, node)) = open.pop() {
        if imports.len() >= limits::IMPORTS_MAX {
            break;
        }
        let joined = |path: &str| match prefix.is_empty() {
            true => path.to_owned(),
            false => format!("{prefix}::{path}"),
        };
        match node.kind() {
            "scoped_use_list" => {
                let path = text.field(node, "path").unwrap_or_default();
                let inner = if path.is_empty() { prefix.clone() } else { joined(path) };
                if let Some(list) = node.child_by_field_name("list") {
                    open.extend(named_children(list).map(|child| (inner.clone(), child)));
                }
            }
            "use_list" => open.extend(named_children(node).map(|child| (prefix.clone(), child))),
            "use_as_clause" => {
                if let Some(path) = node.child_by_field_name("path") {
                    open.push((prefix.clone(), path));
                }
            }
            "line_comment" | "block_comment" => {}
            _ => {
                let path = joined(text.of(node).trim_end_matches("::*"));
                let (path, name) = match path.rsplit_once("::") {
                    Some((module, name)) if !text.of(node).ends_with('*') => {
                        (module.to_owned(), Some(name.to_owned()))
                    }
                    _ => (path, None),
                };
                let line = first_line(node);
                match imports.iter_mut().find(|import| import.path == path) {
                    Some(import) if import.names.len() < limits::IMPORTED_NAMES_MAX => {
                        import.names.extend(name);
                    }
                    Some(_) => {}
                    None => imports.push(Import { path, names: name.into_iter().collect(), line }),
                }
            }
        }
    }
    imports.sort_by(|a, b| (a.line, &a.path).cmp(&(b.line, &b.path)));
    imports.iter_mut().for_each(|import| import.names.sort());
    imports
}
