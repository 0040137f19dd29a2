//! From counts to metrics.

use std::collections::HashSet;

use parking_lot::Mutex;
use telltale_engine::{BatchBuilder, Engine, MetricType, Refusal, Result, TimestampMs};

use super::metrics::{self, WorkerGauges};
use super::seen::Seen;
use crate::jobs::model::{QueueView, Whose, WorkerView};
use crate::jobs::names::ClassName;
use crate::limits;

/// What happened and is not written yet.
#[derive(Debug, Default)]
pub(in crate::jobs) struct HistoryRecorder {
    pending: Mutex<Seen>,
    told: Mutex<Told>,
}

/// The classes that are told apart, so that no program can make metrics without end.
#[derive(Debug, Default)]
struct Told {
    classes: HashSet<ClassName>,
    error_classes: HashSet<ClassName>,
}

/// A batch being filled with points of one time.
struct Points<'a> {
    batch: BatchBuilder<'a>,
    now: TimestampMs,
}

impl HistoryRecorder {
    /// Remembers what happened in a round that is on disk.
    pub(in crate::jobs) fn note(&self, seen: Seen) {
        self.pending.lock().absorb(seen);
    }

    /// Writes what happened since the last time. What cannot be written is kept for the next time.
    pub(in crate::jobs) fn write(&self, engine: &Engine, now: TimestampMs) -> Result<()> {
        let seen = std::mem::take(&mut *self.pending.lock());
        let mut points = Points { batch: engine.own_batch(), now };
        let written =
            points.fill(&seen, &mut self.told.lock()).map_err(Into::into).and_then(|()| {
                let batch = points.batch.finish();
                engine.write(batch).map(drop)
            });
        if written.is_err() {
            self.pending.lock().absorb(seen);
        }
        written
    }
}

/// Writes how queues and workers stand.
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
    for whose in [Whose::Users, Whose::All] {
        let meant = |worker: &&WorkerView| worker.about.queues.iter().all(|q| whose.fits(q));
        let workers: Vec<&WorkerView> = workers.iter().filter(meant).collect();
        points.workers(WorkerGauges::of(whose), &workers)?;
    }
    let batch = points.batch.finish();
    engine.write(batch).map(drop)
}

impl Points<'_> {
    fn fill(&mut self, seen: &Seen, told: &mut Told) -> Result<(), Refusal> {
        for (queue, count) in &seen.enqueued {
            self.count(metrics::ENQUEUED, &[(metrics::QUEUE, queue)], *count)?;
        }
        for ((queue, class), ended) in &seen.ended {
            let tags = [(metrics::QUEUE, &**queue), (metrics::CLASS, told.class(class))];
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
        for ((queue, class, error_class), count) in &seen.died {
            let tags = [
                (metrics::QUEUE, &**queue),
                (metrics::CLASS, told.class(class)),
                (metrics::ERROR_CLASS, told.error_class(error_class)),
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

impl Told {
    fn class<'a>(&mut self, class: &'a ClassName) -> &'a str {
        told(&mut self.classes, class)
    }

    fn error_class<'a>(&mut self, class: &'a ClassName) -> &'a str {
        told(&mut self.error_classes, class)
    }
}

fn told<'a>(known: &mut HashSet<ClassName>, class: &'a ClassName) -> &'a str {
    if known.contains(class) {
        return class;
    }
    if known.len() >= limits::JOB_CLASSES_TOLD_MAX {
        return metrics::OTHER;
    }
    known.insert(class.clone());
    class
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_beyond_the_limit_are_one() {
        let mut told = Told::default();
        for n in 0..limits::JOB_CLASSES_TOLD_MAX {
            let class = ClassName::new(&format!("c{n}")).unwrap();
            assert_eq!(told.class(&class), &*class);
        }
        let one_more = ClassName::new("one more").unwrap();
        assert_eq!(told.class(&one_more), metrics::OTHER);
        assert_eq!(told.class(&ClassName::new("c7").unwrap()), "c7");
        assert_eq!(told.error_class(&one_more), "one more");
    }
}
