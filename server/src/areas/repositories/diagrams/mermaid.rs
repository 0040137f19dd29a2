//! Text in Mermaid's language. Names come from repositories that anyone may have written, so
//! nothing of them reaches the syntax: nodes are called `n1`, `n2` and so on, and labels contain
//! letters, digits and a few marks as they are, everything else as numbered entities.

use super::limits::LABEL_CHARS_MAX;
use crate::areas::repositories::quotes::is_visible;

/// A flowchart from left to right.
#[derive(Debug, Default)]
pub(super) struct Flowchart {
    nodes: Vec<String>,
    edges: Vec<Edge>,
}

#[derive(Debug)]
struct Edge {
    from: usize,
    to: usize,
}

/// A class diagram.
#[derive(Debug, Default)]
pub(super) struct ClassDiagram {
    classes: Vec<DrawnClass>,
    relations: Vec<Relation>,
}

#[derive(Debug)]
struct DrawnClass {
    name: String,
    /// Its kind, if it is no ordinary class.
    annotation: Option<&'static str>,
    members: Vec<String>,
}

/// A relation of two types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Relation {
    /// The one that contains, implements or extends.
    pub(super) from: usize,
    /// The other one.
    pub(super) to: usize,
    /// How they are related.
    pub(super) kind: RelationKind,
}

/// How two types are related.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum RelationKind {
    /// The first extends the second.
    Extends,
    /// The first implements the second.
    Implements,
    /// A field of the first has the type of the second.
    Contains,
}

impl Flowchart {
    /// Adds a node, and returns its position.
    pub(super) fn node(&mut self, name: &str) -> usize {
        self.nodes.push(label(name));
        self.nodes.len() - 1
    }

    /// Adds an edge between the positions of two nodes.
    pub(super) fn edge(&mut self, from: usize, to: usize) {
        self.edges.push(Edge { from, to });
    }

    /// Returns the diagram.
    pub(super) fn render(&self) -> String {
        let mut lines = vec!["flowchart LR".to_owned()];
        for (position, label) in self.nodes.iter().enumerate() {
            lines.push(format!("  n{}[\"{label}\"]", position + 1));
        }
        for Edge { from, to } in &self.edges {
            lines.push(format!("  n{} --> n{}", from + 1, to + 1));
        }
        lines.join("\n") + "\n"
    }
}

impl ClassDiagram {
    /// Adds a type with its members, and returns its position.
    pub(super) fn class(
        &mut self,
        name: &str,
        annotation: Option<&'static str>,
        members: impl Iterator<Item = String>,
    ) -> usize {
        let members = members.map(|member| label(&member)).collect();
        self.classes.push(DrawnClass { name: label(name), annotation, members });
        self.classes.len() - 1
    }

    /// Adds a relation between the positions of two types.
    pub(super) fn relation(&mut self, relation: Relation) {
        self.relations.push(relation);
    }

    /// Returns the diagram.
    pub(super) fn render(&self) -> String {
        let mut lines = vec!["classDiagram".to_owned()];
        for (position, class) in self.classes.iter().enumerate() {
            let id = position + 1;
            lines.push(format!("  class c{id}[\"{}\"]", class.name));
            if let Some(annotation) = class.annotation {
                lines.push(format!("  <<{annotation}>> c{id}"));
            }
            lines.extend(class.members.iter().map(|member| format!("  c{id} : {member}")));
        }
        for Relation { from, to, kind } in &self.relations {
            let (from, to) = (from + 1, to + 1);
            lines.push(match kind {
                RelationKind::Extends => format!("  c{to} <|-- c{from}"),
                RelationKind::Implements => format!("  c{to} <|.. c{from}"),
                RelationKind::Contains => format!("  c{from} *-- c{to}"),
            });
        }
        lines.join("\n") + "\n"
    }
}

/// Returns a text as a label: one line of limited length, in which only letters, digits, spaces and
/// a few marks are written as themselves. It is never empty.
pub(super) fn label(text: &str) -> String {
    let mut label = String::new();
    let mut chars = text.split_whitespace().flat_map(|word| word.chars().chain([' ']));
    let mut count = 0;
    for char in chars.by_ref() {
        if count == LABEL_CHARS_MAX {
            label.push('…');
            break;
        }
        if !is_visible(char) {
            continue;
        }
        count += 1;
        if char.is_alphanumeric() || " _/.,-".contains(char) {
            label.push(char);
        } else {
            // Written so, a character is shown and not read as syntax, markup or a directive.
            label.push_str(&format!("#{};", u32::from(char)));
        }
    }
    let trimmed = label.trim();
    if trimmed.is_empty() { "#63;".to_owned() } else { trimmed.to_owned() }
}
