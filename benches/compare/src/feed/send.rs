//! Sends the requests of a file over keep-alive connections, each after the response to the
//! previous one, and measures their times.

use std::fs::File;
use std::net::SocketAddr;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::batches::{Batch, Wrap};
use super::connection::Connection;
use crate::clock::Stopwatch;
use crate::outcome::Outcome;

/// As many as the reference machine has cores.
const CONNECTIONS: usize = 2;

/// The result of a load.
#[derive(Debug, Default)]
pub(crate) struct Sent {
    pub(crate) points: u64,
    pub(crate) seconds: f64,
    /// The time of each request, sorted.
    pub(crate) took_ms: Vec<f64>,
    /// Requests that were refused, and the first refusal.
    pub(crate) refused: u64,
    pub(crate) refusal: Option<String>,
}

/// The result of one connection.
#[derive(Default)]
struct Done {
    took_ms: Vec<f64>,
    refused: u64,
    refusal: Option<String>,
}

/// Sends every batch of the file at `path`. `head` is the request line and the headers with line
/// ends, without the content length.
pub(crate) fn send(
    address: SocketAddr,
    head: &str,
    path: &Path,
    wrap: Wrap,
    batches: &[Batch],
) -> Outcome<Sent> {
    let file = File::open(path)?;
    let next = AtomicUsize::new(0);
    let clock = Stopwatch::start();
    let done: Vec<Outcome<Done>> = std::thread::scope(|scope| {
        let mut running = Vec::new();
        for _ in 0..CONNECTIONS {
            running.push(scope.spawn(|| {
                let mut connection = Connection::open(address)?;
                let (mut request, mut done) = (Vec::new(), Done::default());
                while let Some(batch) = batches.get(next.fetch_add(1, Ordering::Relaxed)) {
                    put_request(&mut request, head, &file, wrap, *batch)?;
                    let clock = Stopwatch::start();
                    let response = connection.exchange(&request)?;
                    done.took_ms.push(clock.ms());
                    if !response.is_success() {
                        done.refused += 1;
                        done.refusal.get_or_insert_with(|| response.summary());
                    }
                }
                Ok(done)
            }));
        }
        let over = running.into_iter().map(|thread| thread.join());
        over.map(|done| done.unwrap_or_else(|_| Err("a sender panicked".into()))).collect()
    });
    let mut sent = Sent { seconds: clock.seconds(), ..Sent::default() };
    sent.points = batches.iter().map(|batch| batch.points).sum();
    for done in done {
        let done = done?;
        sent.took_ms.extend(done.took_ms);
        sent.refused += done.refused;
        sent.refusal = sent.refusal.or(done.refusal);
    }
    sent.took_ms.sort_by(f64::total_cmp);
    Ok(sent)
}

/// Builds a request with head and body contiguous, so that it takes one write.
fn put_request(
    request: &mut Vec<u8>,
    head: &str,
    file: &File,
    wrap: Wrap,
    batch: Batch,
) -> Outcome<()> {
    let bytes = batch.bytes - wrap.cut;
    let length = wrap.before.len() + bytes + wrap.after.len();
    request.clear();
    request.extend_from_slice(head.as_bytes());
    request.extend_from_slice(format!("Content-Length: {length}\r\n\r\n").as_bytes());
    request.extend_from_slice(wrap.before.as_bytes());
    let body = request.len();
    request.resize(body + bytes, 0);
    file.read_exact_at(request.get_mut(body..).unwrap_or_default(), batch.offset)?;
    request.extend_from_slice(wrap.after.as_bytes());
    Ok(())
}
