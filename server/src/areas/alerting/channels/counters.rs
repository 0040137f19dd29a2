//! How often each channel was used, and when last. Apart from the channels' documents, because each
//! delivery changes it.
//!
//! ```text
//! table               key                   value
//! channel_counters    id of the channel     version: u8, successes: u64 LE, failures: u64 LE,
//!                                           last use: i64 LE, in milliseconds
//! ```

use std::collections::HashMap;

use parking_lot::Mutex;
use telltale_engine::{Engine, RecordBatch, Result, Table, TimestampMs};

use crate::areas::alerting::ids::ChannelId;
use crate::platform::tables::RecordTable;

const TABLE: Table = RecordTable::ChannelCounters.table();
const VERSION: u8 = 1;

/// The counters of all channels.
#[derive(Debug)]
pub(in crate::areas::alerting) struct ChannelCounters {
    engine: Engine,
    counts: Mutex<HashMap<ChannelId, ChannelUse>>,
}

/// The use of a channel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::areas::alerting) struct ChannelUse {
    /// Attempts that delivered a message.
    pub(super) successes: u64,
    /// Attempts that did not.
    pub(super) failures: u64,
    /// When the last attempt ended.
    pub(super) last_used_at: Option<TimestampMs>,
}

impl ChannelCounters {
    /// Loads the counters, and removes those of channels that do not exist. Those that cannot be
    /// read begin at zero.
    pub(in crate::areas::alerting) fn open(
        engine: Engine,
        exists: impl Fn(&ChannelId) -> Result<bool>,
    ) -> Result<Self> {
        let mut counts = HashMap::new();
        let gap = engine.records().read_all(TABLE, |key, value| {
            let id = String::from_utf8(key.to_vec()).ok().map(ChannelId::from);
            match (id, ChannelUse::from_bytes(value)) {
                (Some(id), Some(used)) => drop(counts.insert(id, used)),
                _ => tracing::error!(?key, "the counters of a channel cannot be read"),
            }
        })?;
        if let Some(gap) = gap {
            tracing::error!(gap, "counters of channels cannot be read");
        }
        let mut left_over = RecordBatch::new();
        let mut kept = HashMap::with_capacity(counts.len());
        for (id, used) in counts {
            if exists(&id)? {
                kept.insert(id, used);
            } else {
                left_over.delete(TABLE, id.as_str().as_bytes());
            }
        }
        engine.records().write(left_over)?;
        Ok(Self { engine, counts: Mutex::new(kept) })
    }

    /// Returns the use of a channel.
    pub(super) fn of(&self, id: &ChannelId) -> ChannelUse {
        self.counts.lock().get(id).copied().unwrap_or_default()
    }

    /// Counts an attempt. Blocks.
    pub(in crate::areas::alerting) fn count(
        &self,
        id: &ChannelId,
        is_delivered: bool,
        at: TimestampMs,
    ) -> Result<()> {
        let used = {
            let mut counts = self.counts.lock();
            let used = counts.entry(id.clone()).or_default();
            let counter = if is_delivered { &mut used.successes } else { &mut used.failures };
            *counter = counter.saturating_add(1);
            used.last_used_at = Some(at);
            *used
        };
        let mut batch = RecordBatch::new();
        batch.put(TABLE, id.as_str().as_bytes(), used.to_bytes());
        self.engine.records().write(batch)
    }

    /// Forgets a channel that is deleted. Blocks.
    pub(super) fn remove(&self, id: &ChannelId) -> Result<()> {
        if self.counts.lock().remove(id).is_none() {
            return Ok(());
        }
        let mut batch = RecordBatch::new();
        batch.delete(TABLE, id.as_str().as_bytes());
        self.engine.records().write(batch)
    }
}

impl ChannelUse {
    fn to_bytes(self) -> Vec<u8> {
        let last_used_at = self.last_used_at.unwrap_or_default().0;
        let mut bytes = vec![VERSION];
        bytes.extend(self.successes.to_le_bytes());
        bytes.extend(self.failures.to_le_bytes());
        bytes.extend(last_used_at.to_le_bytes());
        bytes
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let rest = bytes.strip_prefix(&[VERSION])?;
        let (successes, rest) = rest.split_first_chunk()?;
        let (failures, rest) = rest.split_first_chunk()?;
        let last_used_at = i64::from_le_bytes(rest.try_into().ok()?);
        Some(Self {
            successes: u64::from_le_bytes(*successes),
            failures: u64::from_le_bytes(*failures),
            last_used_at: Some(TimestampMs(last_used_at)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_survive_as_bytes() {
        let used = ChannelUse {
            successes: 3,
            failures: u64::MAX,
            last_used_at: Some(TimestampMs(1_767_323_045_678)),
        };
        let bytes = used.to_bytes();
        assert_eq!(ChannelUse::from_bytes(&bytes), Some(used));
        for length in 0..bytes.len() {
            assert_eq!(ChannelUse::from_bytes(&bytes[..length]), None, "{length}");
        }
        assert_eq!(ChannelUse::from_bytes(&[&bytes[..], &[0]].concat()), None);
    }
}
