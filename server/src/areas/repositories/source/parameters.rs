//! The parameters of a function, in all languages whose grammars call their parts alike.

use std::borrow::Cow;

use tree_sitter::Node;

use super::limits;
use super::model::Parameter;
use super::nodes::{Text, child_of_kind, fields, named_children};

/// Nodes in a list of parameters that are none.
const OTHERS: [&str; 8] = [
    "self_parameter",
    "comment",
    "line_comment",
    "block_comment",
    "keyword_separator",
    "positional_separator",
    "receiver_parameter",
    "attribute_item",
];

/// Returns the parameters in a list of them.
pub(super) fn parameters(list: Node<'_>, text: &Text<'_>) -> Vec<Parameter> {
    let nodes = named_children(list).filter(|node| !OTHERS.contains(&node.kind()));
    let mut parameters = Vec::new();
    for node in nodes.take(limits::PARAMETERS_MAX) {
        let names: Vec<Node<'_>> = names(node);
        let kept = |text: &str| super::nodes::one_line(text, limits::TYPE_BYTES_MAX);
        let type_name = type_of(node, &names, text).map(|of| kept(of.trim_start_matches(':')));
        let default =
            node.child_by_field_name("value").or(node.child_by_field_name("default_value"));
        let default = default.map(|of| kept(text.of(of)));
        for name in names {
            let name = kept(text.of(name).trim_start_matches(['*', '&']));
            let is_receiver = name == "self" || name == "cls" || name == "this";
            let is_first = parameters.is_empty() && type_name.is_none();
            if name.is_empty() || (is_receiver && is_first) {
                continue;
            }
            parameters.push(Parameter {
                name,
                type_name: type_name.clone(),
                default: default.clone(),
            });
        }
    }
    parameters
}

/// Returns the type of a parameter. Around the name of C's parameters is a part of their type:
/// `const char *names[]` has the type `const char *[]`. `String... names` has `String...`.
fn type_of<'a>(node: Node<'_>, names: &[Node<'_>], text: &Text<'a>) -> Option<Cow<'a, str>> {
    let [name] = names else {
        return node.child_by_field_name("type").map(|of| text.of(of).into());
    };
    if node.kind() == "spread_parameter" {
        let modifiers =
            child_of_kind(node, "modifiers").map_or(node.start_byte(), |of| of.end_byte());
        return Some(text.between(modifiers, name.start_byte()).trim().into());
    }
    if node.child_by_field_name("declarator").is_none() {
        let of = node.child_by_field_name("type").map(|of| text.of(of))?;
        // `int a[]` of Java.
        let dimensions = text.field(node, "dimensions").unwrap_or_default();
        return Some(format!("{of}{dimensions}").into());
    }
    let default = node.child_by_field_name("default_value");
    let end = default.map_or(node.end_byte(), |of| of.start_byte());
    let before = text.between(node.start_byte(), name.start_byte());
    let after = text.between(name.end_byte(), end).trim_end().trim_end_matches('=').trim();
    Some(format!("{}{after}", before.trim_end()).into())
}

/// Returns the names that a parameter has; the parameter itself if it is nothing else.
fn names<'t>(node: Node<'t>) -> Vec<Node<'t>> {
    let named: Vec<Node<'t>> = fields(node, "name").collect();
    if !named.is_empty() {
        return named;
    }
    if let Some(pattern) = node.child_by_field_name("pattern") {
        return vec![pattern];
    }
    if let Some(left) = node.child_by_field_name("left") {
        return vec![left];
    }
    if let Some(mut declarator) = node.child_by_field_name("declarator") {
        while let Some(inner) = inner_declarator(declarator) {
            declarator = inner;
        }
        return vec![declarator];
    }
    match node.kind() {
        "typed_parameter" => node.named_child(0).into_iter().collect(),
        "spread_parameter" => named_children(node).last().into_iter().collect(),
        // Only a type: `int (void)`, `func(int)`.
        "parameter_declaration" | "type_identifier" | "variadic_parameter" => Vec::new(),
        _ => vec![node],
    }
}

/// Returns what is in a declarator of C: `&name`, `(name)` and `...name` do not call it a
/// declarator.
fn inner_declarator(declarator: Node<'_>) -> Option<Node<'_>> {
    match declarator.kind() {
        "reference_declarator" | "parenthesized_declarator" | "variadic_declarator" => {
            declarator.named_child(0)
        }
        _ => declarator.child_by_field_name("declarator"),
    }
}
