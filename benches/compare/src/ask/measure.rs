//! Asks a server a question again and again, and how often it can be asked in a second.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::question::{Question, Shape};
use crate::clock::Stopwatch;
use crate::feed::Connection;
use crate::outcome::Outcome;
use crate::peers::Peer;
use crate::results::{Query, quantile};
use crate::server::Server;

/// A quick question is asked so often, unless the time is over.
const TIMES_MAX: usize = 200;
/// A slow one at least so often, unless one answer alone takes the patience away.
const TIMES_MIN: usize = 5;
const SECONDS: f64 = 3.0;
const PATIENCE_SECONDS: f64 = 20.0;
const THROUGHPUT_SECONDS: f64 = 5.0;
const CONNECTIONS: usize = 2;

/// Asks the question once cold and then many times; nothing when the peer cannot be asked it.
pub(crate) fn measure(
    peer: &dyn Peer,
    server: &mut Server,
    shape: Shape,
    state: &str,
) -> Outcome<Option<Query>> {
    if peer.requests(&shape.question(0)).is_none() {
        return Ok(None);
    }
    let (cpu, clock) = (server.cpu_seconds()?, Stopwatch::start());
    let (mut took_ms, mut first) = (Vec::new(), None);
    loop {
        let question = shape.question(took_ms.len());
        let requests = peer.requests(&question).unwrap_or_default();
        let asked = Stopwatch::start();
        let mut bodies = Vec::with_capacity(requests.len());
        for path in &requests {
            bodies.push(server.good("GET", path)?);
        }
        took_ms.push(asked.ms());
        if first.is_none() {
            first = Some(peer.digest(&question, &bodies)?);
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
    // A question that used up the patience was asked once.
    let told = if warm.is_empty() { vec![first_ms] } else { warm };
    let digest = first.unwrap_or_default();
    Ok(Some(Query {
        shape: shape.name.to_owned(),
        state: state.to_owned(),
        first_ms,
        p50_ms: quantile(&told, 0.5),
        p99_ms: quantile(&told, 0.99),
        times: told.len(),
        cpu_ms,
        numbers: digest.numbers,
        sum: digest.sum,
    }))
}

/// Questions about single series over two connections at once: how many in a second, and the time
/// of each, sorted.
pub(crate) fn throughput(
    peer: &dyn Peer,
    server: &Server,
    shape: Shape,
) -> Outcome<(usize, f64, Vec<f64>)> {
    let next = AtomicUsize::new(0);
    let clock = Stopwatch::start();
    let ask = || -> Outcome<Vec<f64>> {
        let mut connection = Connection::open(server.address)?;
        let mut took_ms = Vec::new();
        while clock.seconds() < THROUGHPUT_SECONDS {
            let question: Question = shape.question(next.fetch_add(1, Ordering::Relaxed));
            for path in peer.requests(&question).unwrap_or_default() {
                let request = format!(
                    "GET {path} HTTP/1.1\r\nHost: {}\r\n{}\r\n",
                    server.address, server.headers
                );
                let asked = Stopwatch::start();
                let answer = connection.exchange(request.as_bytes())?;
                took_ms.push(asked.ms());
                if !answer.is_good() {
                    return Err(format!("GET {path}: {}", answer.summary()).into());
                }
            }
        }
        Ok(took_ms)
    };
    let done: Vec<Outcome<Vec<f64>>> = std::thread::scope(|scope| {
        let running: Vec<_> = (0..CONNECTIONS).map(|_| scope.spawn(ask)).collect();
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
