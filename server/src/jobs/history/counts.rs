//! Counts for the history.

use std::collections::HashMap;

use crate::jobs::names::{ClassName, QueueName};
use crate::limits;

/// Counts of one cycle, or of all cycles that are not written to the history yet.
#[derive(Debug, Default)]
pub(in crate::jobs) struct HistoryCounts {
    pub(super) enqueued: HashMap<QueueName, u64>,
    pub(super) ended: HashMap<(QueueName, ClassName), Ended>,
    pub(super) died: HashMap<(QueueName, ClassName, ClassName), u64>,
}

/// Ended attempts of one class.
#[derive(Debug, Default)]
pub(super) struct Ended {
    pub(super) succeeded: u64,
    pub(super) failed: u64,
    /// Durations of successful attempts in milliseconds, up to a limit.
    pub(super) durations_ms: Vec<i64>,
}

impl HistoryCounts {
    pub(in crate::jobs) fn enqueued(&mut self, queue: &QueueName) {
        *self.enqueued.entry(queue.clone()).or_default() += 1;
    }

    pub(in crate::jobs) fn succeeded(
        &mut self,
        queue: &QueueName,
        class: Option<&ClassName>,
        duration_ms: i64,
    ) {
        let ended = self.ended(queue, class);
        ended.succeeded += 1;
        ended.measure([duration_ms]);
    }

    pub(in crate::jobs) fn failed(&mut self, queue: &QueueName, class: Option<&ClassName>) {
        self.ended(queue, class).failed += 1;
    }

    pub(in crate::jobs) fn died(
        &mut self,
        queue: &QueueName,
        class: &ClassName,
        error_class: &ClassName,
    ) {
        let key = (queue.clone(), class.clone(), error_class.clone());
        *self.died.entry(key).or_default() += 1;
    }

    /// Adds other counts.
    pub(in crate::jobs) fn absorb(&mut self, other: Self) {
        for (queue, count) in other.enqueued {
            *self.enqueued.entry(queue).or_default() += count;
        }
        for (key, more) in other.ended {
            let ended = self.ended.entry(key).or_default();
            ended.succeeded += more.succeeded;
            ended.failed += more.failed;
            ended.measure(more.durations_ms);
        }
        for (key, count) in other.died {
            *self.died.entry(key).or_default() += count;
        }
    }

    fn ended(&mut self, queue: &QueueName, class: Option<&ClassName>) -> &mut Ended {
        let class = class.cloned().unwrap_or_else(|| ClassName::stored("unknown"));
        self.ended.entry((queue.clone(), class)).or_default()
    }
}

impl Ended {
    fn measure(&mut self, durations_ms: impl IntoIterator<Item = i64>) {
        let room = limits::JOB_DURATIONS_KEPT_MAX.saturating_sub(self.durations_ms.len());
        self.durations_ms.extend(durations_ms.into_iter().take(room));
    }
}
