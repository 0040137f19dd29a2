//! The limits of the area, with units and reasons.

use crate::limits::OWN_JOBS_RESERVE;

/// Monitors of a server: one for each address that a large company has.
pub(super) const MONITORS_MAX: usize = 10_000;

/// Characters of the name of a monitor.
pub(super) const STATUS_NAME_CHARS_MAX: usize = 200;

/// Characters of the URL of a monitor: what all proxies accept.
pub(super) const MONITOR_URL_CHARS_MAX: usize = 2_048;

/// Characters of a host name: the longest that DNS has.
pub(super) const MONITOR_HOST_CHARS_MAX: usize = 253;

/// Characters of the body that a monitor sends.
pub(super) const MONITOR_BODY_CHARS_MAX: usize = 10_000;

/// Characters of a text that the response has to contain.
pub(super) const MONITOR_CONTAINS_CHARS_MAX: usize = 1_000;

/// Statuses, or ranges of them, that a monitor expects.
pub(super) const MONITOR_STATUSES_MAX: usize = 20;

/// Bytes of a response that are searched for a text; the rest is not read.
pub(super) const MONITOR_RESPONSE_BYTES_MAX: usize = 1 << 20;

/// Redirects that a check follows.
pub(super) const MONITOR_REDIRECTS_MAX: usize = 5;

/// Seconds between two checks, at least: others pay for them.
pub(super) const MONITOR_INTERVAL_SECONDS_MIN: u32 = 10;

/// Seconds between two checks, at most: a day.
pub(super) const MONITOR_INTERVAL_SECONDS_MAX: u32 = 86_400;

/// Seconds of a check, at most.
pub(super) const MONITOR_TIMEOUT_SECONDS_MAX: u32 = 60;

/// Failed checks that are repeated before a monitor is down.
pub(super) const MONITOR_RETRIES_MAX: u32 = 10;

/// Days before the end of a certificate from which on a monitor can warn.
pub(super) const MONITOR_CERTIFICATE_DAYS_MAX: u32 = 365;

/// Milliseconds of a response from which on a monitor can be degraded.
pub(super) const MONITOR_DEGRADED_MS_MAX: u32 = 60_000;

/// Seconds by which a heartbeat may be late, at most.
pub(super) const MONITOR_GRACE_SECONDS_MAX: u32 = 86_400;

/// Characters of a message that a heartbeat brings.
pub(super) const HEARTBEAT_MESSAGE_CHARS_MAX: usize = 200;

/// Checks that run at a time, as many as the client has usual requests.
pub(super) const CHECKS_AT_ONCE: u32 = 256;

/// Checks of targets of which nothing is known, or that are slow for the first time, that run at a
/// time: as many as the client has such requests.
pub(super) const TRIAL_CHECKS_AT_ONCE: u32 = 64;

/// Checks of targets that hang or are slow that run at a time: as many as the client has requests
/// for slow hosts.
pub(super) const SLOW_CHECKS_AT_ONCE: u32 = 192;

/// Checks of new, hanging or slow targets whose jobs wait for a worker, in each lane: as many as
/// begin within a second or two.
pub(super) const CHECKS_WAITING_MAX: usize = 64;

/// Seconds that a usual check may take. One that takes longer is given up and made again in the
/// lane of trials, so that many targets that begin to hang at once do not hold up the others.
pub(super) const QUICK_CHECK_SECONDS: u32 = 5;

/// Checks that users ask for at a time.
pub(super) const CHECKS_ASKED_AT_ONCE: usize = 8;

/// Changes of the state that a response lists, at most.
pub(super) const HISTORY_LIMIT_MAX: usize = MONITOR_CHANGES_MAX;

/// Days of which the uptime is known.
pub(super) const UPTIME_DAYS: i64 = 90;

/// Changes of a monitor that are kept.
pub(super) const MONITOR_CHANGES_MAX: usize = 1_000;

/// Status pages of a server: one for each product of a large company, or each customer of a small
/// one.
pub(super) const PAGES_MAX: usize = 1_000;

/// Monitors of a status page: nobody reads a longer one.
pub(super) const PAGE_MONITORS_MAX: usize = 200;

/// Characters of the name of a monitor on a status page, and of the name of a group.
pub(super) const COMPONENT_NAME_CHARS_MAX: usize = 100;

/// Characters of the URL of a logo: what all proxies accept.
pub(super) const LOGO_URL_CHARS_MAX: usize = 2_048;

/// Incidents of a server, resolved ones included: each is a document and an entry in memory.
pub(super) const INCIDENTS_MAX: usize = 10_000;

/// Open incidents of a status page: all are on it.
pub(super) const PAGE_OPEN_INCIDENTS_MAX: usize = 50;

/// Updates of an incident. The last one is reserved for its resolution.
pub(super) const INCIDENT_UPDATES_MAX: usize = 100;

/// Characters of the message of an update.
pub(super) const INCIDENT_MESSAGE_CHARS_MAX: usize = 5_000;

/// Bytes of the messages of an incident, that of its resolution aside: the page shows all of them.
pub(super) const INCIDENT_MESSAGE_BYTES_MAX: usize = 128 << 10;

/// Resolved incidents that a status page shows, and its feed.
pub(super) const PAGE_RESOLVED_INCIDENTS_MAX: usize = 50;

/// Bytes of messages that a status page shows beside the last one of each incident.
pub(super) const PAGE_MESSAGE_BYTES_MAX: usize = 512 << 10;

/// Bytes of messages of incidents in memory. Beyond them the older incidents are kept without.
pub(super) const INCIDENT_BYTES_IN_MEMORY_MAX: usize = 64 << 20;

/// Milliseconds for which a resolved incident stays on the status page: 15 days.
pub(super) const INCIDENT_SHOWN_MS: i64 = 15 * 24 * 60 * 60 * 1_000;

/// Scheduled maintenances that are not completed.
pub(super) const MAINTENANCES_OPEN_MAX: usize = 1_000;

/// Scheduled maintenances, completed ones included. All are in memory; for a new one, the one that
/// was completed first is deleted.
pub(super) const MAINTENANCES_MAX: usize = 3_000;

/// Milliseconds for which a completed maintenance is kept: 90 days.
pub(super) const MAINTENANCE_KEPT_MS: i64 = 90 * 24 * 60 * 60 * 1_000;

/// Completed maintenances that one write deletes, or whose windows it deletes.
pub(super) const MAINTENANCES_TRIMMED_MAX: usize = 100;

/// Milliseconds of a scheduled maintenance: 30 days. The uptime does not count during it.
pub(super) const MAINTENANCE_MS_MAX: i64 = 30 * 24 * 60 * 60 * 1_000;

/// Characters of the description of a scheduled maintenance.
pub(super) const MAINTENANCE_DESCRIPTION_CHARS_MAX: usize = 2_000;

/// Alert rules that a scheduled maintenance mutes: as many as a maintenance window names.
pub(super) const MAINTENANCE_MUTED_RULES_MAX: usize = 1_000;

/// New changes of a monitor after which the oldest are deleted.
pub(super) const MONITOR_CHANGES_TRIMMED: usize = 100;

/// Subscribers of all pages: some 50 MB of memory. For another one, one that has not confirmed its
/// address is deleted.
pub(super) const SUBSCRIBERS_MAX: usize = 100_000;

/// Subscribers of one page: whoever confirms that many addresses closes no other page.
pub(super) const SUBSCRIBERS_OF_PAGE_MAX: usize = SUBSCRIBERS_MAX / 2;

/// Subscribers of all pages that have not confirmed their addresses: strangers enter them.
pub(super) const UNCONFIRMED_MAX: usize = 20_000;

/// Such subscribers of one page.
pub(super) const UNCONFIRMED_OF_PAGE_MAX: usize = 1_000;

/// Milliseconds for which an address may be confirmed: two days.
pub(super) const UNCONFIRMED_KEPT_MS: i64 = 48 * 3_600_000;

/// Mails that ask one address for confirmation.
pub(super) const CONFIRMATIONS_MAX: u32 = 3;

/// Milliseconds between two such mails.
pub(super) const CONFIRMATION_PAUSE_MS: i64 = 600_000;

/// Characters of an email address: the longest that SMTP has.
pub(super) const SUBSCRIBER_EMAIL_CHARS_MAX: usize = 254;

/// How often one email address may be entered on all pages at once; further ones are an hour apart.
pub(super) const ENTERED_ADDRESS_BURST: u32 = 10;

/// Slots in which the entered email addresses are counted: those of a slot are counted together.
pub(super) const ENTERED_ADDRESS_SLOTS: u64 = 1 << 16;

/// Slots in which the networks are counted that addresses are entered from, likewise.
pub(super) const SUBSCRIBING_NETWORK_SLOTS: u64 = 1 << 16;

/// Attempts to send a mail about a notice: with growing pauses, over an hour.
pub(super) const SUBSCRIBER_MAIL_ATTEMPTS: u16 = 8;

/// Attempts to send a mail that asks for confirmation, over a minute or two. Few, because anybody
/// can enter addresses for which they fail; whoever waits for the mail enters the address again.
pub(super) const CONFIRMATION_ATTEMPTS: u16 = 3;

/// Seconds of an attempt: longer than the timeout of the mail server.
pub(super) const SUBSCRIBER_MAIL_SECONDS: u32 = 120;

/// Mails about notices that are sent at a time. With the mails that ask for confirmation, as many
/// as the mailer has connections.
pub(super) const SUBSCRIBER_MAILS_AT_ONCE: u32 = 6;

/// Mails that ask for confirmation that are sent at a time.
pub(super) const CONFIRMATIONS_AT_ONCE: u32 = 2;

/// Mails that are enqueued in one write: so many may be sent twice if the server is killed right
/// after it.
pub(super) const SUBSCRIBER_MAILS_PER_WRITE: usize = 100;

/// Mails about notices that are enqueued and not sent, at most: half of what is reserved for the
/// server's own jobs when the queues of users are full.
pub(super) const SUBSCRIBER_MAILS_UNFINISHED_MAX: usize = OWN_JOBS_RESERVE / 2;

/// Mails that ask for confirmation that are enqueued and not sent, at most. All are enqueued in one
/// write.
pub(super) const CONFIRMATIONS_UNFINISHED_MAX: usize = OWN_JOBS_RESERVE / 10;

/// Refusals of an address in a row after which its subscription ends.
pub(super) const BOUNCES_MAX: u32 = 3;

/// Milliseconds in which such refusals count once: a day.
pub(super) const BOUNCE_PAUSE_MS: i64 = 86_400_000;

/// Bytes of rendered pages that are kept: those of hundreds of pages.
pub(super) const RENDERED_BYTES_MAX: usize = 64 << 20;

/// Incidents that a day of a component names.
pub(super) const INCIDENTS_OF_DAY_MAX: usize = 5;

/// Notices of one page whose mails are not enqueued.
pub(super) const NOTICES_PENDING_OF_PAGE_MAX: usize = 100;

/// Notices for subscribers that are kept.
pub(super) const NOTICES_MAX: usize = 10_000;

/// Notices that are deleted at once to make space for others.
pub(super) const NOTICES_DELETED_AT_ONCE: usize = 1_000;

/// Notices of the start or the end of maintenances that are recorded in one write.
pub(super) const NOTICES_RECORDED_AT_ONCE: usize = 100;

/// Milliseconds after which the mails of a notice that were enqueued are sent or given up: a day,
/// much longer than all attempts take.
pub(super) const NOTICE_SENT_MS: i64 = 86_400_000;

/// Milliseconds for which notices are kept after their mails were enqueued: seven days.
pub(super) const NOTICE_KEPT_MS: i64 = 7 * 86_400_000;

/// Milliseconds after the start of a maintenance in which mails about it are of use: a day, within
/// which the notice is kept in any case, so that the start is noticed once.
pub(super) const BEGUN_NOTICE_MS: i64 = 86_400_000;

/// Milliseconds after the end of a maintenance in which mails about it are of use.
pub(super) const COMPLETED_NOTICE_MS: i64 = 3_600_000;
