//! Stores chunks: as batches sent to a running server, or written to the engine of a stopped one.
//! Either way a chunk has a name, and storing it again under the same name has no effect.

use std::time::Duration;

use http::header::RETRY_AFTER;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use serde::{Deserialize, Serialize};
use telltale_engine::{BatchBuilder, Engine, Error, PointBatch, Receipt, TimestampMs, Write};
use tokio::sync::oneshot;
use tokio::time::sleep;
use xxhash_rust::xxh3::xxh3_128;

use super::checkpoint::StoreVia;
use super::rows::Reject;
use crate::areas::metrics::{InputError, Measured, MetricsError, Point};
use crate::cli::error::CliError;
use crate::cli::target::{Target, success};
use crate::limits::{BATCH_ITEMS_MAX, IDEMPOTENCY_KEPT_MS};
use crate::platform::control::Answer;
use crate::platform::time::IsoTime;

/// Bytes after which a body is full: half of what the smallest sensible limit of a server allows
/// for a batch.
const BODY_BYTES_MAX: usize = 512 << 10;
/// Milliseconds that the engine keeps the receipts of chunks: the time within which an interrupted
/// import can be resumed.
const RECEIPT_KEPT_MS: i64 = 30 * 24 * 60 * 60 * 1_000;
/// Milliseconds before the expiry of a receipt from which it is no longer relied on.
const RECEIPT_MARGIN_MS: i64 = 60 * 60 * 1_000;
/// Attempts to store a chunk while the server or engine is overloaded or cannot write.
const TRIES_MAX: u32 = 60;
/// The pause between attempts if the server does not specify one.
const PAUSE: Duration = Duration::from_secs(1);

/// The destination of chunks.
#[derive(Debug)]
pub(super) struct ImportSink(Target);

/// A chunk to which rows are being added.
#[derive(Debug)]
pub(super) enum ChunkBuilder<'e> {
    Server(Vec<BatchBody>),
    Engine { batch: Box<BatchBuilder<'e>>, rows: u64 },
}

/// A chunk ready to be stored.
#[derive(Debug)]
pub(super) enum PreparedChunk {
    Server(Vec<BatchBody>),
    Engine { points: Box<PointBatch>, rows: u64 },
}

/// The body of one batch request, and the lines of its items.
#[derive(Debug, Default)]
pub(super) struct BatchBody {
    json: Vec<u8>,
    lines: Vec<u64>,
}

/// The outcome of storing a chunk.
#[derive(Debug, Default)]
pub(super) struct StoreOutcome {
    pub(super) accepted: u64,
    /// Rejected rows with their lines.
    pub(super) rejected: Vec<(u64, Reject)>,
    /// Number of rejected rows that the server did not list.
    pub(super) unlisted: u64,
}

/// A metric input of the HTTP API.
#[derive(Serialize)]
struct BatchItem<'a> {
    name: &'a str,
    r#type: &'static str,
    value: ItemValue<'a>,
    timestamp: IsoTime,
    #[serde(serialize_with = "as_object")]
    tags: &'a [(&'a str, &'a str)],
}

#[derive(Serialize)]
#[serde(untagged)]
enum ItemValue<'a> {
    Number(f64),
    Member(&'a str),
}

/// The response of the server to a batch.
#[derive(Deserialize)]
struct BatchResponse {
    data: BatchOutcome,
}

#[derive(Deserialize)]
struct BatchOutcome {
    accepted: u64,
    rejected: u64,
    #[serde(default)]
    errors: Vec<ItemError>,
}

#[derive(Deserialize)]
struct ItemError {
    index: usize,
    code: String,
    message: String,
}

impl ImportSink {
    pub(super) fn new(target: Target) -> Self {
        Self(target)
    }

    /// Closes the target; an engine opened here is sealed first.
    pub(super) async fn close(self) -> Result<(), CliError> {
        self.0.close().await
    }

    /// Returns how chunks are stored.
    pub(super) fn way(&self) -> StoreVia {
        match self.0 {
            Target::Running(_) => StoreVia::Server,
            Target::Stopped(_) => StoreVia::Engine,
        }
    }

    /// Returns whether a chunk sent `age_ms` ago is still recognised by its name.
    pub(super) fn remembers(&self, age_ms: i64) -> bool {
        let retention_ms = match self.way() {
            StoreVia::Server => IDEMPOTENCY_KEPT_MS,
            StoreVia::Engine => RECEIPT_KEPT_MS,
        };
        age_ms < retention_ms - RECEIPT_MARGIN_MS
    }

    /// Starts a chunk.
    pub(super) fn begin(&self) -> ChunkBuilder<'_> {
        match &self.0 {
            Target::Running(_) => ChunkBuilder::Server(Vec::new()),
            Target::Stopped(local) => {
                ChunkBuilder::Engine { batch: Box::new(local.engine().batch()), rows: 0 }
            }
        }
    }

    /// Stores a chunk under its name; has no effect if it is stored already.
    pub(super) async fn store(
        &mut self,
        filled: PreparedChunk,
        name: &str,
        now: TimestampMs,
    ) -> Result<StoreOutcome, CliError> {
        match (filled, &mut self.0) {
            (PreparedChunk::Engine { points, rows }, Target::Stopped(local)) => {
                store_in(local.engine(), *points, name, now).await?;
                Ok(StoreOutcome { accepted: rows, ..StoreOutcome::default() })
            }
            (PreparedChunk::Server(bodies), target) => {
                let mut stored = StoreOutcome::default();
                for (part, body) in bodies.into_iter().enumerate() {
                    send(target, body, &format!("{name}-{part}"), &mut stored).await?;
                }
                Ok(stored)
            }
            (PreparedChunk::Engine { .. }, Target::Running(_)) => {
                unreachable!("a chunk is built for the target that stores it")
            }
        }
    }
}

impl ChunkBuilder<'_> {
    /// Adds the sample of a row.
    pub(super) fn push(&mut self, line: u64, point: &Point<'_>) -> Result<(), Reject> {
        match self {
            Self::Server(bodies) => {
                match bodies.last_mut() {
                    Some(body) if !body.is_full() => body.push(line, point),
                    _ => {
                        let mut body = BatchBody::default();
                        body.push(line, point);
                        bodies.push(body);
                    }
                }
                Ok(())
            }
            Self::Engine { batch, rows } => {
                let series = batch
                    .series(point.name, point.kind, point.tags)
                    .map_err(|refusal| MetricsError::Input(InputError::Refused(refusal)))?;
                match point.value {
                    Measured::Number(value) => batch.number(point.kind, series, point.time, value),
                    Measured::Member(member) => batch.member(series, point.time, member),
                }
                *rows += 1;
                Ok(())
            }
        }
    }

    /// Completes the chunk.
    pub(super) fn finish(self) -> PreparedChunk {
        match self {
            Self::Server(bodies) => PreparedChunk::Server(bodies),
            Self::Engine { batch, rows } => {
                PreparedChunk::Engine { points: Box::new(batch.finish()), rows }
            }
        }
    }
}

impl BatchBody {
    fn is_full(&self) -> bool {
        self.lines.len() >= BATCH_ITEMS_MAX || self.json.len() >= BODY_BYTES_MAX
    }

    fn push(&mut self, line: u64, point: &Point<'_>) {
        let item = BatchItem {
            name: point.name,
            r#type: point.kind.as_str(),
            value: match point.value {
                Measured::Number(number) => ItemValue::Number(number),
                Measured::Member(member) => ItemValue::Member(member),
            },
            timestamp: IsoTime(point.time),
            tags: point.tags,
        };
        self.json.extend_from_slice(if self.lines.is_empty() { b"{\"metrics\":[" } else { b"," });
        if let Err(error) = serde_json::to_writer(&mut self.json, &item) {
            panic!("strings and numbers cannot be serialised: {error}");
        }
        self.lines.push(line);
    }

    fn finish(mut self) -> (Vec<u8>, Vec<u64>) {
        self.json.extend_from_slice(b"]}");
        (self.json, self.lines)
    }
}

fn as_object<S: serde::Serializer>(
    tags: &&[(&str, &str)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(tags.iter().copied())
}

async fn store_in(
    engine: &Engine,
    points: PointBatch,
    name: &str,
    now: TimestampMs,
) -> Result<(), CliError> {
    let id = xxh3_128(name.as_bytes());
    if points.is_empty() || engine.receipt(id)?.is_some() {
        return Ok(());
    }
    let expires_at = TimestampMs(now.0.saturating_add(RECEIPT_KEPT_MS));
    for attempt in 1.. {
        let receipt = Receipt { id, fingerprint: 0, answer: Vec::new(), expires_at };
        let (done, outcome) = oneshot::channel();
        engine.submit(
            Write { points: points.clone(), receipt: Some(receipt), ..Write::default() },
            move |result| {
                // The receiver exists as long as this function runs.
                drop(done.send(result));
            },
        );
        let outcome =
            outcome.await.map_err(|error| CliError::failed("cannot store the samples", error))?;
        match outcome {
            Err(Error::Overloaded(_) | Error::MemoryFull(_)) if attempt < TRIES_MAX => {
                sleep(PAUSE).await
            }
            other => return Ok(other.map(drop)?),
        }
    }
    Ok(())
}

/// Sends a batch, and retries while the server is overloaded. If it is stored already under the
/// key, the server repeats its first response.
async fn send(
    target: &mut Target,
    body: BatchBody,
    key: &str,
    stored: &mut StoreOutcome,
) -> Result<(), CliError> {
    let (json, lines) = body.finish();
    let key = HeaderValue::from_str(key)
        .map_err(|error| CliError::failed("invalid idempotency key of a chunk", error))?;
    let headers = HeaderMap::from_iter([(HeaderName::from_static("idempotency-key"), key)]);
    for attempt in 1.. {
        let answer = target
            .exchange(Method::POST, "/api/v1/metrics/batch", headers.clone(), json.clone())
            .await?;
        if answer.status == StatusCode::SERVICE_UNAVAILABLE && attempt < TRIES_MAX {
            sleep(pause(&answer)).await;
            continue;
        }
        let text = success(&answer)?;
        let answer: BatchResponse = serde_json::from_str(&text)
            .map_err(|error| CliError::failed("cannot parse the response of the server", error))?;
        stored.add(answer.data, &lines);
        return Ok(());
    }
    Ok(())
}

fn pause(answer: &Answer) -> Duration {
    let seconds =
        answer.headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
    seconds.map_or(PAUSE, Duration::from_secs)
}

impl StoreOutcome {
    fn add(&mut self, outcome: BatchOutcome, lines: &[u64]) {
        self.accepted += outcome.accepted;
        self.unlisted += outcome.rejected.saturating_sub(outcome.errors.len() as u64);
        for error in outcome.errors {
            match lines.get(error.index) {
                Some(line) => {
                    let reject = Reject { code: error.code, message: error.message };
                    self.rejected.push((*line, reject));
                }
                // The server names an item that was not sent.
                None => self.unlisted += 1,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use telltale_engine::MetricType;

    use super::*;

    #[test]
    fn samples_become_the_batches_of_the_http_api() {
        let point = |name| Point {
            name,
            kind: MetricType::Gauge,
            value: Measured::Number(0.1),
            time: TimestampMs(1_767_323_045_678),
            tags: &[("host", "a\"b")],
        };
        let mut filling = ChunkBuilder::Server(Vec::new());
        for line in 0..=BATCH_ITEMS_MAX as u64 {
            filling.push(line + 2, &point("cpu")).unwrap();
        }
        let PreparedChunk::Server(bodies) = filling.finish() else {
            panic!("it was built for a server")
        };
        let mut bodies = bodies.into_iter().map(BatchBody::finish);
        assert_eq!(bodies.next().unwrap().1.len(), BATCH_ITEMS_MAX);
        let (json, lines) = bodies.next().unwrap();
        assert_eq!(
            String::from_utf8(json).unwrap(),
            r#"{"metrics":[{"name":"cpu","type":"gauge","value":0.1,"timestamp":"2026-01-02T03:04:05.678Z","tags":{"host":"a\"b"}}]}"#
        );
        assert_eq!((lines, bodies.next().is_none()), (vec![502], true));
    }

    #[test]
    fn rejects_of_the_server_are_reported_by_line() {
        let answer = r#"{"data": {"accepted": 1, "rejected": 3, "errors": [{"index": 1, "code": "type_conflict", "message": "m"}]}}"#;
        let answer: BatchResponse = serde_json::from_str(answer).unwrap();
        let mut stored = StoreOutcome::default();
        stored.add(answer.data, &[7, 9]);
        let reject = Reject { code: "type_conflict".to_owned(), message: "m".to_owned() };
        assert_eq!((stored.accepted, stored.unlisted, stored.rejected), (1, 2, vec![(9, reject)]));
    }
}
