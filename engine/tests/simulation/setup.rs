//! The options of the engine of a history.

use std::time::Duration;

use telltale_engine::{
    Clock, Durability, Engine, Maintenance, Options, Result, Retention, TierRetention,
};
use telltale_simulation::{Disk, Random};

/// Options derived from a seed.
#[derive(Clone, Debug)]
pub(crate) struct Setup {
    pub(crate) durability: Durability,
    pub(crate) retention: TierRetention,
    pub(crate) event_days: i64,
    pub(crate) rollup_points_min: u64,
    pub(crate) head_bytes: usize,
    /// A tiny limit makes a compaction write its blocks one by one.
    pub(crate) compaction_bytes: usize,
}

const fn days(n: u64) -> Duration {
    Duration::from_secs(n * 86_400)
}

impl Setup {
    pub(crate) fn of(random: &mut Random) -> Self {
        let durability = match random.weighted(&[8, 2, 1]) {
            0 => Durability::Sync,
            1 => Durability::Interval(Duration::from_millis(1 + random.below(50))),
            _ => Durability::Os,
        };
        let raw = 1 + random.below(4);
        let five_minutes = raw + random.below(4);
        // In some histories all data of a series expires, and it retires.
        let coarse = if five_minutes == raw { raw + raw % 2 * 4 } else { 60 };
        let retention = TierRetention {
            raw: days(raw),
            minute: days(raw.min(2)),
            five_minutes: days(five_minutes),
            hour: days(coarse),
            day: days(coarse + random.below(2) * coarse * 2 / 3),
        };
        Self {
            durability,
            retention,
            event_days: 2 + random.range(0..20),
            rollup_points_min: *random.pick(&[1, 1, 4, 60]),
            head_bytes: *random.pick(&[32 << 20, 32 << 20, 1 << 20, 64 << 10]),
            compaction_bytes: *random.pick(&[4 << 10, 64 << 10, 128 << 20]),
        }
    }

    /// Opens the engine on a disk.
    pub(crate) fn open(&self, disk: &Disk, folder: &str, clock: &Clock) -> Result<Engine> {
        let options = Options {
            durability: self.durability,
            clock: clock.clone(),
            head_bytes: self.head_bytes,
            compaction_bytes: self.compaction_bytes,
            cache_bytes: 8 << 20,
            event_cache_bytes: 4 << 20,
            disk_free_bytes: 0,
            threads: 2,
            retention: Retention { default: self.retention, by_prefix: Vec::new() },
            rollup_points_min: self.rollup_points_min,
            event_retention: days(self.event_days.unsigned_abs()),
            maintenance: Maintenance::Manual,
            ..Options::default()
        };
        Engine::open(&disk.root().join(folder), options)
    }

    /// Returns whether acknowledged writes survive a power loss.
    pub(crate) fn is_synced(&self) -> bool {
        self.durability == Durability::Sync
    }
}
