//! Turns a write of a history into a write for the engine and an entry for the model.

use telltale_engine::{
    Buckets, Engine, Error, Event, EventBatch, Histogram, MetricType, NewEvent, PointBatch,
    Properties, Receipt, StartTime, TimestampMs, Write,
};
use telltale_simulation::{Outcome, fail};

use super::event_queries;
use super::model::{Fate, SubmittedWrite};
use super::processes::Processes;
use super::samples::{Item, MARKER, Payload, member_name, metric_name, tags_of};
use super::steps::NewWrite;
use super::{DAY, START};

/// Bytes of the string in large properties.
const LARGE_TEXT_BYTES: usize = 60_000;

/// Returns the write with absolute times and cumulative values. Samples of metrics that have
/// another type by now are left out.
pub(crate) fn prepare(
    engine: &Engine,
    processes: &mut Processes,
    write: &NewWrite,
    now: i64,
) -> SubmittedWrite {
    let mut items = Vec::new();
    for sample in &write.samples {
        let metric = metric_name(sample.metric);
        let payload = processes.payload((sample.metric, sample.series), now, sample.value);
        let kind = sample.value.kind();
        let before = items.iter().find(|item: &&Item| item.metric == metric).map(|item| item.kind);
        if before.or_else(|| engine.metric_type(&metric)).is_none_or(|is| is == kind) {
            let time = (now - sample.age).max(0);
            items.push(Item { metric, kind, series: sample.series, time, payload });
        }
    }
    if !write.keyed {
        items.push(Item {
            metric: MARKER.into(),
            kind: MetricType::Counter,
            series: u32::try_from(write.id).unwrap(),
            time: now,
            payload: Payload::Number(1.0),
        });
    }
    let events = write.events.iter().map(|(seed, age)| {
        let age = (*age).min(now);
        let mut event = event_queries::EventSeed { seed: *seed, age }.event(now);
        if write.large {
            let text = format!("{seed:x}").repeat(LARGE_TEXT_BYTES / 16);
            event.properties = Some(format!("{{\"n\":{age},\"text\":\"{text}\"}}"));
        }
        event
    });
    let (id, keyed) = (write.id, write.keyed);
    SubmittedWrite { id, keyed, now, items, events: events.collect(), fate: Fate::Unknown }
}

/// Returns the write for the engine, and assigns the ids of its events.
pub(crate) fn assemble(engine: &Engine, write: &mut SubmittedWrite) -> Outcome<Write> {
    let points = points(engine, write)?;
    let mut batch = engine.event_batch();
    for event in &mut write.events {
        push_event(&mut batch, event);
    }
    let receipt = write.keyed.then(|| Receipt {
        id: u128::from(write.id),
        fingerprint: write.id ^ 7,
        expires_at: TimestampMs(START + 100_000 * DAY),
        answer: write.id.to_string().into_bytes(),
    });
    Ok(Write { points, events: (!batch.is_empty()).then_some(batch), receipt })
}

fn points(engine: &Engine, write: &SubmittedWrite) -> Outcome<PointBatch> {
    let mut batch = engine.batch();
    for item in &write.items {
        let tags = tags_of(&item.metric, item.series);
        let tags: Vec<(&str, &str)> = tags.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
        let series = match batch.series(&item.metric, item.kind, &tags) {
            Ok(series) => series,
            Err(refusal) => return fail("a series is refused", Error::from(refusal)),
        };
        let time = TimestampMs(item.time);
        match &item.payload {
            Payload::Number(value) => batch.number(item.kind, series, time, *value),
            Payload::Member(member) => batch.member(series, time, &member_name(*member)),
            Payload::Total(cents, start_time) => {
                batch.reading(series, time, *cents as f64 / 100.0, *start_time);
            }
            Payload::Delta(counted) => batch.histogram(series, time, &counted.histogram()),
            Payload::Cumulative(counted, start_time) => {
                let start_time: StartTime = *start_time;
                batch.cumulative_histogram(series, time, counted.histogram(), start_time);
            }
            Payload::Dense(bounds) => batch.histogram(series, time, &dense(bounds)),
        }
    }
    Ok(batch.finish())
}

fn dense(bounds: &[f64]) -> Histogram {
    let inner = bounds.len() - 1;
    let mut counts = vec![1; bounds.len() + 1];
    (counts[0], counts[bounds.len()]) = (0, 0);
    let buckets = Buckets::Explicit { bounds: bounds.to_vec(), counts };
    Histogram::new(inner as u64, None, None, None, buckets).unwrap()
}

fn push_event(batch: &mut EventBatch, event: &mut Event) {
    let properties = event.properties.as_deref().map(|text| Properties::parse(text).unwrap());
    let tags: Vec<(&str, &str)> =
        event.tags.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
    let new = NewEvent {
        name: &event.name,
        time: event.time,
        user: event.user.as_deref(),
        value: event.value,
        tags: &tags,
        properties: properties.as_ref(),
    };
    event.id = batch.push(&new).unwrap();
}
