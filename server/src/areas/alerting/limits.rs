//! The limits of the area, with units and reasons.

use std::time::Duration;

/// Alerts that one notification describes; the others are counted. Nobody reads more in a chat.
pub(super) const NOTICE_ALERTS_MAX: usize = 10;

/// Characters of a link in a notification: a longer one would take the space of the message.
pub(super) const NOTICE_LINK_CHARS_MAX: usize = 500;

/// Characters of a URL in the configuration of a channel: what all proxies accept.
pub(super) const CHANNEL_URL_CHARS_MAX: usize = 2_048;

/// Characters of a channel's key for a paging service: those in use have 32 to 64.
pub(super) const CHANNEL_KEY_CHARS_MAX: usize = 255;

/// Recipients of an email channel: a larger group has a mailing list.
pub(super) const CHANNEL_RECIPIENTS_MAX: usize = 50;

/// Characters of an email address: the longest that SMTP can transfer (RFC 5321, section 4.5.3.1.3,
/// without the angle brackets).
pub(super) const EMAIL_ADDRESS_CHARS_MAX: usize = 254;

/// Seconds that a receiver can ask to wait before a notification is sent again: alerts are useless
/// after hours, and a wrong number must not silence a channel for a year.
pub(super) const RECEIVER_RETRY_AFTER_SECONDS_MAX: u64 = 3_600;

/// The same in milliseconds: no attempt is later than this from now.
pub(super) const RECEIVER_RETRY_MS_MAX: i64 = 1_000 * RECEIVER_RETRY_AFTER_SECONDS_MAX as i64;

/// Milliseconds of a range of shifts: a year.
pub(super) const SHIFTS_RANGE_MS_MAX: i64 = 366 * 24 * 60 * 60 * 1_000;

/// Maintenance windows. All are examined whenever an alert is about to be notified.
pub(super) const MAINTENANCE_WINDOWS_MAX: usize = 1_000;

/// Alert rules that a maintenance window names.
pub(super) const MAINTENANCE_RULES_MAX: usize = 1_000;

/// Services that a maintenance window or an alert rule names.
pub(super) const SERVICES_MAX: usize = 100;

/// Characters of the name of a service.
pub(super) const SERVICE_CHARS_MAX: usize = 200;

/// Alert rules of a server. All are evaluated every few seconds, so all are in memory.
pub(super) const RULES_MAX: usize = 20_000;

/// Bytes of the strings of an alert rule: most rules have a few hundred, and the largest number of
/// the largest rules still fits into 160 MB.
pub(super) const RULE_TEXT_BYTES_MAX: usize = 8 << 10;

/// Notification channels of an alert rule.
pub(super) const RULE_CHANNELS_MAX: usize = 20;

/// Milliseconds of the window of an alert rule, at least: most agents send every 10 to 60 s, so a
/// shorter one would seldom contain a sample.
pub(super) const RULE_WINDOW_MS_MIN: i64 = 10 * 1_000;

/// Milliseconds of the window of an alert rule, at most: a week, to compare with the same weekday.
pub(super) const RULE_WINDOW_MS_MAX: i64 = 7 * 24 * 60 * 60 * 1_000;

/// Milliseconds for which a condition has to be met before an alert fires, at most: a day.
pub(super) const RULE_HOLD_MS_MAX: i64 = 24 * 60 * 60 * 1_000;

/// On-call schedules: one for each team of a large company.
pub(super) const SCHEDULES_MAX: usize = 1_000;

/// Members of an on-call schedule.
pub(super) const SCHEDULE_MEMBERS_MAX: usize = 100;

/// Overrides of an on-call schedule: three a day for a year.
pub(super) const SCHEDULE_OVERRIDES_MAX: usize = 1_000;

/// Milliseconds for which an override is kept after its end.
pub(super) const SCHEDULE_OVERRIDE_KEPT_MS: i64 = 30 * 24 * 60 * 60 * 1_000;

/// Milliseconds of shifts that are listed by default: a week.
pub(super) const SCHEDULE_SHIFTS_DEFAULT_MS: i64 = 7 * 24 * 60 * 60 * 1_000;

/// Milliseconds of shifts in a calendar file: people plan a quarter ahead.
pub(super) const SCHEDULE_CALENDAR_MS: i64 = 90 * 24 * 60 * 60 * 1_000;

/// Characters of the name of a rule, channel, policy, schedule or maintenance window.
pub(super) const ALERTING_NAME_CHARS_MAX: usize = 200;

/// Characters of the description of one of these.
pub(super) const ALERTING_DESCRIPTION_CHARS_MAX: usize = 2_000;

/// Notification channels of a server: far more than teams have, and few enough to list.
pub(super) const CHANNELS_MAX: usize = 1_000;

/// Escalation policies of a server.
pub(super) const POLICIES_MAX: usize = 1_000;

/// Steps of an escalation policy.
pub(super) const POLICY_STEPS_MAX: usize = 20;

/// Minutes of a delay in an escalation policy: a day.
pub(super) const POLICY_DELAY_MINUTES_MAX: u32 = 24 * 60;

/// Repetitions of the cycle of an escalation policy.
pub(super) const POLICY_REPEATS_MAX: u32 = 100;

/// The same, if a policy repeats and does not say how often.
pub(super) const POLICY_REPEATS_DEFAULT: u32 = 3;

/// Bytes of a receiver's response that are read: it decides success, and is never shown.
pub(super) const RECEIVER_RESPONSE_BYTES_MAX: usize = 64 << 10;

/// Milliseconds that a receiver may take to respond.
pub(super) const RECEIVER_TIMEOUT_MS: u64 = 10_000;

/// Milliseconds of a delivery with all its requests: a notification describes several alerts, an
/// email has several recipients, and these share a few connections to the mail server.
pub(super) const DELIVERY_TIMEOUT_MS: u64 = 30_000;

/// Alerts of one message: the log of each has an entry, and its record stays below a megabyte.
pub(super) const MESSAGE_ALERTS_MAX: usize = 1_000;

/// Messages that wait for one receiver: a day of a busy one. The oldest is dropped for a new one.
pub(super) const OUTBOX_MESSAGES_MAX: usize = 1_000;

/// Bytes of all messages that wait, in memory: tens of thousands. The oldest one of the receiver
/// with the most is dropped for a new one.
pub(super) const OUTBOX_BYTES_MAX: usize = 32 << 20;

/// Entries of the log of an alert; the oldest is deleted for a new one.
pub(super) const ALERT_LOG_MAX: u32 = 1_000;

/// Open alerts of a server: far more than people can look at, and about 20 MB of memory.
pub(super) const ALERTS_OPEN_MAX: usize = 20_000;

/// Groups of rules that are remembered without an open alert: those that wait until they may fire,
/// and those that changed within the last hour.
pub(super) const ALERT_GROUPS_MAX: usize = 20_000;

/// Bytes of all open alerts and groups in memory: those with many long labels take more than usual.
pub(super) const ALERT_BYTES_MAX: usize = 48 << 20;

/// Resolved alerts that are kept.
pub(super) const ALERTS_RESOLVED_MAX: usize = 50_000;

/// Open alerts of one rule: the others have space too, and nobody looks at so many.
pub(super) const RULE_ALERTS_MAX: usize = 2_000;

/// Groups of a rule for the absence of data that are remembered while they have none.
pub(super) const RULE_GROUPS_KNOWN_MAX: usize = 10_000;

/// Receivers that are remembered as slow: all channels, and as many people.
pub(super) const SLOW_RECEIVERS_MAX: usize = 2 * CHANNELS_MAX;

/// Receivers that messages are sent to at a time: together with the slow ones, fewer than the
/// requests that the outbound client allows at a time.
pub(super) const DELIVERIES_AT_ONCE: u32 = 128;

/// The same, of receivers that failed or were slow.
pub(super) const SLOW_DELIVERIES_AT_ONCE: u32 = 64;

/// Seconds of a job that sends the messages of a receiver.
pub(super) const DELIVERY_JOB_SECONDS: u32 = 300;

/// After this, such a job begins no further attempt, which ends within its time.
pub(super) const DELIVERY_JOB_TIME: Duration = Duration::from_secs(240);
const _: () = assert!(
    DELIVERY_JOB_TIME.as_millis() as u64 + DELIVERY_TIMEOUT_MS
        < DELIVERY_JOB_SECONDS as u64 * 1_000
);

/// Received alerts that are kept: many times those of a large Prometheus in trouble.
pub(super) const RECEIVED_ALERTS_MAX: usize = 10_000;

/// Bytes of received alerts in memory.
pub(super) const RECEIVED_BYTES_MAX: usize = 32 << 20;

/// Milliseconds after which a received alert ends that says no end and is not repeated, as by
/// default in Alertmanager.
pub(super) const RECEIVED_RESOLVE_MS: i64 = 5 * 60 * 1_000;

/// Evaluations of a preview: each is a query.
pub(super) const PREVIEW_EVALUATIONS_MAX: usize = 2_000;

/// Alerts of a preview. A rule with more is not useful as it is.
pub(super) const PREVIEW_PERIODS_MAX: usize = 1_000;

/// Milliseconds of the range of a preview: a month.
pub(super) const PREVIEW_RANGE_MS_MAX: i64 = 31 * 24 * 60 * 60 * 1_000;

/// Milliseconds for which requests are signed with a secret that was replaced, too: a day to change
/// the receiver.
pub(super) const PREVIOUS_SECRET_MS: i64 = 24 * 60 * 60 * 1_000;

/// Tests of channels at a time: together with the deliveries, fewer than the requests that the
/// outbound client allows at a time.
pub(super) const CHANNEL_TESTS_AT_ONCE: usize = 8;
