//! Writes the history metrics.

use std::collections::HashSet;

use parking_lot::Mutex;
use telltale_engine::{BatchBuilder, Engine, MetricType, Refusal, Result, TimestampMs};

use super::counts::HistoryCounts;
use super::metrics::{self, WorkerGauges};
use crate::jobs::model::{QueueOwner, QueueView, WorkerView};
use crate::jobs::names::ClassName;
use crate::limits;

/// The counts that are not written yet.
#[derive(Debug, Default)]
pub(in crate::jobs) struct HistoryRecorder {
    pending: Mutex<HistoryCounts>,
    known: Mutex<KnownClasses>,
}

/// The classes that are distinct tag values, bounded so that clients cannot create any number of
/// series.
#[derive(Debug, Default)]
struct KnownClasses {
    classes: HashSet<ClassName>,
    error_classes: HashSet<ClassName>,
}

/// A batch under construction, with points of one time.
struct Points<'a> {
    batch: BatchBuilder<'a>,
    now: TimestampMs,
}

impl HistoryRecorder {
    /// Adds the counts of a cycle that is durable.
    pub(in crate::jobs) fn note(&self, counts: HistoryCounts) {
        self.pending.lock().absorb(counts);
    }

    /// Writes the pending counts. Those that cannot be written are kept for the next time.
    pub(in crate::jobs) fn write(&self, engine: &Engine, now: TimestampMs) -> Result<()> {
        let counts = std::mem::take(&mut *self.pending.lock());
        let mut points = Points { batch: engine.own_batch(), now };
        let written =
            points.fill(&counts, &mut self.known.lock()).map_err(Into::into).and_then(|()| {
                let batch = points.batch.finish();
                engine.write(batch).map(drop)
            });
        if written.is_err() {
            self.pending.lock().absorb(counts);
        }
        written
    }
}

/// Writes the current state of queues and workers.
pub(in crate::jobs) fn sample(
    engine: &Engine,
    queues: &[QueueView],
    workers: &[WorkerView],
    now: TimestampMs,
) -> Result<()> {
    let mut points = Points { batch: engine.own_batch(), now };
    for queue in queues {
        let tags = [(metrics::QUEUE, &*queue.name)];
        points.gauge(metrics::SIZE, &tags, queue.ready as f64)?;
        points.gauge(metrics::LATENCY, &tags, queue.latency_ms as f64 / 1_000.0)?;
    }
    for whose in [QueueOwner::Users, QueueOwner::All] {
        let meant = |worker: &&WorkerView| worker.about.queues.iter().all(|q| whose.fits(q));
        let workers: Vec<&WorkerView> = workers.iter().filter(meant).collect();
        points.workers(WorkerGauges::of(whose), &workers)?;
    }
    let batch = points.batch.finish();
    engine.write(batch).map(drop)
}

impl Points<'_> {
    fn fill(&mut self, counts: &HistoryCounts, known: &mut KnownClasses) -> Result<(), Refusal> {
        for (queue, count) in &counts.enqueued {
            self.count(metrics::ENQUEUED, &[(metrics::QUEUE, queue)], *count)?;
        }
        for ((queue, class), ended) in &counts.ended {
            let tags = [(metrics::QUEUE, &**queue), (metrics::CLASS, known.class(class))];
            self.count(metrics::PROCESSED, &tags, ended.succeeded + ended.failed)?;
            if ended.failed > 0 {
                self.count(metrics::FAILED, &tags, ended.failed)?;
            }
            if !ended.durations_ms.is_empty() {
                let kind = MetricType::Distribution;
                let series = self.batch.series(metrics::DURATION, kind, &tags)?;
                for ms in &ended.durations_ms {
                    self.batch.number(kind, series, self.now, *ms as f64);
                }
            }
        }
        for ((queue, class, error_class), count) in &counts.died {
            let tags = [
                (metrics::QUEUE, &**queue),
                (metrics::CLASS, known.class(class)),
                (metrics::ERROR_CLASS, known.error_class(error_class)),
            ];
            self.count(metrics::DIED, &tags, *count)?;
        }
        Ok(())
    }

    fn workers(&mut self, names: &WorkerGauges, workers: &[&WorkerView]) -> Result<(), Refusal> {
        let threads: u64 = workers.iter().map(|w| u64::from(w.about.concurrency)).sum();
        let busy: u64 = workers.iter().filter_map(|w| w.vitals.busy_threads).map(u64::from).sum();
        self.gauge(names.workers, &[], workers.len() as f64)?;
        self.gauge(names.threads, &[], threads as f64)?;
        self.gauge(names.busy, &[], busy as f64)?;
        let memory: Vec<f64> = workers.iter().filter_map(|w| w.vitals.memory_mb).collect();
        if memory.is_empty() {
            return Ok(());
        }
        let mean = memory.iter().sum::<f64>() / memory.len() as f64;
        self.gauge(names.memory, &[], mean)?;
        self.gauge(names.memory_max, &[], memory.into_iter().fold(0.0, f64::max))
    }

    fn count(&mut self, name: &str, tags: &[(&str, &str)], count: u64) -> Result<(), Refusal> {
        let series = self.batch.series(name, MetricType::Counter, tags)?;
        self.batch.number(MetricType::Counter, series, self.now, count as f64);
        Ok(())
    }

    fn gauge(&mut self, name: &str, tags: &[(&str, &str)], value: f64) -> Result<(), Refusal> {
        let series = self.batch.series(name, MetricType::Gauge, tags)?;
        self.batch.number(MetricType::Gauge, series, self.now, value);
        Ok(())
    }
}

impl KnownClasses {
    fn class<'a>(&mut self, class: &'a ClassName) -> &'a str {
        known(&mut self.classes, class)
    }

    fn error_class<'a>(&mut self, class: &'a ClassName) -> &'a str {
        known(&mut self.error_classes, class)
    }
}

fn known<'a>(known: &mut HashSet<ClassName>, class: &'a ClassName) -> &'a str {
    if known.contains(class) {
        return class;
    }
    if known.len() >= limits::JOB_CLASSES_DISTINCT_MAX {
        return metrics::OTHER;
    }
    known.insert(class.clone());
    class
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_beyond_the_limit_share_one_tag_value() {
        let mut known = KnownClasses::default();
        for n in 0..limits::JOB_CLASSES_DISTINCT_MAX {
            let class = ClassName::new(&format!("c{n}")).unwrap();
            assert_eq!(known.class(&class), &*class);
        }
        let one_more = ClassName::new("one more").unwrap();
        assert_eq!(known.class(&one_more), metrics::OTHER);
        assert_eq!(known.class(&ClassName::new("c7").unwrap()), "c7");
        assert_eq!(known.error_class(&one_more), "one more");
    }
}
