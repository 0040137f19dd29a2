//! Changes of monitors, which a new monitor begins with too.

use std::collections::BTreeMap;

use url::Url;

use super::model::{CheckMethod, HttpTarget, MonitorSettings, MonitorTarget, StatusRange};
use crate::platform::fields::Invalid;
use crate::platform::outbound::{UserHeader, user_headers};
use crate::platform::redaction::Secret;

/// The seconds between two checks, unless the user states others.
pub(super) const INTERVAL_SECONDS: u32 = 60;
/// The seconds of a check.
pub(super) const TIMEOUT_SECONDS: u32 = 10;
/// The failed checks that are repeated.
pub(super) const RETRIES: u32 = 2;
/// The days before the end of a certificate from which on a monitor warns.
pub(super) const CERTIFICATE_WARNING_DAYS: u32 = 14;
/// The seconds by which a heartbeat may be late.
pub(super) const GRACE_SECONDS: u32 = 30;

/// The types of monitors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MonitorKind {
    Http,
    Tcp,
    Heartbeat,
}

/// What changes; what is `None` does not.
#[derive(Debug, Default)]
pub(super) struct MonitorChange {
    pub(super) name: Option<String>,
    pub(super) interval_seconds: Option<u32>,
    pub(super) timeout_seconds: Option<u32>,
    pub(super) retries: Option<u32>,
    pub(super) is_paused: Option<bool>,
    pub(super) target: TargetChange,
}

/// What changes of the target. What can be absent is cleared by `Some(None)`.
#[derive(Debug, Default)]
pub(super) struct TargetChange {
    pub(super) url: Option<String>,
    pub(super) method: Option<CheckMethod>,
    pub(super) headers: Option<BTreeMap<String, String>>,
    pub(super) body: Option<Option<String>>,
    pub(super) expected_status: Option<Vec<StatusRange>>,
    pub(super) body_contains: Option<Option<String>>,
    pub(super) certificate_warning_days: Option<u32>,
    pub(super) degraded_after_ms: Option<Option<u32>>,
    pub(super) host: Option<String>,
    pub(super) port: Option<u16>,
    pub(super) grace_seconds: Option<u32>,
}

impl MonitorKind {
    /// All types.
    pub(super) const ALL: [Self; 3] = [Self::Http, Self::Tcp, Self::Heartbeat];

    /// Returns the name in the API.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Tcp => "tcp",
            Self::Heartbeat => "heartbeat",
        }
    }

    /// Parses what [`Self::as_str`] returns.
    pub(super) fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }
}

impl MonitorTarget {
    /// Returns the type.
    pub(super) fn kind(&self) -> MonitorKind {
        match self {
            Self::Http(_) => MonitorKind::Http,
            Self::Tcp { .. } => MonitorKind::Tcp,
            Self::Heartbeat { .. } => MonitorKind::Heartbeat,
        }
    }

    /// Returns the target that the first change is applied to. It is not complete.
    fn empty(kind: MonitorKind) -> Self {
        match kind {
            MonitorKind::Http => Self::Http(HttpTarget {
                url: String::new(),
                method: CheckMethod::Get,
                headers: Vec::new(),
                body: None,
                expected_status: vec![StatusRange::SUCCESS],
                body_contains: None,
                degraded_after_ms: None,
                certificate_warning_days: CERTIFICATE_WARNING_DAYS,
            }),
            MonitorKind::Tcp => Self::Tcp { host: String::new(), port: 0, degraded_after_ms: None },
            MonitorKind::Heartbeat => Self::Heartbeat { grace_seconds: GRACE_SECONDS },
        }
    }

    fn change(&mut self, change: TargetChange) -> Result<(), Invalid> {
        match self {
            Self::Http(http) => http.change(change),
            Self::Tcp { host, port, degraded_after_ms } => {
                change.check_belongs(MonitorKind::Tcp)?;
                set(host, change.host);
                set(port, change.port);
                set(degraded_after_ms, change.degraded_after_ms);
                Ok(())
            }
            Self::Heartbeat { grace_seconds } => {
                change.check_belongs(MonitorKind::Heartbeat)?;
                set(grace_seconds, change.grace_seconds);
                Ok(())
            }
        }
    }
}

impl HttpTarget {
    fn change(&mut self, change: TargetChange) -> Result<(), Invalid> {
        change.check_belongs(MonitorKind::Http)?;
        let is_elsewhere = change.url.as_ref().is_some_and(|url| !is_same_server(url, &self.url));
        let keeps = |is_sent: bool, is_present: bool| is_elsewhere && !is_sent && is_present;
        if keeps(change.headers.is_some(), !self.headers.is_empty()) {
            return Err(must_be_whole("headers"));
        }
        if keeps(change.body.is_some(), self.body.is_some()) {
            return Err(must_be_whole("body"));
        }
        if let Some(sent) = change.headers {
            let restored = self.restore_headers(sent, is_elsewhere)?;
            self.headers = user_headers(restored, |_| false)?;
        }
        // It may be sent as it is shown. Any other text is a new body, which may contain anything.
        let is_shown =
            |text: &String| self.body.as_ref().is_some_and(|old| old.redacted() == *text);
        match change.body {
            None => {}
            Some(Some(text)) if is_shown(&text) && is_elsewhere => {
                return Err(must_be_whole("body"));
            }
            Some(Some(text)) if is_shown(&text) => {}
            Some(body) => self.body = body.map(Secret::new),
        }
        set(&mut self.url, change.url);
        set(&mut self.method, change.method);
        set(&mut self.expected_status, change.expected_status);
        set(&mut self.body_contains, change.body_contains);
        set(&mut self.degraded_after_ms, change.degraded_after_ms);
        set(&mut self.certificate_warning_days, change.certificate_warning_days);
        Ok(())
    }

    /// Returns the headers that were sent, with the values that are stored in place of those that
    /// were sent as they are shown.
    fn restore_headers(
        &self,
        sent: BTreeMap<String, String>,
        is_elsewhere: bool,
    ) -> Result<BTreeMap<String, String>, Invalid> {
        let restore = |(name, value): (String, String)| {
            let is_of = |header: &&UserHeader| {
                header.name().eq_ignore_ascii_case(&name) && header.value().redacted() == value
            };
            match self.headers.iter().find(is_of) {
                Some(_) if is_elsewhere => Err(must_be_whole("headers")),
                Some(header) => Ok((name, header.value().reveal().to_owned())),
                None => Ok((name, value)),
            }
        };
        sent.into_iter().map(restore).collect()
    }
}

impl MonitorSettings {
    /// Returns the settings of a new monitor.
    pub(super) fn new(kind: MonitorKind, change: MonitorChange) -> Result<Self, Invalid> {
        change.target.check_complete(kind)?;
        let mut settings = Self {
            name: String::new(),
            target: MonitorTarget::empty(kind),
            interval_seconds: INTERVAL_SECONDS,
            timeout_seconds: TIMEOUT_SECONDS,
            retries: RETRIES,
            is_paused: false,
        };
        settings.change(change)?;
        Ok(settings)
    }

    /// Applies a change.
    pub(super) fn change(&mut self, change: MonitorChange) -> Result<(), Invalid> {
        self.target.change(change.target)?;
        set(&mut self.name, change.name);
        set(&mut self.interval_seconds, change.interval_seconds);
        set(&mut self.timeout_seconds, change.timeout_seconds);
        set(&mut self.retries, change.retries);
        set(&mut self.is_paused, change.is_paused);
        Ok(())
    }
}

impl TargetChange {
    /// Fails if a required field of a type is absent.
    fn check_complete(&self, kind: MonitorKind) -> Result<(), Invalid> {
        let required: &[(&str, bool)] = match kind {
            MonitorKind::Http => &[("url", self.url.is_some())],
            MonitorKind::Tcp => &[("host", self.host.is_some()), ("port", self.port.is_some())],
            MonitorKind::Heartbeat => &[],
        };
        match required.iter().find(|(_, is_present)| !is_present) {
            Some((field, _)) => Err(Invalid::missing(*field)),
            None => Ok(()),
        }
    }

    /// Fails if a field belongs to another type.
    fn check_belongs(&self, kind: MonitorKind) -> Result<(), Invalid> {
        use MonitorKind::{Heartbeat, Http, Tcp};
        let fields: [(&str, bool, &[MonitorKind]); 11] = [
            ("url", self.url.is_some(), &[Http]),
            ("method", self.method.is_some(), &[Http]),
            ("headers", self.headers.is_some(), &[Http]),
            ("body", self.body.is_some(), &[Http]),
            ("expected_status", self.expected_status.is_some(), &[Http]),
            ("body_contains", self.body_contains.is_some(), &[Http]),
            ("certificate_warning_days", self.certificate_warning_days.is_some(), &[Http]),
            ("degraded_after_ms", self.degraded_after_ms.is_some(), &[Http, Tcp]),
            ("host", self.host.is_some(), &[Tcp]),
            ("port", self.port.is_some(), &[Tcp]),
            ("grace_seconds", self.grace_seconds.is_some(), &[Heartbeat]),
        ];
        let is_foreign = |(_, is_sent, kinds): &&(&str, bool, &[MonitorKind])| {
            *is_sent && !kinds.contains(&kind)
        };
        match fields.iter().find(is_foreign) {
            Some((field, _, kinds)) => {
                let kinds: Vec<&str> = kinds.iter().map(|kind| kind.as_str()).collect();
                let expected = format!("is only for monitors of type {}", kinds.join(" or "));
                Err(Invalid::field(*field, expected))
            }
            None => Ok(()),
        }
    }
}

fn set<T>(field: &mut T, sent: Option<T>) {
    if let Some(value) = sent {
        *field = value;
    }
}

/// Returns the error of a secret that another server would get without whoever changes the URL
/// knowing it.
fn must_be_whole(field: &'static str) -> Invalid {
    let expected = "must be sent whole when the server of the URL changes, and is not taken in the \
                    form in which it is shown";
    Invalid::field(field, expected)
}

fn is_same_server(one: &str, other: &str) -> bool {
    let origin = |text: &str| Url::parse(text.trim()).ok().map(|url| url.origin());
    let (one, other) = (origin(one), origin(other));
    one.is_some() && one == other
}

#[cfg(test)]
mod tests {
    use super::super::examples;
    use super::*;

    fn with_secret() -> MonitorSettings {
        let mut settings = examples::monitor(1).settings;
        let headers = [("X-Token".to_owned(), "0123456789abcdef".to_owned())].into();
        settings
            .change(target(TargetChange { headers: Some(headers), ..Default::default() }))
            .unwrap();
        settings
    }

    fn target(target: TargetChange) -> MonitorChange {
        MonitorChange { target, ..MonitorChange::default() }
    }

    fn token(settings: &MonitorSettings) -> &str {
        let MonitorTarget::Http(http) = &settings.target else { panic!() };
        http.headers[0].value().reveal()
    }

    #[test]
    fn secrets_that_are_sent_as_shown_are_kept() {
        let mut settings = with_secret();
        let headers = Some([("x-token".to_owned(), "…cdef".to_owned())].into());
        settings.change(target(TargetChange { headers, ..Default::default() })).unwrap();
        assert_eq!(token(&settings), "0123456789abcdef");
        let headers = Some([("x-token".to_owned(), "…cdee".to_owned())].into());
        settings.change(target(TargetChange { headers, ..Default::default() })).unwrap_err();
    }

    #[test]
    fn a_body_is_kept_only_if_it_is_sent_exactly_as_it_is_shown() {
        let mut settings = examples::monitor(1).settings;
        let body = |text: &str| {
            let body = Some(Some(text.to_owned()));
            target(TargetChange { body, ..Default::default() })
        };
        for (sent, stored) in [
            ("…", "…"),
            ("wait… what", "wait… what"),
            ("…", "wait… what"),
            ("a body of sixteen or more", "a body of sixteen or more"),
            ("…more", "a body of sixteen or more"),
            ("…mor", "…mor"),
            ("another… of sixteen or more", "another… of sixteen or more"),
        ] {
            settings.change(body(sent)).unwrap();
            let MonitorTarget::Http(http) = &settings.target else { panic!() };
            assert_eq!(http.body.as_ref().unwrap().reveal(), stored, "{sent}");
        }
        let mut elsewhere = body("…more");
        elsewhere.target.url = Some("https://evil.example/".to_owned());
        assert_eq!(settings.change(elsewhere).unwrap_err().field, "body");
        let mut elsewhere = body("new…");
        elsewhere.target.url = Some("https://new.example/".to_owned());
        settings.change(elsewhere).unwrap();
    }

    #[test]
    fn another_server_does_not_get_the_secrets_of_the_old_one() {
        let url = |url: &str| Some(url.to_owned());
        let mut settings = with_secret();
        let same = TargetChange { url: url("https://shop.example.com/a"), ..Default::default() };
        settings.change(target(same)).unwrap();
        for headers in [None, Some([("X-Token".to_owned(), "…cdef".to_owned())].into())] {
            for other in [
                "https://evil.example/",
                "http://shop.example.com/",
                "https://shop.example.com:8443/",
            ] {
                let change = TargetChange {
                    url: url(other),
                    headers: headers.clone(),
                    ..Default::default()
                };
                let refused = settings.change(target(change)).unwrap_err();
                assert_eq!(refused.field, "headers");
            }
        }
        let headers = Some([("X-Token".to_owned(), "new".to_owned())].into());
        let whole =
            TargetChange { url: url("https://new.example/"), headers, ..Default::default() };
        settings.change(target(whole)).unwrap();
        assert_eq!(token(&settings), "new");
    }

    #[test]
    fn fields_of_another_type_are_refused() {
        let change = TargetChange {
            port: Some(1),
            url: Some("https://a.example".to_owned()),
            ..Default::default()
        };
        let refused = MonitorSettings::new(MonitorKind::Http, target(change)).unwrap_err();
        assert_eq!(refused.to_string(), "port is only for monitors of type tcp");
        let refused = MonitorSettings::new(MonitorKind::Tcp, MonitorChange::default()).unwrap_err();
        assert_eq!(refused.field, "host");
    }
}
