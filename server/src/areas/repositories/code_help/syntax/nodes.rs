//! Nodes of a tree, and the text that they stand for.

use tree_sitter::Node;

use super::super::limits::BLOCK_STATEMENTS_MAX;

/// The text of a file.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Text<'a>(pub(in super::super) &'a str);

impl<'a> Text<'a> {
    /// Returns the text of a node.
    pub(in super::super) fn of(self, node: Node<'_>) -> &'a str {
        self.between(node.start_byte(), node.end_byte())
    }

    /// Returns the text between two bytes, without the white space around it.
    pub(in super::super) fn between(self, start: usize, end: usize) -> &'a str {
        self.0.get(start..end).unwrap_or_default().trim()
    }

    /// Returns the text from the beginning of a node to the end of another.
    pub(in super::super) fn span(self, first: Node<'_>, last: Node<'_>) -> &'a str {
        self.between(first.start_byte(), last.end_byte())
    }

    /// Returns the text of a field of a node.
    pub(in super::super) fn field(self, node: Node<'_>, name: &str) -> Option<&'a str> {
        field(node, name).map(|child| self.of(child))
    }

    /// Returns the text of a node without parentheses around it.
    pub(in super::super) fn inner(self, node: Node<'_>) -> &'a str {
        let text = self.of(node);
        let inner = text.strip_prefix('(').and_then(|text| text.strip_suffix(')'));
        match node.kind() {
            "parenthesized_expression" | "condition_clause" => inner.unwrap_or(text).trim(),
            _ => text,
        }
    }
}

/// Returns a field of a node.
pub(in super::super) fn field<'t>(node: Node<'t>, name: &str) -> Option<Node<'t>> {
    node.child_by_field_name(name)
}

/// Returns the named children of a node that are no comments, as many as a block may have.
pub(in super::super) fn named_children<'t>(node: Node<'t>) -> Vec<Node<'t>> {
    let mut found = Vec::new();
    let mut cursor = node.walk();
    let mut has_next = cursor.goto_first_child();
    while has_next && found.len() < BLOCK_STATEMENTS_MAX {
        let child = cursor.node();
        if child.is_named() && !is_comment(child) {
            found.push(child);
        }
        has_next = cursor.goto_next_sibling();
    }
    found
}

/// Returns the first named child of a kind.
pub(in super::super) fn child_of_kind<'t>(node: Node<'t>, kind: &str) -> Option<Node<'t>> {
    named_children(node).into_iter().find(|child| child.kind() == kind)
}

/// Returns whether a child that is no name is a word: `async`, `await`, `+=`.
pub(in super::super) fn has_word(node: Node<'_>, word: &str) -> bool {
    let mut cursor = node.walk();
    let mut has_next = cursor.goto_first_child();
    while has_next {
        if cursor.node().kind() == word {
            return true;
        }
        has_next = cursor.goto_next_sibling();
    }
    false
}

/// Returns whether a node is a comment.
pub(in super::super) fn is_comment(node: Node<'_>) -> bool {
    matches!(node.kind(), "comment" | "line_comment" | "block_comment")
}

/// Returns the line on which a node begins, from 1.
pub(in super::super) fn start_line(node: Node<'_>) -> u32 {
    line(node.start_position().row)
}

/// Returns the line on which a node ends. One that ends before the first byte of a line ends in the
/// line before.
pub(in super::super) fn end_line(node: Node<'_>) -> u32 {
    let end = node.end_position();
    line(if end.column == 0 { end.row.saturating_sub(1) } else { end.row }).max(start_line(node))
}

fn line(row: usize) -> u32 {
    u32::try_from(row).map_or(u32::MAX, |row| row.saturating_add(1))
}
