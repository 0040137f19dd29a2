//! Documentation: the comments above a definition and the strings in it, without their markers.

use tree_sitter::Node;

use super::grammar::DocStyle;
use super::limits;
use super::nodes::{Text, first_line, last_line, named_children, shortened};

/// The documentation of a definition, and the line on which it begins if that is above it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct FoundDoc {
    pub(super) text: Option<String>,
    pub(super) first_line: Option<u32>,
}

/// Finds the documentation of a definition.
pub(super) fn of_definition(
    whole: Node<'_>,
    leading: &[Node<'_>],
    body: Option<Node<'_>>,
    style: DocStyle,
    text: &Text<'_>,
) -> FoundDoc {
    if style == DocStyle::Docstring {
        let found = body.and_then(|body| docstring(body, text));
        let above = comments_above(whole, leading, DocStyle::AnyComment, false, text);
        return FoundDoc { text: found.or(above.text), first_line: above.first_line };
    }
    comments_above(whole, leading, style, body.is_some(), text)
}

/// Finds what a file says of itself at its beginning.
pub(super) fn of_file(root: Node<'_>, style: DocStyle, text: &Text<'_>) -> Option<String> {
    if style == DocStyle::Docstring {
        return docstring(root, text);
    }
    let mut lines = Vec::new();
    let mut last: Option<u32> = None;
    let mut is_in_licence = false;
    for node in named_children(root).take(limits::COMMENTS_MAX) {
        let is_comment = is_comment(node);
        let is_apart = last.is_some_and(|last| first_line(node) > last + 1);
        let comment = text.of(node);
        if !is_comment || comment.starts_with("#!") {
            if node.kind() == "inner_attribute_item" || comment.starts_with("#!") {
                continue;
            }
            break;
        }
        let cleaned = cleaned(comment);
        if is_apart && !lines.is_empty() {
            break;
        }
        last = Some(last_line(node));
        is_in_licence &= !is_apart;
        if is_in_licence {
            continue;
        }
        let is_inner = comment.starts_with("//!") || comment.starts_with("/*!");
        if style == DocStyle::MarkedComment && !is_inner {
            continue;
        }
        lines.extend(cleaned);
        if is_licence(&lines) {
            lines.clear();
            is_in_licence = true;
        }
    }
    finished(lines)
}

/// Returns the comments that end on the line above a node, or above the attributes before it.
/// `leading` are the comments and attributes before it, in their order; `has_body` is whether it is
/// a function or a type.
fn comments_above(
    whole: Node<'_>,
    leading: &[Node<'_>],
    style: DocStyle,
    has_body: bool,
    text: &Text<'_>,
) -> FoundDoc {
    let mut parts: Vec<Vec<String>> = Vec::new();
    let mut top = first_line(whole);
    let mut found = None;
    let mut attribute_doc = Vec::new();
    for node in leading.iter().rev().take(limits::COMMENTS_MAX) {
        let last = last_line(*node);
        let comment = text.of(*node);
        let may_be_apart = has_body && style == DocStyle::AnyComment && is_jsdoc(comment);
        let distance = if may_be_apart { 2 } else { 1 };
        let is_above = last < top && top - last <= distance || last == top && is_attribute(*node);
        if !is_above {
            break;
        }
        top = first_line(*node);
        // A remark between the documentation and the definition is neither.
        if is_comment(*node) && style == DocStyle::MarkedComment && !is_marked(comment) {
            continue;
        }
        match is_attribute(*node) {
            true => attribute_doc.extend(doc_attribute(comment)),
            false => parts.push(cleaned(comment)),
        }
        found = Some(top);
    }
    attribute_doc.reverse();
    let lines: Vec<String> = parts.into_iter().rev().flatten().chain(attribute_doc).collect();
    if is_licence(&lines) {
        return FoundDoc { text: None, first_line: None };
    }
    FoundDoc { text: finished(lines), first_line: found }
}

/// Returns whether a node is a comment.
pub(super) fn is_comment(node: Node<'_>) -> bool {
    matches!(node.kind(), "comment" | "line_comment" | "block_comment")
}

/// Returns whether a node is an attribute or a decorator of what follows.
pub(super) fn is_attribute(node: Node<'_>) -> bool {
    matches!(node.kind(), "attribute_item" | "attribute_declaration" | "decorator")
}

fn is_marked(comment: &str) -> bool {
    let is_line = comment.starts_with("///") && !comment.starts_with("////");
    let is_block = comment.starts_with("/**") && !comment.starts_with("/***");
    is_line || is_block
}

/// Returns whether a comment is about the definition after it, also with an empty line between
/// the two, as JSDoc has it: one of its lines begins with a tag. One about the whole file is not,
/// nor is the heading of a section.
fn is_jsdoc(comment: &str) -> bool {
    const OF_OTHERS: [&str; 6] =
        ["@module", "@file", "@overview", "@license", "@typedef", "@callback"];
    comment.starts_with("/**")
        && !comment.starts_with("/***")
        && !OF_OTHERS.iter().any(|tag| comment.contains(tag))
        && cleaned(comment).iter().any(|line| line.trim_start().starts_with('@'))
}

/// Returns the text of `#[doc = "…"]`.
fn doc_attribute(attribute: &str) -> Option<String> {
    let value = attribute.trim().strip_prefix("#[doc")?.trim_start().strip_prefix('=')?;
    let value = value.trim().strip_suffix(']')?.trim();
    Some(value.strip_prefix('"')?.strip_suffix('"')?.trim().to_owned())
}

/// Returns the string that a body begins with.
fn docstring(body: Node<'_>, text: &Text<'_>) -> Option<String> {
    let statement = named_children(body).find(|node| !is_comment(*node))?;
    let string = match statement.kind() {
        "expression_statement" => statement.named_child(0)?,
        _ => statement,
    };
    if string.kind() != "string" {
        return None;
    }
    let written = text.of(string).trim_start_matches(['r', 'R', 'u', 'U', 'b', 'B', 'f', 'F']);
    let quote =
        ["\"\"\"", "'''", "\"", "'"].into_iter().find(|quote| written.starts_with(quote))?;
    let inner = written.strip_prefix(quote)?;
    let inner = inner.strip_suffix(quote).unwrap_or(inner);
    let lines: Vec<String> = inner.lines().map(|line| line.trim_end().to_owned()).collect();
    finished(without_indentation(lines))
}

/// Returns the lines of a comment without markers.
fn cleaned(comment: &str) -> Vec<String> {
    let comment = comment.trim_end();
    if let Some(block) = comment.strip_prefix("/*") {
        let block = block.strip_suffix("*/").unwrap_or(block);
        let block = block.trim_start_matches(['*', '!', '<']);
        let line = |line: &str| {
            let line = line.trim();
            let rest = line.strip_prefix('*').unwrap_or(line);
            rest.strip_prefix(' ').unwrap_or(rest).trim_end().to_owned()
        };
        return block.lines().map(line).collect();
    }
    if let Some(block) = comment.strip_prefix("=begin") {
        let block = block.strip_suffix("=end").unwrap_or(block);
        return block.lines().map(|line| line.trim_end().to_owned()).collect();
    }
    comment
        .lines()
        .map(|line| {
            let line = line.trim();
            let rest = line.trim_start_matches(['/', '#']);
            let rest = rest.strip_prefix('!').or_else(|| rest.strip_prefix('<')).unwrap_or(rest);
            rest.strip_prefix(' ').unwrap_or(rest).trim_end().to_owned()
        })
        .collect()
}

/// Removes the indentation that all lines but the first have in common.
fn without_indentation(lines: Vec<String>) -> Vec<String> {
    let indentation = |line: &String| line.len() - line.trim_start().len();
    let others = lines.iter().skip(1).filter(|line| !line.trim().is_empty());
    let common = others.map(indentation).min().unwrap_or(0);
    let mut lines = lines.into_iter();
    let first = lines.next().map(|line| line.trim().to_owned());
    let rest = lines.map(|line| line.get(common..).unwrap_or_default().to_owned());
    first.into_iter().chain(rest).collect()
}

/// What the beginning of a comment about rights contains.
const LICENCE_WORDS: [&str; 7] = [
    "copyright",
    "spdx-license",
    "licensed under",
    "all rights reserved",
    "general public license",
    "permission is hereby granted",
    "redistribution and use in source",
];

/// Returns whether a comment is about rights, not about code.
fn is_licence(lines: &[String]) -> bool {
    lines.iter().take(5).any(|line| {
        let line = line.to_ascii_lowercase();
        LICENCE_WORDS.iter().any(|words| line.contains(words))
    })
}

/// Joins the lines of a documentation. Lines that only separate are left out, except in examples.
fn finished(lines: Vec<String>) -> Option<String> {
    let mut is_in_example = false;
    let mut kept: Vec<String> = Vec::with_capacity(lines.len());
    for line in lines {
        let is_fence = line.trim_start().starts_with("```");
        is_in_example ^= is_fence;
        if is_in_example || is_fence || !is_banner(&line) {
            kept.push(line);
        }
    }
    let text = kept.join("\n");
    let text = shortened(text.trim(), limits::DOC_BYTES_MAX).trim_end();
    let says_something = text.chars().any(char::is_alphanumeric);
    says_something.then(|| text.to_owned())
}

/// Returns whether a line only separates: `-----`, `* * * *`. Brackets belong to code.
fn is_banner(line: &str) -> bool {
    line.trim().len() > 3
        && line
            .chars()
            .all(|char| (char.is_ascii_punctuation() || char == ' ') && !"(){}[]|;".contains(char))
}
