//! The threads that serve network connections, each with a reactor of its own.
//!
//! A connection stays on one thread: its bytes are read, its requests are processed and its
//! responses are written there. Waking another thread takes as long as many a request, on a virtual
//! machine a twentieth of a millisecond. Work that blocks or computes for long runs
//! elsewhere (`App::blocking`, `App::query`), so there are only a few threads per core: enough that
//! the system keeps the cores busy when connections are busy unevenly, or when a thread waits for a
//! fast disk.
//!
//! A new connection goes to the thread that has the fewest, except to one that has been busy for
//! long: a disk that does not respond could hold it, with the connections that it has. Connections
//! on the control socket are served by the main runtime.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;

use crate::platform::ticks::Ticks;
use crate::platform::{connection_thread, process};

/// Threads that serve network connections, per core: more than one, because a thread may wait for a
/// fast disk, and connections are busy unevenly.
const THREADS_PER_CORE: usize = 2;
/// Threads that serve network connections, at most: each needs files and memory.
const THREADS_MAX: usize = 64;
/// File descriptors of a thread that serves connections: its epoll instance, a duplicate of it, the
/// event that wakes it, and its end of the pipe of signals.
const FILES_PER_THREAD: usize = 4;
/// Milliseconds after which a thread that has not waited for work gets no new connections: tens of
/// requests' worth. What comes earlier waits with a thread that a disk holds.
const STUCK_MS: u64 = 10;

/// The threads. They end when this is dropped, with the connections that are still open.
#[derive(Debug)]
pub struct ConnectionThreads {
    ticks: Ticks,
    threads: Vec<ConnectionThread>,
}

#[derive(Debug)]
struct ConnectionThread {
    runtime: Handle,
    load: Arc<Load>,
    /// Dropped to end the thread.
    _end: oneshot::Sender<()>,
}

/// What a thread has to do.
#[derive(Debug, Default)]
struct Load {
    connections: AtomicUsize,
    /// The time in milliseconds since which the thread has been busy, plus one; 0 while it waits.
    busy_since: AtomicU64,
}

/// The place of a new connection on a thread. Counts the connection until it is dropped.
#[derive(Debug)]
pub(super) struct ThreadPlace {
    pub(super) runtime: Handle,
    load: Arc<Load>,
}

impl ConnectionThreads {
    /// Starts two threads for each core, at most 64. Their work that blocks runs on the main
    /// runtime.
    pub fn start(main: &Handle, ticks: &Ticks) -> io::Result<Self> {
        let count = process::cores().saturating_mul(THREADS_PER_CORE);
        Self::start_threads(count.clamp(1, THREADS_MAX), main, ticks)
    }

    fn start_threads(count: usize, main: &Handle, ticks: &Ticks) -> io::Result<Self> {
        let threads = (0..count).map(|number| ConnectionThread::start(number, main, ticks));
        Ok(Self { ticks: ticks.clone(), threads: threads.collect::<io::Result<_>>()? })
    }

    /// Returns the file descriptors that the threads use, without their connections.
    pub fn files(&self) -> usize {
        self.threads.len().saturating_mul(FILES_PER_THREAD)
    }

    /// Returns a place for a new connection.
    pub(super) fn place(&self) -> Option<ThreadPlace> {
        let now = self.ticks.elapsed();
        let thread = self.threads.iter().min_by_key(|thread| thread.load.rank(now))?;
        thread.load.connections.fetch_add(1, Ordering::Relaxed);
        Some(ThreadPlace { runtime: thread.runtime.clone(), load: Arc::clone(&thread.load) })
    }
}

impl ConnectionThread {
    fn start(number: usize, main: &Handle, ticks: &Ticks) -> io::Result<Self> {
        let load = Arc::new(Load::default());
        load.is_busy_since(ticks.elapsed());
        let (waiting, busy, ticks) = (Arc::clone(&load), Arc::clone(&load), ticks.clone());
        let runtime = Builder::new_current_thread()
            .enable_all()
            .on_thread_park(move || waiting.waits())
            .on_thread_unpark(move || busy.is_busy_since(ticks.elapsed()))
            .build()?;
        let handle = runtime.handle().clone();
        let (end, ended) = oneshot::channel::<()>();
        let (main, ended_load) = (main.clone(), Arc::clone(&load));
        std::thread::Builder::new().name(format!("telltale-http-{number}")).spawn(move || {
            let _ended = Ended(ended_load);
            connection_thread::begin(main);
            // An error means that the sender is gone, which is the order to end.
            drop(runtime.block_on(ended));
            runtime.shutdown_background();
        })?;
        Ok(Self { runtime: handle, load, _end: end })
    }
}

/// Marks a thread that has ended as one that is stuck: it gets no connections.
struct Ended(Arc<Load>);

impl Drop for Ended {
    fn drop(&mut self) {
        self.0.is_busy_since(Duration::ZERO);
        if std::thread::panicking() {
            tracing::error!(
                "a thread that serves connections has panicked; its connections are closed"
            );
        }
    }
}

impl Load {
    fn waits(&self) {
        self.busy_since.store(0, Ordering::Relaxed);
    }

    fn is_busy_since(&self, now: Duration) {
        self.busy_since.store(millis(now).saturating_add(1), Ordering::Relaxed);
    }

    /// Returns the order in which threads get connections, the first one first.
    fn rank(&self, now: Duration) -> (bool, usize) {
        let is_stuck = match self.busy_since.load(Ordering::Relaxed).checked_sub(1) {
            None => false,
            Some(since) => millis(now).saturating_sub(since) > STUCK_MS,
        };
        (is_stuck, self.connections.load(Ordering::Relaxed))
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

impl Drop for ThreadPlace {
    fn drop(&mut self) {
        self.load.connections.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use telltale_engine::{Clock, TimestampMs};

    use super::*;

    #[tokio::test]
    async fn connections_are_spread_over_the_threads_that_are_not_stuck() {
        let clock = Clock::manual(TimestampMs(0));
        let ticks = Ticks::following(clock.clone());
        let threads = ConnectionThreads::start_threads(2, &Handle::current(), &ticks).unwrap();
        let is_waiting = |load: &Load| load.busy_since.load(Ordering::Relaxed) == 0;
        // From then on each task that a thread gets wakes it.
        while !threads.threads.iter().all(|thread| is_waiting(&thread.load)) {
            std::thread::yield_now();
        }
        let of_thread = |place: &ThreadPlace| place.runtime.id();
        let (first, second) = (threads.place().unwrap(), threads.place().unwrap());
        assert_ne!(of_thread(&first), of_thread(&second));
        let (stuck, spare) = (of_thread(&first), of_thread(&second));
        drop(first);
        let first = threads.place().unwrap();
        assert_eq!(of_thread(&first), stuck, "it had none");

        // A task that holds its thread.
        let (started, has_started) = mpsc::channel();
        let (release, released) = mpsc::channel::<()>();
        let task = first.runtime.spawn(async move {
            started.send(()).unwrap();
            released.recv().unwrap();
        });
        has_started.recv_timeout(Duration::from_secs(30)).unwrap();
        clock.pass(Duration::from_millis(STUCK_MS + 1));
        let third = threads.place().unwrap();
        assert_eq!(of_thread(&third), spare);
        drop(third);
        let third = threads.place().unwrap();
        assert_eq!(of_thread(&third), spare, "although it has more");

        release.send(()).unwrap();
        while !task.is_finished() || !is_waiting(&first.load) {
            std::thread::yield_now();
        }
        assert_eq!(of_thread(&threads.place().unwrap()), stuck);
        drop((second, third));
    }

    #[tokio::test]
    async fn a_thread_that_has_ended_gets_no_connections() {
        let clock = Clock::manual(TimestampMs(0));
        let ticks = Ticks::following(clock.clone());
        let mut threads = ConnectionThreads::start_threads(2, &Handle::current(), &ticks).unwrap();
        while !threads.threads.iter().all(|t| t.load.busy_since.load(Ordering::Relaxed) == 0) {
            std::thread::yield_now();
        }
        clock.pass(Duration::from_millis(2 * STUCK_MS));
        let ended = &mut threads.threads[0];
        // Drops the order to go on.
        ended._end = oneshot::channel().0;
        while ended.load.busy_since.load(Ordering::Relaxed) != 1 {
            std::thread::yield_now();
        }
        let ended = ended.runtime.id();
        let places: Vec<ThreadPlace> = (0..9).map(|_| threads.place().unwrap()).collect();
        assert!(places.iter().all(|place| place.runtime.id() != ended));
    }
}
