//! The limits of wiki pages, with units and reasons.

/// Pages of a repository, with the overview: deeper folders are joined to their parents above it.
pub(super) const PAGES_MAX: usize = 200;
/// Source files up to which each file is a module of its own.
pub(super) const FILE_MODULES_MAX: usize = 12;
/// Bytes of the Markdown of a page.
pub(super) const PAGE_BYTES_MAX: usize = 64 * 1024;
/// Characters of a slug.
pub(super) const SLUG_CHARS_MAX: usize = 80;
/// Public symbols that a page lists.
pub(super) const SYMBOLS_MAX: usize = 120;
/// Files that a page lists.
pub(super) const FILES_MAX: usize = 20;
/// Modules that a page lists as used or using.
pub(super) const RELATED_MAX: usize = 20;
/// Entry points that the overview lists.
pub(super) const ENTRY_POINTS_MAX: usize = 12;
/// Sentences of a README that the overview quotes.
pub(super) const README_SENTENCES_MAX: usize = 6;
/// Sentences of its documentation that a module's page quotes.
pub(super) const DOC_SENTENCES_MAX: usize = 8;
