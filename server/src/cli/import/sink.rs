//! Where points go: as batches to a running server, or straight into the engine of a stopped one. Either way a
//! chunk has a name, and storing it a second time under the same name stores nothing.

use std::time::Duration;

use http::header::RETRY_AFTER;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use serde::{Deserialize, Serialize};
use telltale_engine::{BatchBuilder, Engine, Error, PointBatch, Receipt, TimestampMs, Write};
use tokio::sync::oneshot;
use tokio::time::sleep;
use xxhash_rust::xxh3::xxh3_128;

use super::checkpoint::Way;
use super::rows::Reject;
use crate::areas::metrics::{InputError, Measured, MetricsError, Point};
use crate::cli::error::CliError;
use crate::cli::target::{Target, success};
use crate::limits::{BATCH_ITEMS_MAX, IDEMPOTENCY_KEPT_MS};
use crate::platform::control::Answer;
use crate::platform::time::IsoTime;

/// Bytes after which a body is full: half of what the smallest sensible server takes in a batch.
const BODY_BYTES_MAX: usize = 512 << 10;
/// Milliseconds that the engine remembers the chunks of an import: as long as an interrupted one may wait.
const RECEIPT_KEPT_MS: i64 = 30 * 24 * 60 * 60 * 1_000;
/// Milliseconds before the end of a memory at which it is no longer relied on.
const RECEIPT_MARGIN_MS: i64 = 60 * 60 * 1_000;
/// Times that a chunk is sent to somebody who is too busy or cannot write.
const TRIES_MAX: u32 = 60;
/// How long to wait when the other side does not say.
const PAUSE: Duration = Duration::from_secs(1);

/// Stores chunks.
#[derive(Debug)]
pub(super) struct Sink(Target);

/// A chunk while rows are added.
#[derive(Debug)]
pub(super) enum Filling<'e> {
    Server(Vec<Body>),
    Engine { batch: Box<BatchBuilder<'e>>, rows: u64 },
}

/// A chunk ready to be stored.
#[derive(Debug)]
pub(super) enum Filled {
    Server(Vec<Body>),
    Engine { points: Box<PointBatch>, rows: u64 },
}

/// The body of one request being written, and the lines of its items.
#[derive(Debug, Default)]
pub(super) struct Body {
    json: Vec<u8>,
    lines: Vec<u64>,
}

/// What became of a chunk.
#[derive(Debug, Default)]
pub(super) struct Stored {
    pub(super) accepted: u64,
    /// Refused rows by their lines.
    pub(super) rejected: Vec<(u64, Reject)>,
    /// Refused rows that the server did not list.
    pub(super) unlisted: u64,
}

/// A metric input as the HTTP API takes it.
#[derive(Serialize)]
struct Item<'a> {
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

/// What the server answers to a batch.
#[derive(Deserialize)]
struct BatchAnswer {
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

impl Sink {
    pub(super) fn new(target: Target) -> Self {
        Self(target)
    }

    /// Seals and closes what was opened.
    pub(super) async fn close(self) -> Result<(), CliError> {
        self.0.close().await
    }

    /// The way that chunks go.
    pub(super) fn way(&self) -> Way {
        match self.0 {
            Target::Running(_) => Way::Server,
            Target::Stopped(_) => Way::Engine,
        }
    }

    /// Whether a chunk sent `age_ms` ago is still known by its name.
    pub(super) fn remembers(&self, age_ms: i64) -> bool {
        let kept_ms = match self.way() {
            Way::Server => IDEMPOTENCY_KEPT_MS,
            Way::Engine => RECEIPT_KEPT_MS,
        };
        age_ms < kept_ms - RECEIPT_MARGIN_MS
    }

    /// Starts a chunk.
    pub(super) fn begin(&self) -> Filling<'_> {
        match &self.0 {
            Target::Running(_) => Filling::Server(Vec::new()),
            Target::Stopped(local) => {
                Filling::Engine { batch: Box::new(local.engine().batch()), rows: 0 }
            }
        }
    }

    /// Stores a chunk under its name; one that is stored already is left as it is.
    pub(super) async fn store(
        &mut self,
        filled: Filled,
        name: &str,
        now: TimestampMs,
    ) -> Result<Stored, CliError> {
        match (filled, &mut self.0) {
            (Filled::Engine { points, rows }, Target::Stopped(local)) => {
                store_in(local.engine(), *points, name, now).await?;
                Ok(Stored { accepted: rows, ..Stored::default() })
            }
            (Filled::Server(bodies), target) => {
                let mut stored = Stored::default();
                for (part, body) in bodies.into_iter().enumerate() {
                    send(target, body, &format!("{name}-{part}"), &mut stored).await?;
                }
                Ok(stored)
            }
            (Filled::Engine { .. }, Target::Running(_)) => {
                unreachable!("a chunk is filled for the target that stores it")
            }
        }
    }
}

impl Filling<'_> {
    /// Adds the point of a row.
    pub(super) fn push(&mut self, line: u64, point: &Point<'_>) -> Result<(), Reject> {
        match self {
            Self::Server(bodies) => {
                match bodies.last_mut() {
                    Some(body) if !body.is_full() => body.push(line, point),
                    _ => {
                        let mut body = Body::default();
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

    /// Ends the chunk.
    pub(super) fn finish(self) -> Filled {
        match self {
            Self::Server(bodies) => Filled::Server(bodies),
            Self::Engine { batch, rows } => {
                Filled::Engine { points: Box::new(batch.finish()), rows }
            }
        }
    }
}

impl Body {
    fn is_full(&self) -> bool {
        self.lines.len() >= BATCH_ITEMS_MAX || self.json.len() >= BODY_BYTES_MAX
    }

    fn push(&mut self, line: u64, point: &Point<'_>) {
        let item = Item {
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
        // Texts and finite numbers are all there is, and they always serialise.
        serde_json::to_writer(&mut self.json, &item).unwrap_or_default();
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
        let (done, answer) = oneshot::channel();
        engine.submit(
            Write { points: points.clone(), receipt: Some(receipt), ..Write::default() },
            move |result| {
                // This function waits for the answer as long as it runs.
                drop(done.send(result));
            },
        );
        let answer =
            answer.await.map_err(|lost| CliError::failed("cannot store the points", lost))?;
        match answer {
            Err(Error::Overloaded(_) | Error::MemoryFull(_)) if attempt < TRIES_MAX => {
                sleep(PAUSE).await
            }
            other => return Ok(other.map(drop)?),
        }
    }
    Ok(())
}

/// Posts a batch, again while the server says that it is too busy. What is stored already under the key is
/// answered as it was the first time.
async fn send(
    target: &mut Target,
    body: Body,
    key: &str,
    stored: &mut Stored,
) -> Result<(), CliError> {
    let (json, lines) = body.finish();
    let key = HeaderValue::from_str(key)
        .map_err(|error| CliError::failed("a chunk has no name", error))?;
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
        let answer: BatchAnswer = serde_json::from_str(&text)
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

impl Stored {
    fn add(&mut self, outcome: BatchOutcome, lines: &[u64]) {
        self.accepted += outcome.accepted;
        self.unlisted += outcome.rejected.saturating_sub(outcome.errors.len() as u64);
        self.rejected.extend(outcome.errors.into_iter().map(|error| {
            let line = lines.get(error.index).copied().unwrap_or(0);
            (line, Reject { code: error.code, message: error.message })
        }));
    }
}

#[cfg(test)]
mod tests {
    use telltale_engine::MetricType;

    use super::*;

    #[test]
    fn points_become_the_batches_of_the_http_api() {
        let point = |name| Point {
            name,
            kind: MetricType::Gauge,
            value: Measured::Number(0.1),
            time: TimestampMs(1_767_323_045_678),
            tags: &[("host", "a\"b")],
        };
        let mut filling = Filling::Server(Vec::new());
        for line in 0..=BATCH_ITEMS_MAX as u64 {
            filling.push(line + 2, &point("cpu")).unwrap();
        }
        let Filled::Server(bodies) = filling.finish() else { panic!("it was begun for a server") };
        let mut bodies = bodies.into_iter().map(Body::finish);
        assert_eq!(bodies.next().unwrap().1.len(), BATCH_ITEMS_MAX);
        let (json, lines) = bodies.next().unwrap();
        assert_eq!(
            String::from_utf8(json).unwrap(),
            r#"{"metrics":[{"name":"cpu","type":"gauge","value":0.1,"timestamp":"2026-01-02T03:04:05.678Z","tags":{"host":"a\"b"}}]}"#
        );
        assert_eq!((lines, bodies.next().is_none()), (vec![502], true));
    }

    #[test]
    fn rejects_of_the_server_are_told_by_line() {
        let answer = r#"{"data": {"accepted": 1, "rejected": 3, "errors": [{"index": 1, "code": "type_conflict", "message": "m"}]}}"#;
        let answer: BatchAnswer = serde_json::from_str(answer).unwrap();
        let mut stored = Stored::default();
        stored.add(answer.data, &[7, 9]);
        let reject = Reject { code: "type_conflict".to_owned(), message: "m".to_owned() };
        assert_eq!((stored.accepted, stored.unlisted, stored.rejected), (1, 2, vec![(9, reject)]));
    }
}
