//! Small servers of the tests, each on a port of 127.0.0.1 and gone when it is dropped: pages to be
//! scraped, and a way to a server that moves.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

/// Accepts connections until it is dropped.
#[derive(Debug)]
struct Listening {
    address: SocketAddr,
    closed: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Listening {
    #[track_caller]
    fn start(answer: impl Fn(TcpStream) + Send + 'static) -> Self {
        let Ok(listener) = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)) else {
            panic!("no port is free")
        };
        let Ok(address) = listener.local_addr() else { panic!("a listener has an address") };
        let closed = Arc::new(AtomicBool::new(false));
        let ended = Arc::clone(&closed);
        let thread = std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if ended.load(Ordering::Relaxed) {
                    break;
                }
                answer(stream);
            }
        });
        Self { address, closed, thread: Some(thread) }
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.closed.store(true, Ordering::Relaxed);
        // Wakes the thread, which looks and ends.
        let woken = TcpStream::connect(self.address).is_ok();
        if let Some(thread) = self.thread.take().filter(|_| woken) {
            assert!(thread.join().is_ok() || std::thread::panicking(), "a server of a test failed");
        }
    }
}

/// A page that answers every request with what it shows at the moment, as agents scrape it.
#[derive(Debug)]
pub struct ScrapedPage {
    listening: Listening,
    shown: Arc<Mutex<(&'static str, Vec<u8>)>>,
    scrapes: Arc<AtomicU64>,
}

impl ScrapedPage {
    /// Shows bytes of a content type.
    #[track_caller]
    pub fn new(content_type: &'static str, body: impl Into<Vec<u8>>) -> Self {
        let shown = Arc::new(Mutex::new((content_type, body.into())));
        let scrapes = Arc::new(AtomicU64::new(0));
        let (page, count) = (Arc::clone(&shown), Arc::clone(&scrapes));
        let listening = Listening::start(move |stream| {
            let (content_type, body) = page.lock().unwrap_or_else(PoisonError::into_inner).clone();
            if answer(stream, content_type, &body).is_ok() {
                count.fetch_add(1, Ordering::Relaxed);
            }
        });
        Self { listening, shown, scrapes }
    }

    /// Shows something else from now on.
    pub fn show(&self, body: impl Into<Vec<u8>>) {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner).1 = body.into();
    }

    /// How often it was asked for.
    pub fn scrapes(&self) -> u64 {
        self.scrapes.load(Ordering::Relaxed)
    }

    /// Where it is.
    pub fn address(&self) -> SocketAddr {
        self.listening.address
    }
}

fn answer(mut stream: TcpStream, content_type: &str, body: &[u8]) -> std::io::Result<()> {
    let (mut request, mut buffer) = (Vec::new(), [0; 4 << 10]);
    while !request.windows(4).any(|end| end == b"\r\n\r\n") {
        match stream.read(&mut buffer)? {
            0 => return Err(std::io::ErrorKind::UnexpectedEof.into()),
            bytes => request.extend_from_slice(&buffer[..bytes]),
        }
    }
    let length = body.len();
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: {content_type}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(&[head.as_bytes(), body].concat())
}

/// An address that stays while the server behind it comes and goes.
#[derive(Debug)]
pub struct Relay {
    listening: Listening,
    target: Arc<Mutex<Target>>,
    lost: Arc<AtomicU64>,
}

/// Where connections lead.
#[derive(Clone, Copy, Debug)]
enum Target {
    Server(SocketAddr),
    /// There, but no answer comes back.
    Mute(SocketAddr),
    Nowhere,
}

impl Relay {
    /// Leads to `server`.
    #[track_caller]
    pub fn to(server: SocketAddr) -> Self {
        let target = Arc::new(Mutex::new(Target::Server(server)));
        let lost = Arc::new(AtomicU64::new(0));
        let (shared, losses) = (Arc::clone(&target), Arc::clone(&lost));
        let listening = Listening::start(move |client| {
            let target = *shared.lock().unwrap_or_else(PoisonError::into_inner);
            let losses = Arc::clone(&losses);
            // A connection ends with either side; nobody waits for it.
            std::thread::spawn(move || carry(&client, target, &losses));
        });
        Self { listening, target, lost }
    }

    /// Where it is.
    pub fn address(&self) -> SocketAddr {
        self.listening.address
    }

    /// Leads new connections to `server`.
    pub fn lead_to(&self, server: SocketAddr) {
        self.set(Target::Server(server));
    }

    /// Ends new connections at once.
    pub fn lead_nowhere(&self) {
        self.set(Target::Nowhere);
    }

    /// Carries requests of new connections to `server`, and ends the connection in the place of an
    /// answer.
    pub fn lose_answers_of(&self, server: SocketAddr) {
        self.set(Target::Mute(server));
    }

    /// How many answers were lost.
    pub fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }

    fn set(&self, target: Target) {
        *self.target.lock().unwrap_or_else(PoisonError::into_inner) = target;
    }
}

/// Carries bytes both ways until one side ends; counts an answer that is lost.
fn carry(client: &TcpStream, target: Target, losses: &AtomicU64) {
    let (server, mute) = match target {
        Target::Server(server) => (server, false),
        Target::Mute(server) => (server, true),
        Target::Nowhere => return,
    };
    let Ok(server) = TcpStream::connect(server) else { return };
    std::thread::scope(|scope| {
        scope.spawn(|| copy(client, &server));
        if mute {
            // The first byte of an answer says that the request was dealt with.
            let answered = (&server).read(&mut [0]).is_ok_and(|bytes| bytes > 0);
            losses.fetch_add(u64::from(answered), Ordering::Relaxed);
        } else {
            copy(&server, client);
        }
        for side in [client, &server] {
            // One that is closed already needs no shutting.
            let _closed = side.shutdown(Shutdown::Both);
        }
    });
}

fn copy(mut from: &TcpStream, mut to: &TcpStream) {
    // What fails is a connection that ended, which is what ends the copy.
    let _carried = std::io::copy(&mut from, &mut to);
    let _ended = to.shutdown(Shutdown::Write);
}
