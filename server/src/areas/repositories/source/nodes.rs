//! Nodes of a tree, and the text that they stand for.

use tree_sitter::Node;

/// The text of a file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Text<'a>(pub(super) &'a str);

impl<'a> Text<'a> {
    /// Returns the text of a node.
    pub(super) fn of(&self, node: Node<'_>) -> &'a str {
        self.0.get(node.byte_range()).unwrap_or_default()
    }

    /// Returns the text between two bytes.
    pub(super) fn between(&self, start: usize, end: usize) -> &'a str {
        self.0.get(start..end).unwrap_or_default()
    }

    /// Returns the text before a byte, of at most so many bytes.
    pub(super) fn before(&self, end: usize, bytes_max: usize) -> &'a str {
        let start = self.0.floor_char_boundary(end.saturating_sub(bytes_max));
        self.between(start, end)
    }

    /// Returns the text from a byte on, of at most so many bytes.
    pub(super) fn after(&self, start: usize, bytes_max: usize) -> &'a str {
        self.between(start, self.0.floor_char_boundary(start.saturating_add(bytes_max)))
    }

    /// Returns the text of a node in one line.
    pub(super) fn line_of(&self, node: Node<'_>, bytes_max: usize) -> String {
        one_line(self.of(node), bytes_max)
    }

    /// Returns the text of a field of a node.
    pub(super) fn field(&self, node: Node<'_>, name: &str) -> Option<&'a str> {
        node.child_by_field_name(name).map(|child| self.of(child))
    }

    /// Returns the name of a type without its arguments: `a::B<T>` is `B`.
    pub(super) fn type_name(&self, node: Node<'_>) -> &'a str {
        let text = self.of(node);
        let end = text.find(['<', '[', '(']).unwrap_or(text.len());
        let plain = text.get(..end).unwrap_or(text);
        let last = plain.rsplit(['.', ':', '*', '&', ' ']).next().unwrap_or(plain);
        last.trim()
    }
}

/// Returns the first child of a kind.
pub(super) fn child_of_kind<'t>(node: Node<'t>, kind: &str) -> Option<Node<'t>> {
    named_children(node).find(|child| child.kind() == kind)
}

/// Returns the named children of a node.
pub(super) fn named_children<'t>(node: Node<'t>) -> impl Iterator<Item = Node<'t>> {
    let mut cursor = node.walk();
    let mut has_next = cursor.goto_first_child();
    std::iter::from_fn(move || {
        while has_next {
            let child = cursor.node();
            has_next = cursor.goto_next_sibling();
            if child.is_named() {
                return Some(child);
            }
        }
        None
    })
}

/// Returns the children of a node that are a field of a name.
pub(super) fn fields<'t>(node: Node<'t>, name: &'static str) -> impl Iterator<Item = Node<'t>> {
    let mut cursor = node.walk();
    let mut has_next = cursor.goto_first_child();
    std::iter::from_fn(move || {
        while has_next {
            let child = (cursor.field_name() == Some(name)).then(|| cursor.node());
            has_next = cursor.goto_next_sibling();
            if child.is_some() {
                return child;
            }
        }
        None
    })
}

/// Returns whether a child that is no name is a word: `pub`, `static`.
pub(super) fn has_word(node: Node<'_>, word: &str) -> bool {
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

/// Returns the line of a node, from 1.
pub(super) fn first_line(node: Node<'_>) -> u32 {
    u32::try_from(node.start_position().row).map_or(u32::MAX, |row| row.saturating_add(1))
}

/// Returns the last line of a node, from 1. A node that ends before the first byte of a line ends
/// in the line before.
pub(super) fn last_line(node: Node<'_>) -> u32 {
    let end = node.end_position();
    let row = if end.column == 0 { end.row.saturating_sub(1) } else { end.row };
    u32::try_from(row).map_or(u32::MAX, |row| row.saturating_add(1)).max(first_line(node))
}

/// Returns a text with single spaces, of at most so many bytes.
pub(super) fn one_line(text: &str, bytes_max: usize) -> String {
    let mut line = String::new();
    for word in text.split_whitespace() {
        if line.len() > bytes_max {
            break;
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    line.truncate(line.floor_char_boundary(bytes_max));
    line
}

/// Returns the beginning of a text, of at most so many bytes.
pub(super) fn shortened(text: &str, bytes_max: usize) -> &str {
    text.get(..text.floor_char_boundary(bytes_max)).unwrap_or(text)
}

/// Returns a name as it is kept; `None` if it is empty or too long to be one.
pub(super) fn name(text: &str, bytes_max: usize) -> Option<String> {
    let name = text.trim();
    let is_name = !name.is_empty() && name.len() <= bytes_max && !name.contains(['\n', '\r']);
    is_name.then(|| name.to_owned())
}
