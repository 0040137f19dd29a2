//! The limits of diagrams, with units and reasons.

/// Nodes of a module graph: more cannot be read.
pub(super) const NODES_MAX: usize = 40;
/// Edges of a module graph, the strongest ones: more hide each other.
pub(super) const EDGES_MAX: usize = 90;
/// Types of a class diagram.
pub(super) const TYPES_MAX: usize = 24;
/// Relations of a class diagram.
pub(super) const RELATIONS_MAX: usize = 48;
/// Types of a module from which a class diagram is drawn.
pub(super) const TYPES_MIN: usize = 2;
/// Members that are drawn of a type.
pub(super) const MEMBERS_MAX: usize = 8;
/// Class diagrams of a repository.
pub(super) const CLASS_DIAGRAMS_MAX: usize = 24;
/// Characters of a label.
pub(super) const LABEL_CHARS_MAX: usize = 60;
/// Files of one module whose types are looked at.
pub(super) const FILES_OF_MODULE_MAX: usize = 200;
