//! Sends the requests of a file over keep-alive connections, each after the response to the
//! previous one, and measures their times. If there are many, the next one is read from the file
//! while the server works on the previous one, as an agent collects its next batch meanwhile.

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
/// In loads of so many requests, each connection reads the next one ahead. In smaller loads one
/// that was taken early could wait for a slow response while the other connection has none to send.
const READS_AHEAD_MIN: usize = 100;

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
    let reads_ahead = batches.len() >= READS_AHEAD_MIN;
    let clock = Stopwatch::start();
    let done: Vec<Outcome<Done>> = std::thread::scope(|scope| {
        let mut running = Vec::new();
        for _ in 0..CONNECTIONS {
            running.push(scope.spawn(|| {
                let mut connection = Connection::open(address)?;
                let (mut request, mut following) = (Request::default(), Request::default());
                let mut done = Done::default();
                let read_next = |request: &mut Request| match batches
                    .get(next.fetch_add(1, Ordering::Relaxed))
                {
                    Some(batch) => request.read(head, &file, wrap, *batch).map(|()| true),
                    None => Ok(false),
                };
                let mut is_read = read_next(&mut request)?;
                while is_read {
                    let clock = Stopwatch::start();
                    connection.send(request.bytes())?;
                    if reads_ahead {
                        is_read = read_next(&mut following)?;
                    }
                    let response = connection.response()?;
                    done.took_ms.push(clock.ms());
                    if !reads_ahead {
                        is_read = read_next(&mut following)?;
                    }
                    std::mem::swap(&mut request, &mut following);
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

/// A request, head and body contiguous, so that it takes one write. Its buffer is used again, and
/// not filled with zeros for each request.
#[derive(Default)]
struct Request {
    buffer: Vec<u8>,
    /// The bytes of the request in the buffer.
    length: usize,
}

impl Request {
    fn bytes(&self) -> &[u8] {
        self.buffer.get(..self.length).unwrap_or_default()
    }

    /// Replaces the request by that of a batch.
    fn read(&mut self, head: &str, file: &File, wrap: Wrap, batch: Batch) -> Outcome<()> {
        let bytes = batch.bytes - wrap.cut;
        let length = wrap.before.len() + bytes + wrap.after.len();
        let before = format!("{head}Content-Length: {length}\r\n\r\n{}", wrap.before);
        self.length = before.len() + bytes + wrap.after.len();
        if self.buffer.len() < self.length {
            self.buffer.resize(self.length, 0);
        }
        let (start, rest) = self.buffer.split_at_mut(before.len());
        let (body, rest) = rest.split_at_mut(bytes);
        let (end, _) = rest.split_at_mut(wrap.after.len());
        start.copy_from_slice(before.as_bytes());
        file.read_exact_at(body, batch.offset)?;
        end.copy_from_slice(wrap.after.as_bytes());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_replaces_a_longer_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("requests");
        std::fs::write(&path, b"first,second,third,").unwrap();
        let file = File::open(path).unwrap();
        let wrap = Wrap { before: "[", after: "]", cut: 1 };
        let mut request = Request::default();
        let mut read = |offset, bytes| {
            request.read("POST /\r\n", &file, wrap, Batch { offset, bytes, points: 1 }).unwrap();
            String::from_utf8(request.bytes().to_vec()).unwrap()
        };
        assert_eq!(read(0, 13), "POST /\r\nContent-Length: 14\r\n\r\n[first,second]");
        assert_eq!(read(13, 6), "POST /\r\nContent-Length: 7\r\n\r\n[third]");
    }
}
