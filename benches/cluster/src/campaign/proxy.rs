//! A proxy between a node and the gateways of the store, which delays and cuts.
//!
//! It reads commands from its standard input, one per line: `delay MILLIS` (each way takes half of
//! it), `swallow` (requests pass, responses do not: their connections end after half a second),
//! `cut` (nothing passes), `pass`. It ends with its input.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, watch};
use tokio::time::{sleep, sleep_until, timeout};

use crate::options::Options;
use crate::outcome::{Failure, Outcome};

/// Chunks in flight per direction.
const CHUNKS: usize = 64;
const CHUNK_BYTES: usize = 64 << 10;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Pass(Duration),
    Swallow,
    Cut,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    ToStore,
    ToNode,
}

/// Serves until the standard input ends.
pub(crate) async fn proxy(options: &Options) -> Outcome<()> {
    let delay = Duration::from_millis(options.get("delay", 0)?);
    let listener = TcpListener::bind(options.get("listen", "127.0.0.1:9000".to_owned())?).await?;
    let gateways: Arc<[String]> = options.list("to", "")?.into();
    let (mode, watched) = watch::channel(Mode::Pass(delay));
    let next = Arc::new(AtomicUsize::new(options.get("first", 0)?));
    tokio::select! {
        result = accept(&listener, &gateways, &next, &watched) => result,
        result = obey(&mode) => result,
    }
}

async fn obey(mode: &watch::Sender<Mode>) -> Outcome<()> {
    let (sender, mut lines) = mpsc::channel(8);
    std::thread::spawn(move || {
        for line in std::io::stdin().lines() {
            let Ok(line) = line else { return };
            if sender.blocking_send(line).is_err() {
                return;
            }
        }
    });
    while let Some(line) = lines.recv().await {
        mode.send_replace(parse(&line)?);
    }
    Ok(())
}

fn parse(line: &str) -> Outcome<Mode> {
    let unknown = || Failure::Usage(format!("unknown command '{line}'"));
    match line.split_once(' ') {
        None if line == "pass" => Ok(Mode::Pass(Duration::ZERO)),
        None if line == "cut" => Ok(Mode::Cut),
        None if line == "swallow" => Ok(Mode::Swallow),
        Some(("delay", millis)) => {
            Ok(Mode::Pass(Duration::from_millis(millis.parse().map_err(|_| unknown())?)))
        }
        _ => Err(unknown()),
    }
}

async fn accept(
    listener: &TcpListener,
    gateways: &Arc<[String]>,
    next: &Arc<AtomicUsize>,
    mode: &watch::Receiver<Mode>,
) -> Outcome<()> {
    loop {
        let (node, _) = listener.accept().await?;
        let (gateways, next, mode) = (Arc::clone(gateways), Arc::clone(next), mode.clone());
        tokio::spawn(async move {
            if let Some(store) = dial(&gateways, &next).await {
                join(node, store, mode).await;
            }
        });
    }
}

/// Connects to the next gateway that accepts connections.
async fn dial(gateways: &[String], next: &AtomicUsize) -> Option<TcpStream> {
    let first = next.fetch_add(1, Ordering::Relaxed);
    for turn in 0..gateways.len() {
        let gateway = gateways.get((first + turn) % gateways.len())?;
        let connected = timeout(Duration::from_millis(400), TcpStream::connect(gateway)).await;
        if let Ok(Ok(stream)) = connected {
            return Some(stream);
        }
    }
    None
}

/// Forwards in both directions until one of them ends.
async fn join(node: TcpStream, store: TcpStream, mode: watch::Receiver<Mode>) {
    // A socket that cannot be tuned still forwards.
    drop((node.set_nodelay(true), store.set_nodelay(true)));
    let (from_node, to_node) = node.into_split();
    let (from_store, to_store) = store.into_split();
    tokio::select! {
        () = forward(from_node, to_store, Direction::ToStore, mode.clone()) => {}
        () = forward(from_store, to_node, Direction::ToNode, mode.clone()) => {}
        () = ended_by(mode) => {}
    }
}

/// Returns when the connection has to end: at once when cut, a little later when responses are
/// swallowed, so that the request arrives.
async fn ended_by(mut mode: watch::Receiver<Mode>) {
    loop {
        let now = *mode.borrow_and_update();
        match now {
            Mode::Cut => return,
            Mode::Swallow => {
                sleep(Duration::from_millis(500)).await;
                return;
            }
            Mode::Pass(_) => {
                if mode.changed().await.is_err() {
                    std::future::pending::<()>().await;
                }
            }
        }
    }
}

async fn forward(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    direction: Direction,
    mode: watch::Receiver<Mode>,
) {
    let (sender, mut chunks) = mpsc::channel(CHUNKS);
    let read = async move {
        let mut buffer = vec![0; CHUNK_BYTES];
        while let Ok(count @ 1..) = from.read(&mut buffer).await {
            let now = *mode.borrow();
            let delay = match now {
                Mode::Pass(delay) => delay / 2,
                Mode::Swallow if direction == Direction::ToNode => continue,
                Mode::Swallow => Duration::ZERO,
                Mode::Cut => return,
            };
            let due = tokio::time::Instant::from_std(crate::stopwatch::deadline(delay));
            let chunk = buffer.get(..count).unwrap_or_default().to_vec();
            if sender.send((due, chunk)).await.is_err() {
                return;
            }
        }
    };
    let write = async move {
        while let Some((due, chunk)) = chunks.recv().await {
            sleep_until(due).await;
            if to.write_all(&chunk).await.is_err() {
                return;
            }
        }
    };
    tokio::join!(read, write);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stopwatch::Stopwatch;

    /// Starts an echo server and a proxy before it; returns the mode and the address.
    async fn start() -> (watch::Sender<Mode>, std::net::SocketAddr) {
        let echo = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let gateways: Arc<[String]> =
            ["127.0.0.1:1".to_owned(), echo.local_addr().unwrap().to_string()].into();
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = echo.accept().await {
                tokio::spawn(async move {
                    let (mut from, mut to) = stream.split();
                    tokio::io::copy(&mut from, &mut to).await.ok();
                });
            }
        });
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (mode, watched) = watch::channel(Mode::Pass(Duration::ZERO));
        tokio::spawn(async move {
            accept(&listener, &gateways, &Arc::default(), &watched).await.unwrap();
        });
        (mode, address)
    }

    async fn echo(address: std::net::SocketAddr) -> Option<String> {
        let mut stream = TcpStream::connect(address).await.ok()?;
        stream.write_all(b"hello").await.ok()?;
        let mut buffer = [0; 5];
        stream.read_exact(&mut buffer).await.ok()?;
        Some(String::from_utf8_lossy(&buffer).into_owned())
    }

    #[tokio::test]
    async fn dead_gateways_are_passed_over_and_delays_take_their_time() {
        let (mode, address) = start().await;
        assert_eq!(echo(address).await.as_deref(), Some("hello"));
        mode.send_replace(Mode::Pass(Duration::from_millis(100)));
        let stopwatch = Stopwatch::start();
        assert_eq!(echo(address).await.as_deref(), Some("hello"));
        assert!(stopwatch.millis() > 95.0);
    }

    #[tokio::test]
    async fn responses_are_swallowed_and_connections_cut() {
        let (mode, address) = start().await;
        mode.send_replace(Mode::Swallow);
        assert_eq!(echo(address).await, None);
        mode.send_replace(Mode::Cut);
        assert_eq!(echo(address).await, None);
        mode.send_replace(Mode::Pass(Duration::ZERO));
        assert_eq!(echo(address).await.as_deref(), Some("hello"));
    }

    #[test]
    fn commands_are_parsed() {
        assert_eq!(parse("delay 20").unwrap(), Mode::Pass(Duration::from_millis(20)));
        assert_eq!(parse("swallow").unwrap(), Mode::Swallow);
        assert!(parse("delay x").is_err());
        assert!(parse("stop").is_err());
    }
}
