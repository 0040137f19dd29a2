//! The rules of each language, and the search for a function in a tree.

use tree_sitter::Node;

use super::super::limits::NODES_MAX;
use super::super::syntax::{Text, end_line, start_line};
use super::model::{Block, Exit, Shape, Tail};
use super::{c, ecmascript, go, java, python, ruby, rust};
use crate::areas::repositories::source::{Language, Symbol};

/// What is particular to a language.
#[derive(Clone, Copy)]
pub(in super::super) struct Rules {
    /// Returns what a node is as a statement.
    pub(in super::super) shape: for<'a, 't> fn(Node<'t>, Text<'a>, Tail) -> Shape<'a, 't>,
    /// Returns the block of a function, method or closure.
    pub(in super::super) function: for<'t> fn(Node<'t>) -> Option<Block<'t>>,
    /// Returns where control leaves the function at a node.
    pub(in super::super) exit: for<'a> fn(Node<'_>, Text<'a>) -> Option<Exit<'a>>,
    /// Returns what it means to return an expression.
    pub(in super::super) returned: for<'a> fn(&'a str) -> Exit<'a>,
    /// Whether a function that ends with an assignment returns what is assigned.
    pub(in super::super) assignments_are_values: bool,
}

/// Returns the rules of a language.
pub(in super::super) fn rules(language: Language) -> Rules {
    match language {
        Language::Rust => rust::RULES,
        Language::Python => python::RULES,
        Language::JavaScript | Language::TypeScript | Language::Tsx => ecmascript::RULES,
        Language::Go => go::RULES,
        Language::Ruby => ruby::RULES,
        Language::Java => java::RULES,
        Language::C | Language::Cpp => c::RULES,
    }
}

/// Finds the function that a symbol names, and its block.
pub(in super::super) fn function_block<'t>(
    root: Node<'t>,
    symbol: &Symbol,
    text: Text<'_>,
    rules: Rules,
) -> Option<(Node<'t>, Block<'t>)> {
    let mut cursor = root.walk();
    for _ in 0..NODES_MAX {
        let node = cursor.node();
        let (start, end) = (start_line(node), end_line(node));
        let is_around = start <= symbol.name_line && symbol.name_line <= end;
        if is_around
            && symbol.lines.contains(start)
            && node.is_named()
            && let Some(block) = (rules.function)(node)
            && is_named(node, &block, &symbol.name, text)
        {
            return Some((node, block));
        }
        if is_around && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return None;
            }
        }
    }
    None
}

/// Returns whether a function has a name, or none of its own: a closure is named by what it is
/// assigned to.
fn is_named(node: Node<'_>, block: &Block<'_>, name: &str, text: Text<'_>) -> bool {
    let own = ["name", "declarator"].iter().any(|of| node.child_by_field_name(of).is_some());
    let end = block.statements.first().map_or(node.end_byte(), |first| first.start_byte());
    !own || text.between(node.start_byte(), end).contains(name)
}
