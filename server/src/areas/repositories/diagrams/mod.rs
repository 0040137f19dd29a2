//! Diagrams of a repository in Mermaid's language: which modules use which, and how types are
//! related. Deterministic: the same index yields the same text.

mod draw;
mod limits;
mod mermaid;
#[cfg(test)]
mod tests;

pub use draw::{Diagram, DiagramKind, diagrams};
