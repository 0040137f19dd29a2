//! Latency and throughput of queries on a server.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::clock::Stopwatch;
use crate::feed::Connection;
use crate::outcome::Outcome;
use crate::peers::Peer;
use crate::queries::{Digest, Query, Shape};
use crate::results::{QueryResult, quantile};
use crate::server::Server;

/// Maximum repetitions of a query; fewer when [`SECONDS`] are over.
const TIMES_MAX: usize = 200;
/// Minimum repetitions of a slow query; fewer when [`PATIENCE_SECONDS`] are over.
const TIMES_MIN: usize = 5;
const SECONDS: f64 = 3.0;
const PATIENCE_SECONDS: f64 = 20.0;
const THROUGHPUT_SECONDS: f64 = 5.0;
const CONNECTIONS: usize = 2;

/// Runs a query once with cold caches and then repeatedly; `None` when the peer does not support
/// it.
pub(crate) fn measure(
    peer: &dyn Peer,
    server: &mut Server,
    shape: Shape,
    state: &str,
) -> Outcome<Option<QueryResult>> {
    if peer.requests(&shape.query(0)).is_none() {
        return Ok(None);
    }
    let (cpu, clock) = (server.cpu_seconds()?, Stopwatch::start());
    let (mut took_ms, mut first) = (Vec::new(), None);
    loop {
        let query = shape.query(took_ms.len());
        let requests = peer.requests(&query).unwrap_or_default();
        let started = Stopwatch::start();
        let mut bodies = Vec::with_capacity(requests.len());
        for path in &requests {
            bodies.push(server.success_body("GET", path)?);
        }
        took_ms.push(started.ms());
        if first.is_none() {
            first = Some(digest(peer, &query, &bodies)?);
        }
        let (times, seconds) = (took_ms.len() - 1, clock.seconds());
        let enough = times >= TIMES_MIN && (times >= TIMES_MAX || seconds > SECONDS);
        if enough || seconds > PATIENCE_SECONDS {
            break;
        }
    }
    let cpu_ms = (server.cpu_seconds()? - cpu) * 1e3 / took_ms.len() as f64;
    let first_ms = took_ms.first().copied().unwrap_or(0.0);
    let mut warm = took_ms.get(1..).unwrap_or_default().to_vec();
    warm.sort_by(f64::total_cmp);
    // A query that exceeded the time limit at its first run has no other sample.
    let sample_ms = if warm.is_empty() { vec![first_ms] } else { warm };
    let digest = first.unwrap_or_default();
    Ok(Some(QueryResult {
        shape: shape.name.to_owned(),
        state: state.to_owned(),
        first_ms,
        p50_ms: quantile(&sample_ms, 0.5),
        p99_ms: quantile(&sample_ms, 0.99),
        times: sample_ms.len(),
        cpu_ms,
        numbers: digest.numbers,
        sum: digest.sum,
    }))
}

/// Returns the digest of an answer. An empty one would be fast and say nothing.
fn digest(peer: &dyn Peer, query: &Query, bodies: &[Vec<u8>]) -> Outcome<Digest> {
    let digest = peer.digest(query, bodies)?;
    if digest.numbers == 0 { Err("the answer is empty".into()) } else { Ok(digest) }
}

/// Runs a query once; `None` when the peer does not support it.
pub(crate) fn measure_first(
    peer: &dyn Peer,
    server: &mut Server,
    shape: Shape,
    state: &str,
) -> Outcome<Option<QueryResult>> {
    let query = shape.query(0);
    let Some(requests) = peer.requests(&query) else { return Ok(None) };
    let (cpu, clock) = (server.cpu_seconds()?, Stopwatch::start());
    let mut bodies = Vec::with_capacity(requests.len());
    for path in &requests {
        bodies.push(server.success_body("GET", path)?);
    }
    let took_ms = clock.ms();
    let digest = digest(peer, &query, &bodies)?;
    Ok(Some(QueryResult {
        shape: shape.name.to_owned(),
        state: state.to_owned(),
        first_ms: took_ms,
        p50_ms: took_ms,
        p99_ms: took_ms,
        times: 1,
        cpu_ms: (server.cpu_seconds()? - cpu) * 1e3,
        numbers: digest.numbers,
        sum: digest.sum,
    }))
}

/// Queries single series over two connections at the same time. Returns the number of connections,
/// the queries per second, and the sorted times of the queries.
pub(crate) fn throughput(
    peer: &dyn Peer,
    server: &Server,
    shape: Shape,
) -> Outcome<(usize, f64, Vec<f64>)> {
    let next = AtomicUsize::new(0);
    let clock = Stopwatch::start();
    let client = || -> Outcome<Vec<f64>> {
        let mut connection = Connection::open(server.address)?;
        let mut took_ms = Vec::new();
        while clock.seconds() < THROUGHPUT_SECONDS {
            let query: Query = shape.query(next.fetch_add(1, Ordering::Relaxed));
            for path in peer.requests(&query).unwrap_or_default() {
                let request = format!(
                    "GET {path} HTTP/1.1\r\nHost: {}\r\n{}\r\n",
                    server.address, server.headers
                );
                let started = Stopwatch::start();
                let response = connection.exchange(request.as_bytes())?;
                took_ms.push(started.ms());
                if !response.is_success() {
                    return Err(format!("GET {path}: {}", response.summary()).into());
                }
            }
        }
        Ok(took_ms)
    };
    let done: Vec<Outcome<Vec<f64>>> = std::thread::scope(|scope| {
        let running: Vec<_> = (0..CONNECTIONS).map(|_| scope.spawn(client)).collect();
        let over = running.into_iter().map(|thread| thread.join());
        over.map(|done| done.unwrap_or_else(|_| Err("a client panicked".into()))).collect()
    });
    let mut took_ms = Vec::new();
    for times in done {
        took_ms.extend(times?);
    }
    let per_second = took_ms.len() as f64 / clock.seconds();
    took_ms.sort_by(f64::total_cmp);
    Ok((CONNECTIONS, per_second, took_ms))
}
