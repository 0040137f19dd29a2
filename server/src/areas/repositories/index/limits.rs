//! The limits of an index, with units and reasons.

/// Files of an index: more than any repository that is read by people has.
pub const FILES_MAX: usize = 200_000;

/// Bytes of one file: larger ones are data or generated.
pub const FILE_BYTES_MAX: usize = 4 << 20;

/// Bytes of all files: they are in memory while the index is built.
pub const TEXT_BYTES_MAX: usize = 1 << 30;

/// Bytes of a path: what Linux accepts.
pub const PATH_BYTES_MAX: usize = 4_096;

/// Symbols, imports and references of one file together: a file of the largest size that consists
/// of calls of short names.
pub const OUTLINE_ENTRIES_MAX: usize = 1 << 20;

/// Bytes of the names, signatures and documentation of one file: they are read at once.
pub const OUTLINE_BYTES_MAX: usize = 16 << 20;

/// Hits of one search, symbols and references: more than anybody reads.
pub const HITS_MAX: usize = 200;

/// Files that are read together in the order in which they are stored, if it is not known how many
/// will be needed.
pub(super) const FILES_TOGETHER: usize = 32;

/// Words of a question: further ones are ignored.
pub const QUESTION_WORDS_MAX: usize = 64;

/// Bytes of a word that can be looked up: longer ones are data.
pub(super) const TERM_BYTES_MAX: usize = 64;

/// Bytes of text that are compressed together: more is smaller, and slower to read a file of.
pub(super) const BLOCK_BYTES: usize = 256 << 10;

/// Blocks that are kept after decompression, for each index in memory: enough for a few threads
/// that read files one after the other.
pub(super) const RECENT_BLOCKS: usize = 8;

/// Bytes of a block that is kept: that of one large file is not.
pub(super) const RECENT_BLOCK_BYTES_MAX: usize = 1 << 20;

/// Bytes of a part of the index after decompression, so that damaged bytes do not take all memory.
pub(super) const SECTION_BYTES_MAX: usize = 1 << 30;

/// Bytes of text that are analysed together, so that all cores are busy and memory stays small.
pub(super) const BATCH_BYTES: usize = 8 << 20;

/// Lines of a symbol that stay together: about two screens.
pub(super) const CHUNK_LINES_MAX: u32 = 80;

/// Lines of the pieces of longer symbols, and of files without a grammar: a screen.
pub(super) const WINDOW_LINES: u32 = 60;

/// Lines that two pieces have in common, so that what is on their border is found.
pub(super) const WINDOW_OVERLAP_LINES: u32 = 10;

/// Bytes of a chunk whose words are looked up: so many bytes in so few lines are data.
pub(super) const CHUNK_BYTES_MAX: usize = 64 << 10;

/// Symbols around a symbol whose names are looked up with it: nobody asks for more.
pub(super) const CONTAINERS_MAX: usize = 8;

/// Files that define a name beyond which a use of it says nothing about which one is meant.
pub(super) const DEFINERS_MAX: usize = 8;

/// Files that one file depends on: the less used ones are left out of the graph.
pub(super) const DEPENDENCIES_PER_FILE_MAX: usize = 100;

/// Rounds in which ranks are passed on in the graph: they hardly change after these.
pub(super) const RANK_ROUNDS: usize = 20;

/// Chunks with the most words in common that are ranked in full.
pub(super) const CANDIDATES_MAX: usize = 400;

/// Level of zstd for text and tables: higher ones take several times longer for a few percent.
pub(super) const COMPRESSION_LEVEL: i32 = 9;

/// The version of the format: an index of another one is made anew.
pub const FORMAT_VERSION: u32 = super::format::VERSION as u32;
