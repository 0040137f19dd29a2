//! Items in the braces of a macro that is invoked where items are, such as `cfg_rt! { pub fn … }`:
//! the grammar of Rust sees tokens there. They are parsed again as a source file, in place, so that
//! lines stay what they are.

use std::collections::HashMap;

use tree_sitter::{Node, Range, Tree};

use super::limits;
use super::model::Language;
use super::nodes::{child_of_kind, named_children};
use super::outline::parse;

/// The trees of the items in macros, by the first byte of the tokens that they were parsed from.
pub(super) type MacroItems = HashMap<usize, Tree>;

/// Parses the items in the macros of a file. Tokens that are not all items are left out: they are
/// of another language.
pub(super) fn macro_items(language: Language, text: &str, tree: &Tree) -> MacroItems {
    let mut found = MacroItems::new();
    if language != Language::Rust {
        return found;
    }
    let mut open = tokens_in(tree.root_node());
    for _ in 0..limits::MACRO_DEPTH_MAX {
        let mut inner = Vec::new();
        for range in open {
            if found.len() >= limits::MACROS_MAX {
                return found;
            }
            let start = range.start_byte.saturating_sub(1);
            let Some(tree) = parse(Language::Rust, text, Some(range)) else { continue };
            if !tree.root_node().has_error() {
                inner.extend(tokens_in(tree.root_node()));
                found.insert(start, tree);
            }
        }
        open = inner;
    }
    found
}

/// Returns the tokens of a macro that is invoked where items are.
pub(super) fn item_tokens<'t>(node: Node<'t>, outer: Option<Node<'t>>) -> Option<Node<'t>> {
    let is_item = outer.is_some_and(|outer| {
        matches!(outer.kind(), "source_file" | "declaration_list" | "expression_statement")
    });
    if node.kind() != "macro_invocation" || !is_item {
        return None;
    }
    child_of_kind(node, "token_tree").filter(|tokens| tokens.child(0).is_some_and(is_brace))
}

fn is_brace(node: Node<'_>) -> bool {
    node.kind() == "{"
}

/// Returns the ranges within the braces of macros that are invoked where items are.
fn tokens_in(root: Node<'_>) -> Vec<Range> {
    let mut found = Vec::new();
    let mut open = vec![(root, None)];
    while let Some((node, outer)) = open.pop() {
        if let Some(tokens) = item_tokens(node, outer) {
            let mut range = tokens.range();
            range.start_byte += 1;
            range.start_point.column += 1;
            range.end_byte = range.end_byte.saturating_sub(1);
            range.end_point.column = range.end_point.column.saturating_sub(1);
            if range.start_byte < range.end_byte {
                found.push(range);
            }
        } else if HOLDERS.contains(&node.kind()) {
            open.extend(named_children(node).map(|child| (child, Some(node))));
        }
    }
    found
}

/// Nodes that contain items.
const HOLDERS: [&str; 6] = [
    "source_file",
    "mod_item",
    "impl_item",
    "trait_item",
    "declaration_list",
    "expression_statement",
];
