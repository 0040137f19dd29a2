//! What can be refused.

/// The lines that are to be explained are not lines of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("lines must be within 1 and {line_count}, the number of lines of the file")]
pub struct InvalidLines {
    /// How many lines the file has.
    pub line_count: u32,
}
