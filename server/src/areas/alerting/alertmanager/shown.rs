//! Alerts as they are listed.

use std::collections::BTreeMap;

use telltale_engine::TimestampMs;

use super::fingerprint::Fingerprint;

/// An alert in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownAlert {
    /// The labels.
    pub labels: BTreeMap<String, String>,
    /// The annotations.
    pub annotations: BTreeMap<String, String>,
    /// When the alert began to fire.
    pub starts_at: TimestampMs,
    /// When it ends.
    pub ends_at: TimestampMs,
    /// When it was received last.
    pub updated_at: TimestampMs,
    /// The page that explains the alert; empty if there is none.
    pub generator_url: String,
    /// The names of who is notified.
    pub receivers: Vec<String>,
    /// Whether somebody is notified.
    pub state: AlertState,
    /// The ids of the silences that suppress it.
    pub silenced_by: Vec<String>,
    /// The fingerprints of the alerts that inhibit it.
    pub inhibited_by: Vec<String>,
    /// The names of the time intervals that mute it.
    pub muted_by: Vec<String>,
}

/// The state of an alert in a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AlertState {
    /// It was not looked at yet.
    Unprocessed,
    /// Its receivers are notified.
    Active,
    /// They are not, because of a silence, another alert or a time interval.
    Suppressed,
}

impl ShownAlert {
    /// Returns the hash of the labels.
    pub fn fingerprint(&self) -> Fingerprint {
        Fingerprint::of(&self.labels)
    }
}
