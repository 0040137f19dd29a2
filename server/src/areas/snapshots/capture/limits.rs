//! The limits of captures, with units and reasons.

use std::time::Duration;

/// Time in which Chromium reports that the process of a page ended, after it has aborted the
/// navigation of the page.
pub(super) const CRASH_REPORT: Duration = Duration::from_millis(200);

/// Captures of a browser process before it is replaced: Chromium's memory grows with its age.
pub(super) const CAPTURES_PER_PROCESS: u32 = 100;

/// Time in which Chromium answers its first command: cold disks and busy machines are slow.
pub(super) const START_TIMEOUT: Duration = Duration::from_secs(30);

/// Time of a capture from the first command to the image.
pub(super) const CAPTURE_TIMEOUT: Duration = Duration::from_secs(30);

/// Time without a request after which the network of a page is idle.
pub(super) const NETWORK_IDLE: Duration = Duration::from_millis(500);

/// Pause between two looks for an element that a capture waits for.
pub(super) const SELECTOR_PERIOD: Duration = Duration::from_millis(100);

/// Milliseconds in which fonts, images and `aria-busy` elements settle; the capture goes on without
/// those that do not.
pub(super) const SETTLE_MS: u64 = 4_000;

/// Screenshots of a page, at most, until two in a row are equal.
pub(super) const SHOTS_MAX: usize = 3;

/// Pause before the last screenshot, so that a page that is nearly settled settles.
pub(super) const SHOT_PAUSE: Duration = Duration::from_millis(300);

/// Time in which Chromium disposes of a browser context; a process that needs longer is replaced.
pub(super) const DISPOSE_TIMEOUT: Duration = Duration::from_secs(5);

/// CSS pixels of the width of a viewport.
pub(super) const VIEWPORT_WIDTHS: std::ops::RangeInclusive<u32> = 320..=3_840;

/// CSS pixels of the height of a viewport.
pub(super) const VIEWPORT_HEIGHTS: std::ops::RangeInclusive<u32> = 240..=2_160;

/// Device pixels of the height of an image: Chromium repeats the page or paints nothing below.
pub(super) const IMAGE_HEIGHT_MAX: u32 = 16_384;

/// Pixels of an image: comparing two of them takes four bytes for each.
pub(super) const IMAGE_PIXELS_MAX: u64 = 50_000_000;

/// Largest number of device pixels for a CSS pixel.
pub(super) const DEVICE_SCALE_FACTOR_MAX: f64 = 4.0;

/// Bytes of a message of Chromium: a screenshot, in base64. A capture holds two of them.
pub(super) const MESSAGE_BYTES_MAX: usize = 64 << 20;

/// Events of a capture that wait for being handled.
pub(super) const EVENTS_WAITING_MAX: usize = 16_384;

/// Bytes of the events of a capture that wait: a page may put megabytes into a URL.
pub(super) const EVENT_BYTES_WAITING_MAX: usize = 32 << 20;

/// Bytes of the commands that wait for being written to Chromium, which repeat headers of a page.
pub(super) const COMMAND_BYTES_WAITING_MAX: usize = 32 << 20;

/// Bytes of an identifier that Chromium makes: they are of 32 characters.
pub(super) const ID_BYTES_MAX: usize = 256;

/// Requests of a page that run at the same time, and sessions of a process, that are kept in mind.
pub(super) const IDS_MAX: usize = 10_000;

/// Messages that are no messages, after which a process is given up.
pub(super) const INVALID_MESSAGES_MAX: usize = 100;

/// Commands that wait for being written to Chromium.
pub(super) const COMMANDS_WAITING_MAX: usize = 4_096;

/// Frames of a page that are settled: further ones are left as they are.
pub(super) const FRAMES_MAX: usize = 100;

/// Characters of the URL of a page: what all proxies accept.
pub(super) const PAGE_URL_CHARS_MAX: usize = 2_048;

/// Selectors of each list of a request.
pub(in crate::areas::snapshots) const SELECTORS_MAX: usize = 50;

/// Characters of a selector.
pub(super) const SELECTOR_CHARS_MAX: usize = 1_000;

/// Headers, and cookies, that a request adds.
pub(super) const PAGE_HEADERS_MAX: usize = 50;

/// Bytes of a header or cookie: what servers accept.
pub(super) const PAGE_HEADER_BYTES_MAX: usize = 4 << 10;

/// Bytes in memory of a process of Chromium: a large page with a few images of the largest size.
pub(super) const PROCESS_BYTES_MAX: u64 = 1_536 << 20;

/// Pause between two looks at the memory of Chromium while it makes captures.
pub(super) const MEMORY_PERIOD: Duration = Duration::from_millis(500);

/// Bytes of Chromium's error output that are kept: its last words say why it did not start.
pub(super) const LAST_WORDS_BYTES: usize = 2 << 10;

/// Time in which killed processes end.
pub(super) const REAP_TIMEOUT: Duration = Duration::from_secs(2);

/// Pause between two looks whether killed processes have ended.
pub(super) const REAP_PERIOD: Duration = Duration::from_millis(5);

/// Bytes that the pages of a capture send and receive together.
pub(super) const PROXY_BYTES_MAX: u64 = 200 << 20;

/// Connections of a capture in all.
pub(super) const PROXY_CONNECTIONS_MAX: usize = 5_000;
