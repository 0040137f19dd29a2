//! Monitors: what is checked, how often, and what counts as up.

use telltale_engine::TimestampMs;

use crate::areas::status::ids::MonitorId;
use crate::platform::fields::Invalid;
use crate::platform::outbound::{OutboundHost, OutboundPolicy, OutboundUrl, UserHeader};
use crate::platform::redaction::Secret;

/// A monitor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::areas::status) struct Monitor {
    pub(super) id: MonitorId,
    pub(super) settings: MonitorSettings,
    /// The user that created it.
    pub(super) created_by: String,
    pub(super) created_at: TimestampMs,
}

/// What the user states about a monitor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct MonitorSettings {
    pub(super) name: String,
    pub(super) target: MonitorTarget,
    pub(super) interval_seconds: u32,
    pub(super) timeout_seconds: u32,
    /// Failed checks that are repeated before the monitor is down.
    pub(super) retries: u32,
    pub(super) is_paused: bool,
}

/// What is checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum MonitorTarget {
    /// A request is answered as expected.
    Http(HttpTarget),
    /// A connection is accepted.
    Tcp {
        /// A name or an address, as the user wrote it.
        host: String,
        port: u16,
        degraded_after_ms: Option<u32>,
    },
    /// Somebody reports in time.
    Heartbeat {
        /// How much later than the interval a report may be.
        grace_seconds: u32,
    },
}

/// A request, and the response that is expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct HttpTarget {
    pub(super) url: String,
    pub(super) method: CheckMethod,
    pub(super) headers: Vec<UserHeader>,
    pub(super) body: Option<Secret>,
    pub(super) expected_status: Vec<StatusRange>,
    pub(super) body_contains: Option<String>,
    pub(super) degraded_after_ms: Option<u32>,
    /// Days before the end of the certificate from which on the monitor is degraded.
    pub(super) certificate_warning_days: u32,
}

/// The method of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CheckMethod {
    Get,
    Head,
    Post,
    Put,
    Patch,
    Delete,
    Options,
}

/// The statuses from `first` to `last`, both inclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StatusRange {
    first: u16,
    last: u16,
}

/// The state of a monitor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::areas::status) enum MonitorState {
    /// It was not checked yet.
    Pending,
    /// The last check was as expected.
    Up,
    /// It is up, but slow, or its certificate ends soon.
    Degraded,
    /// Several checks in a row were not as expected.
    Down,
    /// Nothing is checked.
    Paused,
}

impl MonitorSettings {
    /// Validates how the fields fit together, and whether the target may be checked as far as its
    /// text tells.
    pub(super) fn check(&self, policy: &OutboundPolicy) -> Result<(), Invalid> {
        if self.timeout_seconds > self.interval_seconds {
            return Err(Invalid::field("timeout_seconds", "must be at most interval_seconds"));
        }
        match &self.target {
            MonitorTarget::Http(http) => {
                let parsed = OutboundUrl::parse(&http.url, policy);
                parsed.map(drop).map_err(|error| Invalid::field("url", error.to_string()))
            }
            MonitorTarget::Tcp { host, .. } => {
                let parsed = OutboundHost::parse(host, policy);
                parsed.map(drop).map_err(|error| Invalid::field("host", error.to_string()))
            }
            MonitorTarget::Heartbeat { .. } => Ok(()),
        }
    }

    /// Returns roughly how much memory it takes, in bytes.
    pub(super) fn bytes(&self) -> usize {
        let target = match &self.target {
            MonitorTarget::Http(http) => {
                let header = |header: &UserHeader| {
                    size_of::<UserHeader>() + header.name().len() + header.value().reveal().len()
                };
                let headers = http.headers.iter().map(header).sum::<usize>();
                let body = http.body.as_ref().map_or(0, |body| body.reveal().len());
                let contains = http.body_contains.as_ref().map_or(0, String::len);
                http.url.len() + headers + body + contains + http.expected_status.len() * 4
            }
            MonitorTarget::Tcp { host, .. } => host.len(),
            MonitorTarget::Heartbeat { .. } => 0,
        };
        size_of::<Monitor>() + self.name.len() + target
    }
}

impl MonitorTarget {
    /// Returns whether a check that was given up may be made again at once: it has no effect (RFC
    /// 9110, section 9.2.1).
    pub(super) fn is_repeatable(&self) -> bool {
        match self {
            Self::Http(target) => {
                matches!(target.method, CheckMethod::Get | CheckMethod::Head | CheckMethod::Options)
            }
            Self::Tcp { .. } | Self::Heartbeat { .. } => true,
        }
    }

    /// Returns whether it has headers or a body, which are sealed.
    pub(super) fn has_secrets(&self) -> bool {
        matches!(self, Self::Http(http) if !http.headers.is_empty() || http.body.is_some())
    }
}

impl CheckMethod {
    pub(super) const ALL: [Self; 7] =
        [Self::Get, Self::Head, Self::Post, Self::Put, Self::Patch, Self::Delete, Self::Options];

    /// Returns the name.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Head => "HEAD",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
            Self::Options => "OPTIONS",
        }
    }

    /// Parses a name, in upper case.
    pub(super) fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|method| method.as_str() == text)
    }
}

impl StatusRange {
    /// The statuses of success.
    pub(super) const SUCCESS: Self = Self { first: 200, last: 299 };

    /// Parses `200`, `2xx` or `200-399`.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let status = |text: &str| {
            let is_number = text.len() == 3 && text.bytes().all(|b| b.is_ascii_digit());
            text.parse::<u16>().ok().filter(|status| is_number && (100..=599).contains(status))
        };
        if let Some(class) = text.strip_suffix("xx") {
            let class: u16 = class.parse().ok().filter(|class| (1..=5).contains(class))?;
            return (text.len() == 3)
                .then_some(Self { first: class * 100, last: class * 100 + 99 });
        }
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        let range = Self { first: status(first)?, last: status(last)? };
        (range.first <= range.last).then_some(range)
    }

    /// Returns the text that [`Self::parse`] accepts.
    pub(super) fn text(self) -> String {
        let Self { first, last } = self;
        if first == last {
            first.to_string()
        } else if first % 100 == 0 && last == first + 99 {
            format!("{}xx", first / 100)
        } else {
            format!("{first}-{last}")
        }
    }

    /// Returns whether it contains a status.
    pub(super) fn contains(self, status: u16) -> bool {
        (self.first..=self.last).contains(&status)
    }
}

impl MonitorState {
    /// All states.
    pub(in crate::areas::status) const ALL: [Self; 5] =
        [Self::Pending, Self::Up, Self::Degraded, Self::Down, Self::Paused];

    /// Returns the name in the API.
    pub(in crate::areas::status) fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Up => "up",
            Self::Degraded => "degraded",
            Self::Down => "down",
            Self::Paused => "paused",
        }
    }

    /// Parses what [`Self::as_str`] returns.
    pub(in crate::areas::status) fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_are_ranges() {
        for text in ["200", "2xx", "200-399", "100-599"] {
            assert_eq!(StatusRange::parse(text).unwrap().text(), text);
        }
        assert_eq!(StatusRange::parse("400-499").unwrap().text(), "4xx");
        for text in ["", "20", "0200", "6xx", "0xx", "xx", "22xx", "300-200", "2xx-3xx", "+200"] {
            assert_eq!(StatusRange::parse(text), None, "{text}");
        }
        assert!(StatusRange::SUCCESS.contains(204) && !StatusRange::SUCCESS.contains(300));
    }
}
