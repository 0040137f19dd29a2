//! The space for more alerts and groups, which a change may not exceed.

use super::alert_ledger::LedgerState;
use crate::areas::alerting::limits;

/// How much more a change may add.
#[derive(Debug)]
pub(super) struct SpaceLeft {
    alerts: usize,
    /// Groups without an open alert.
    groups: usize,
    bytes: usize,
}

impl SpaceLeft {
    pub(super) fn of(state: &LedgerState) -> Self {
        let without_alert = state.group_count().saturating_sub(state.open_count());
        Self {
            alerts: limits::ALERTS_OPEN_MAX.saturating_sub(state.open_count()),
            groups: limits::ALERT_GROUPS_MAX.saturating_sub(without_alert),
            bytes: limits::ALERT_BYTES_MAX.saturating_sub(state.bytes()),
        }
    }

    /// Takes the space of an alert of `bytes`. Returns whether there was enough.
    pub(super) fn take_alert(&mut self, bytes: usize) -> bool {
        take(&mut self.alerts, &mut self.bytes, bytes)
    }

    /// Takes the space of a group of `bytes` without an alert. Returns whether there was enough.
    pub(super) fn take_group(&mut self, bytes: usize) -> bool {
        take(&mut self.groups, &mut self.bytes, bytes)
    }
}

fn take(count: &mut usize, left: &mut usize, bytes: usize) -> bool {
    match (count.checked_sub(1), left.checked_sub(bytes)) {
        (Some(fewer), Some(less)) => {
            (*count, *left) = (fewer, less);
            true
        }
        _ => false,
    }
}
