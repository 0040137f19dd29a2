//! Checks of targets: each runs within its timeout and ends with a result, never with an error. One
//! that cannot begin because of other checks has no result.
//!
//! A reason names what was found in our words and numbers. Nothing of what a server answered is in
//! it beyond the status: it may be shown to others.

use std::io::ErrorKind;
use std::time::Duration;

use telltale_engine::{Clock, TimestampMs};

use super::{http, tcp};
use crate::areas::status::limits;
use crate::areas::status::monitors::condition::{CheckResult, Verdict};
use crate::areas::status::monitors::model::{MonitorSettings, MonitorTarget};
use crate::platform::outbound::{Lane, OutboundClient, OutboundError};

/// What checks use.
#[derive(Debug)]
pub(in crate::areas::status::monitors) struct Checker<'a> {
    pub(in crate::areas::status::monitors) client: &'a OutboundClient,
    pub(in crate::areas::status::monitors) clock: &'a Clock,
    /// Which of the client's requests it takes.
    pub(in crate::areas::status::monitors) lane: Lane,
}

impl Checker<'_> {
    /// Checks a target.
    pub(in crate::areas::status::monitors) async fn check(
        &self,
        settings: &MonitorSettings,
    ) -> CheckOutcome {
        let seconds = match self.lane {
            Lane::Usual if settings.target.is_repeatable() => {
                settings.timeout_seconds.min(limits::QUICK_CHECK_SECONDS)
            }
            _ => settings.timeout_seconds,
        };
        let limit = Duration::from_secs(seconds.into());
        let result = match &settings.target {
            MonitorTarget::Http(target) => http::check(self, target, limit).await,
            MonitorTarget::Tcp { host, port, degraded_after_ms } => {
                tcp::check(self, host, *port, *degraded_after_ms, limit).await
            }
            MonitorTarget::Heartbeat { .. } => None,
        };
        match result {
            None => CheckOutcome::NotBegun,
            Some(result) if result.timed_out && seconds < settings.timeout_seconds => {
                CheckOutcome::TooSlow { began: result.at }
            }
            Some(result) => CheckOutcome::Done(result),
        }
    }
}

/// What came of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::areas::status::monitors) enum CheckOutcome {
    /// It was made.
    Done(CheckResult),
    /// The target is slower than usual ones, and the check is to be made in another lane. Nothing
    /// is known yet.
    TooSlow {
        /// When the check began.
        began: TimestampMs,
    },
    /// Other checks took so long that this one could not be made, or the target reports itself.
    /// Nothing is known about it then.
    NotBegun,
}

/// Returns the result of a check that began at `at` and failed.
pub(super) fn failed(at: TimestampMs, reason: String) -> CheckResult {
    let verdict = Verdict::Failed(reason);
    CheckResult {
        at,
        verdict,
        response_ms: None,
        certificate_ends_at: None,
        timed_out: false,
        took_ms: 0,
    }
}

/// Returns the result of a check that began at `at` and got no response within `took`.
pub(super) fn unanswered(at: TimestampMs, took: Duration, error: &OutboundError) -> CheckResult {
    let timed_out = match error {
        OutboundError::TimedOut(_) => true,
        OutboundError::Connect { source, .. } => source.kind() == ErrorKind::TimedOut,
        _ => false,
    };
    CheckResult { timed_out, took_ms: whole_ms(took), ..failed(at, error.to_string()) }
}

/// Returns why a response that took `ms` was slow, if it was.
pub(super) fn slow(ms: u32, degraded_after_ms: Option<u32>) -> Option<String> {
    let limit = degraded_after_ms.filter(|limit| ms > *limit)?;
    Some(format!("it took {ms} ms, more than {limit} ms"))
}

/// Returns the whole milliseconds of a response time.
pub(super) fn whole_ms(took: Duration) -> u32 {
    u32::try_from(took.as_millis()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::super::super::examples;
    use super::super::super::model::CheckMethod;
    use super::*;
    use crate::platform::outbound::{
        Cidr, OutboundPolicy, OutboundSettings, OutboundSlot, OutboundUrl, REQUESTS_PER_HOST,
    };

    fn client() -> OutboundClient {
        let allow = vec![Cidr::parse("127.0.0.0/8").unwrap()];
        OutboundClient::new(OutboundPolicy::new(&OutboundSettings { allow })).unwrap()
    }

    fn http(url: &str) -> MonitorSettings {
        let mut settings = examples::monitor(1).settings;
        let MonitorTarget::Http(target) = &mut settings.target else { panic!() };
        target.url = url.to_owned();
        target.body_contains = Some("Welcome".to_owned());
        settings
    }

    fn done(outcome: CheckOutcome) -> CheckResult {
        let CheckOutcome::Done(result) = outcome else { panic!("{outcome:?}") };
        result
    }

    #[tokio::test(start_paused = true)]
    async fn a_usual_check_is_given_up_sooner_than_one_on_trial() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (client, clock) = (client(), Clock::manual(TimestampMs(0)));
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let mut settings = http(&url);
        settings.timeout_seconds = limits::QUICK_CHECK_SECONDS + 1;
        let checker = Checker { client: &client, clock: &clock, lane: Lane::Usual };
        assert_eq!(checker.check(&settings).await, CheckOutcome::TooSlow { began: TimestampMs(0) });
        let on_trial = Checker { lane: Lane::Trial, ..checker };
        assert!(done(on_trial.check(&settings).await).timed_out);
        if let MonitorTarget::Http(target) = &mut settings.target {
            target.method = CheckMethod::Post;
        }
        let checker = Checker { lane: Lane::Usual, ..on_trial };
        assert!(done(checker.check(&settings).await).timed_out, "it may have an effect");
        settings.timeout_seconds = limits::QUICK_CHECK_SECONDS;
        assert!(done(checker.check(&settings).await).timed_out, "it has its whole time");
    }

    /// Takes all requests for the host of a URL.
    async fn enter_all<'a>(client: &'a OutboundClient, url: &str) -> Vec<OutboundSlot<'a>> {
        let url = OutboundUrl::parse(url, client.policy()).unwrap();
        let mut slots = Vec::new();
        for _ in 0..REQUESTS_PER_HOST {
            slots.push(client.enter(&url, Lane::Usual).await.unwrap());
        }
        slots
    }

    #[tokio::test(start_paused = true)]
    async fn a_check_that_cannot_begin_is_no_failed_one() {
        let (client, clock) = (client(), Clock::manual(TimestampMs(0)));
        let checker = Checker { client: &client, clock: &clock, lane: Lane::Usual };
        let _others = enter_all(&client, "http://127.0.0.1:1/").await;
        assert_eq!(checker.check(&http("http://127.0.0.1:1/")).await, CheckOutcome::NotBegun);
        // Those of which others were slow do not wait for them.
        let checker = Checker { lane: Lane::Slow, ..checker };
        done(checker.check(&http("http://127.0.0.1:1/")).await);
    }

    #[tokio::test]
    async fn a_check_begins_when_it_had_to_wait_no_longer() {
        let (client, clock) = (client(), Clock::manual(TimestampMs(1_000)));
        let checker = Checker { client: &client, clock: &clock, lane: Lane::Usual };
        // Nothing listens there.
        let settings = http("http://127.0.0.1:1/");
        let others = enter_all(&client, "http://127.0.0.1:1/").await;
        let release = async {
            tokio::task::yield_now().await;
            clock.set(TimestampMs(9_000));
            drop(others);
        };
        let (checked, ()) = tokio::join!(checker.check(&settings), release);
        let result = done(checked);
        assert_eq!(result.at, TimestampMs(9_000));
        assert!(matches!(result.verdict, Verdict::Failed(_)), "{result:?}");
    }

    #[tokio::test]
    async fn hosts_are_connected_to_as_they_are_understood() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (client, clock) = (client(), Clock::system());
        let checker = Checker { client: &client, clock: &clock, lane: Lane::Usual };
        let mut settings = examples::monitor(1).settings;
        for (host, expected) in [
            ("127.0.0.1", Verdict::Up),
            ("0x7f.1", Verdict::Up),
            (
                "[::1]",
                Verdict::Failed(
                    "the host ::1 is a loopback address; an operator can allow it with \
                     outbound.allow"
                        .to_owned(),
                ),
            ),
        ] {
            settings.target =
                MonitorTarget::Tcp { host: host.to_owned(), port, degraded_after_ms: None };
            let result = done(checker.check(&settings).await);
            assert_eq!(result.verdict, expected, "{host}");
        }
    }
}
