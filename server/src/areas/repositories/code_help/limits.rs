//! The limits of explanations and documentation, with units and reasons.

/// Bytes of a file that is parsed: larger ones are data.
pub(super) const PARSED_BYTES_MAX: usize = 4 << 20;
/// Bytes of a line of a file that is parsed: longer ones are data, or code that no person reads.
pub(super) const LINE_BYTES_MAX: usize = 64 << 10;
/// How often the parser may report progress without having read another byte: it does so every
/// hundred operations, and text that it cannot make sense of costs it many.
pub(super) const STALLED_REPORTS_MAX: usize = 20_000;
/// Nodes of a syntax tree that one question visits.
pub(super) const NODES_MAX: usize = 1_000_000;
/// Statements of one block that are looked at: longer ones are generated.
pub(super) const BLOCK_STATEMENTS_MAX: usize = 2_000;

/// Characters of an excerpt of code within a sentence: longer ones are not read as part of it.
pub(super) const EXCERPT_CHARS_MAX: usize = 100;
/// Bytes of code in which a secret is looked for before an excerpt of it is shown.
pub(super) const SECRET_BYTES_READ: usize = 4 * EXCERPT_CHARS_MAX + 256;
/// Characters of a description taken from a comment.
pub(super) const DESCRIPTION_CHARS_MAX: usize = 1_200;
/// Characters of a sentence taken from a comment.
pub(super) const SENTENCE_CHARS_MAX: usize = 400;
/// Sentences of a comment that a summary begins with.
pub(super) const SUMMARY_SENTENCES_MAX: usize = 2;

/// Steps of an explanation: more are not read.
pub(super) const STEPS_MAX: usize = 60;
/// Statements that are counted as left out: above, the number is of no interest.
pub(super) const LEFT_OUT_MAX: usize = 1_000;
/// How deeply steps are nested: deeper ones are counted only.
pub(super) const NESTING_MAX: usize = 4;
/// Cases of a `match` or `switch` that are described.
pub(super) const CASES_MAX: usize = 12;
/// Clauses and characters of a block that is described in the sentence of its header.
pub(super) const INLINE_CLAUSES_MAX: usize = 3;
pub(super) const INLINE_CHARS_MAX: usize = 170;
/// Names of called functions, or of definitions, that a summary lists.
pub(super) const SUMMARY_NAMES_MAX: usize = 6;
/// Parameters that are listed.
pub(super) const INPUTS_MAX: usize = 50;
/// Returned expressions, and ways to fail, that are listed.
pub(super) const EXITS_MAX: usize = 6;
/// Dependencies that are listed.
pub(super) const DEPENDENCIES_MAX: usize = 40;

/// Functions of a file that are documented.
pub(super) const METHODS_MAX: usize = 300;
/// Examples of a function: the first ones show how it is used.
pub(super) const METHOD_EXAMPLES_MAX: usize = 5;
/// Examples of a file.
pub(super) const FILE_EXAMPLES_MAX: usize = 10;
/// Lines of an example.
pub(super) const EXAMPLE_LINES_MAX: usize = 40;
/// Characters of an example.
pub(super) const EXAMPLE_CHARS_MAX: usize = 2_000;
/// Characters of the overview of a file.
pub(super) const OVERVIEW_CHARS_MAX: usize = 4_000;

/// Bytes of a comment that are looked at.
pub(super) const DOC_BYTES_MAX: usize = 16 << 10;
/// Parameters, errors and examples of a comment.
pub(super) const DOC_ITEMS_MAX: usize = 100;
