//! The limits of repositories and syncs, with units and reasons. Those of git, of source files and
//! of indexes are in their folders.

use std::time::Duration;

/// Repositories: each has an index and a directory of git.
pub(super) const REPOSITORIES_MAX: usize = 1_000;
/// Syncs that are stored, of all repositories.
pub(super) const SYNCS_MAX: usize = 100_000;
/// Syncs that are kept of a repository, the newest ones.
pub(super) const SYNCS_KEPT: usize = 50;
/// Characters of the name of a repository.
pub(super) const NAME_CHARS_MAX: usize = 200;
/// Characters of a URL.
pub(super) const URL_CHARS_MAX: usize = 2_048;
/// Characters of a branch, as many as git takes for a ref on common file systems.
pub(super) const BRANCH_CHARS_MAX: usize = 244;
/// Characters of a token.
pub(super) const TOKEN_CHARS_MAX: usize = 4_096;
/// Patterns of each kind: every path is matched with all of them.
pub(super) const PATTERNS_MAX: usize = 100;
/// Characters of a pattern.
pub(super) const PATTERN_CHARS_MAX: usize = 256;

/// Attempts of a sync: more than one if the server ends during the first.
pub(super) const SYNC_ATTEMPTS_MAX: u32 = 3;
/// Seconds that a sync may take: fetching is limited by a setting, the rest takes a minute for a
/// million lines.
pub(super) const SYNC_JOB_SECONDS: u32 = 3_600;
/// Looks whether a branch has moved that run at the same time: they only wait.
pub(super) const LOOKS_AT_ONCE: u32 = 4;
/// Seconds that it may take to ask a remote repository for its branch.
pub(super) const LOOK_JOB_SECONDS: u32 = 120;
/// Bytes of memory that a sync takes for each byte of text: the text as read, its outline, postings
/// and the finished index.
pub(super) const SYNC_MEMORY_PER_TEXT_BYTE: u64 = 8;
/// Bytes of memory that a sync takes for each byte of a path, for each file, for each symbol and
/// for each reference, beyond the text.
pub(super) const SYNC_MEMORY_PER_PATH_BYTE: u64 = 6;
pub(super) const SYNC_MEMORY_PER_FILE: u64 = 1 << 10;
pub(super) const SYNC_MEMORY_PER_SYMBOL: u64 = 320;
pub(super) const SYNC_MEMORY_PER_REFERENCE: u64 = 48;
/// How long it may take to match all paths of a commit with the patterns.
pub(super) const SELECTION_TIMEOUT: Duration = Duration::from_secs(60);
/// Paths that are matched between two looks at the clock.
pub(super) const SELECTED_AT_ONCE: usize = 64;
/// The share of the memory of the process that indexes may take: one in so many bytes.
pub(super) const INDEX_MEMORY_SHARE: u64 = 8;
/// Bytes of memory that reading an index takes for each byte that it has in memory then.
pub(super) const INDEX_READING_FACTOR: u64 = 2;
/// Bytes of memory that a sync takes for any text.
pub(super) const SYNC_MEMORY_BYTES: u64 = 16 << 20;
/// Files that were read and wait to be indexed.
pub(super) const READ_FILES_WAITING: usize = 16;
/// Bytes at the beginning of a file in which a NUL makes it binary, as in git.
pub(super) const BINARY_PREFIX_BYTES: usize = 8_000;
/// Bytes at the beginning of a file in which it may say that it is generated.
pub(super) const GENERATED_PREFIX_BYTES: usize = 1_024;

/// Default number of items of a list.
pub(super) const LIST_LIMIT: usize = 50;
/// Characters that are kept of what git or a server says.
pub(super) const FOREIGN_TEXT_CHARS_MAX: usize = 500;
/// Characters of a commit's name that are shown.
pub(super) const COMMIT_CHARS: usize = 12;

/// Questions, explanations and documentations at a time: they may read every file of an index.
/// Searches do not wait for them.
pub(super) const LONG_READS_AT_ONCE: usize = 2;
/// Bytes of memory that an answer takes for each byte of text, since it may read most files with
/// their outlines, and at most: it reads a limited number of files.
pub(super) const ANSWER_MEMORY_FACTOR: u64 = 2;
pub(super) const ANSWER_MEMORY_BYTES_MAX: u64 = 64 << 20;
/// Default number of results of a search.
pub(super) const SEARCH_LIMIT: usize = 10;
/// Results of a search, each with its lines.
pub(super) const SEARCH_LIMIT_MAX: usize = 50;
/// The share of the words that were searched for that a result contains, weighted by how rare they
/// are: below it, it is about something else.
pub(super) const COVERAGE_MIN: f64 = 0.3;
/// Characters of a question: several sentences and an error message.
pub(super) const QUESTION_CHARS_MAX: usize = 4_000;
/// Lines of a snippet.
pub(super) const SNIPPET_LINES_MAX: u32 = 40;
/// Bytes of a line that a search or an error shows: longer ones are data, and are cut.
pub(super) const SHOWN_LINE_BYTES_MAX: usize = 8 << 10;
/// Bytes of all lines that one response of a search or an error shows: several times those of as
/// many lines of code as there can be.
pub(super) const SHOWN_BYTES_MAX: usize = 512 << 10;

/// Chat sessions; the ones that were not used for the longest time go first.
pub(super) const SESSIONS_MAX: usize = 10_000;
/// Turns of all sessions together, of some KiB each.
pub(super) const TURNS_MAX: usize = 100_000;
/// Turns of a session.
pub(super) const SESSION_TURNS_MAX: u32 = 200;
/// Turns that a question may refer to.
pub(super) const EARLIER_TURNS: u32 = 3;
/// Milliseconds that a session is kept after its last turn: 30 days.
pub(super) const SESSION_KEPT_MS: i64 = 30 * 24 * 60 * 60 * 1_000;
/// Sessions that a sweep deletes at a time.
pub(super) const UNUSED_SESSIONS_AT_ONCE: usize = 200;
/// Characters of the context of a session.
pub(super) const CONTEXT_CHARS_MAX: usize = 4_000;

/// Bytes of all pages and diagrams of a repository, as JSON.
pub(super) const PAGES_BYTES_MAX: usize = 32 << 20;
/// Bytes of memory that reading pages takes for each stored byte: text is compressed to a fifth,
/// and is parsed then.
pub(super) const PAGES_MEMORY_PER_BYTE: u64 = 16;

/// Characters of the path of a file.
pub(super) const PATH_CHARS_MAX: usize = 4_096;
/// Functions of a file whose calls are searched for.
pub(super) const DOCUMENTED_FUNCTIONS_MAX: usize = 200;
/// Calls of a function that are looked at, and those that are shown.
pub(super) const USAGES_FOUND_MAX: usize = 20;
pub(super) const USAGES_SHOWN_MAX: usize = 3;
/// Bytes of the line of a call: longer ones show nobody how to call it.
pub(super) const USAGE_BYTES_MAX: usize = 4 << 10;

/// Frames of a backtrace whose lines are shown, the newest ones.
pub(super) const FRAMES_MAX: usize = 20;
/// Repositories in which they are looked for.
pub(super) const FRAME_REPOSITORIES_MAX: usize = 8;
/// Lines that are shown before and after that of a frame.
pub(super) const FRAME_LINES_AROUND: u32 = 5;
/// Digits of the name of a commit in a release.
pub(super) const COMMIT_DIGITS_MIN: usize = 7;
