//! The calls of a function from other files, for its documentation: those that mean it without
//! doubt.

use super::files::{Files, FoundSymbol};
use super::uses::certain_calls;
use crate::areas::repositories::index::{FileId, Index, IndexError};

/// A call of a function from another file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallFromElsewhere {
    /// The position of the function in the outline of its file.
    pub function: u32,
    /// The file that calls it.
    pub file: FileId,
    /// The line.
    pub line: u32,
    /// Whether the call is in a test.
    pub is_test: bool,
}

/// Returns for each of some functions of a file, by their positions, the calls of it from other
/// files that mean it without doubt, at most so many of each, those in tests first.
pub fn calls_from_elsewhere(
    index: &Index,
    file: FileId,
    functions: &[u32],
    calls_max: usize,
) -> Result<Vec<CallFromElsewhere>, IndexError> {
    let mut files = Files::new(index);
    let open = files.open(file)?;
    let mut calls = Vec::new();
    for function in functions.iter().copied() {
        let Some(symbol) = FoundSymbol::new(&open, function) else { continue };
        let mut found: Vec<CallFromElsewhere> = certain_calls(&mut files, &symbol)?
            .into_iter()
            .filter(|(hit, _)| hit.file != file)
            .map(|(hit, is_test)| CallFromElsewhere {
                function,
                file: hit.file,
                line: hit.line,
                is_test,
            })
            .collect();
        found.sort_by_key(|call| !call.is_test);
        calls.extend(found.into_iter().take(calls_max));
    }
    Ok(calls)
}
