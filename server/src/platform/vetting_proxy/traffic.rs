//! What passed through a proxy, and what it refused.

use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use tokio::sync::watch;

use super::limits::REFUSALS_NAMED_MAX;

/// A connection that the proxy did not make.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The host, a name or an address without brackets.
    pub host: String,
    /// The port.
    pub port: u16,
    /// Why not.
    pub reason: String,
}

/// What passed through a proxy, and what it refused.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProxyCounts {
    /// Connections and requests that were accepted from the client.
    pub requests: u64,
    /// Bytes sent to and received from servers.
    pub bytes: u64,
    /// Connections to addresses that must not be reached.
    pub refused: u64,
    /// The first ones of them, each host and port once.
    pub refusals: Vec<Refusal>,
    /// Connections that failed.
    pub failed: u64,
    /// The first ones of them, each host and port once.
    pub failures: Vec<Refusal>,
}

/// Counts the traffic of a proxy.
#[derive(Debug)]
pub(super) struct ProxyTraffic {
    bytes: AtomicU64,
    bytes_max: u64,
    is_exhausted: watch::Sender<bool>,
    counts: Mutex<ProxyCounts>,
}

impl ProxyTraffic {
    pub(super) fn new(bytes_max: u64) -> Self {
        Self {
            bytes: AtomicU64::new(0),
            bytes_max,
            is_exhausted: watch::Sender::new(false),
            counts: Mutex::default(),
        }
    }

    /// Counts bytes. `false` if they exceed the limit.
    pub(super) fn count_bytes(&self, bytes: usize) -> bool {
        let before = self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        let is_allowed = before.saturating_add(bytes as u64) <= self.bytes_max;
        if !is_allowed {
            self.exhaust();
        }
        is_allowed
    }

    /// Counts a request. `false` if there were too many.
    pub(super) fn count_request(&self, max: usize) -> bool {
        let mut counts = self.counts.lock();
        counts.requests += 1;
        let is_allowed = counts.requests <= max as u64;
        drop(counts);
        if !is_allowed {
            self.exhaust();
        }
        is_allowed
    }

    pub(super) fn count_refused(&self, refusal: Refusal) {
        tracing::debug!(?refusal, "a request to a proxy was refused");
        let mut counts = self.counts.lock();
        counts.refused += 1;
        name(&mut counts.refusals, refusal);
    }

    pub(super) fn count_failed(&self, failure: Refusal) {
        let mut counts = self.counts.lock();
        counts.failed += 1;
        name(&mut counts.failures, failure);
    }

    pub(super) fn counts(&self) -> ProxyCounts {
        let counts = self.counts.lock().clone();
        ProxyCounts { bytes: self.bytes.load(Ordering::Relaxed), ..counts }
    }

    /// Returns whether a limit was exceeded, now and in future.
    pub(super) fn exhaustion(&self) -> watch::Receiver<bool> {
        self.is_exhausted.subscribe()
    }

    fn exhaust(&self) {
        self.is_exhausted.send_replace(true);
    }
}

fn name(named: &mut Vec<Refusal>, refusal: Refusal) {
    let is_same = |other: &Refusal| other.host == refusal.host && other.port == refusal.port;
    if named.len() < REFUSALS_NAMED_MAX && !named.iter().any(is_same) {
        named.push(refusal);
    }
}
