//! The limits of the area, each with its unit and reason.

/// Events whose fields are listed: the newest that match.
pub(super) const FIELDS_EVENTS_MAX: u64 = 1_000;
/// Fields that are listed; further ones are only counted.
pub(super) const FIELDS_MAX: usize = 500;
/// Characters of an example of a field.
pub(super) const EXAMPLE_CHARS_MAX: usize = 200;
/// Events in which the values of a property are counted: the newest that match. Their properties
/// are read from disk.
pub(super) const VALUES_EVENTS_MAX: u64 = 10_000;
/// Characters of a property's value that is counted: the longest tag value. Longer ones are texts
/// that hardly occur twice.
pub(super) const VALUE_CHARS_MAX: usize = 500;
/// Events read at a time, which bounds the memory of a sample.
pub(super) const SAMPLE_PAGE_EVENTS: usize = 500;
/// Bytes of properties after which a sample ends.
pub(super) const SAMPLE_BYTES_MAX: usize = 16 << 20;
/// Milliseconds of a funnel's window, at most: longer than events are usually kept.
pub(super) const FUNNEL_WINDOW_MS_MAX: i64 = 90 * 24 * 60 * 60 * 1_000;
/// Milliseconds of a funnel's window if none is given.
pub(super) const FUNNEL_WINDOW_DEFAULT_MS: i64 = 24 * 60 * 60 * 1_000;
/// Seconds that a request for new events waits, at most: shorter than proxies do.
pub(super) const TAIL_WAIT_SECONDS_MAX: usize = 30;
/// Milliseconds for which events are collected after the first one, so that a fast sender does not
/// cause a response for each event.
pub(super) const TAIL_PAUSE_MS: u64 = 200;
/// Seconds in `Retry-After` when too many requests wait for new events.
pub(super) const TAIL_FULL_RETRY_SECONDS: u32 = 5;
