//! Small servers of the tests, each on a port of 127.0.0.1 until it is dropped: pages to be
//! scraped, and a relay to a server whose address changes.

use std::collections::HashMap;
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
    fn start(response: impl Fn(TcpStream) + Send + 'static) -> Self {
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
                response(stream);
            }
        });
        Self { address, closed, thread: Some(thread) }
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.closed.store(true, Ordering::Relaxed);
        // Wakes the thread, which then ends.
        let woken = TcpStream::connect(self.address).is_ok();
        if let Some(thread) = self.thread.take().filter(|_| woken) {
            assert!(thread.join().is_ok() || std::thread::panicking(), "a server of a test failed");
        }
    }
}

/// A page that agents scrape: every request gets its current content.
#[derive(Debug)]
pub struct ScrapedPage {
    listening: Listening,
    shown: Arc<Mutex<(&'static str, Vec<u8>)>>,
    scrapes: Arc<AtomicU64>,
}

impl ScrapedPage {
    /// Creates a page with a content type and content.
    #[track_caller]
    pub fn new(content_type: &'static str, body: impl Into<Vec<u8>>) -> Self {
        let shown = Arc::new(Mutex::new((content_type, body.into())));
        let scrapes = Arc::new(AtomicU64::new(0));
        let (page, count) = (Arc::clone(&shown), Arc::clone(&scrapes));
        let listening = Listening::start(move |stream| {
            let (content_type, body) = page.lock().unwrap_or_else(PoisonError::into_inner).clone();
            if response(stream, content_type, &body).is_ok() {
                count.fetch_add(1, Ordering::Relaxed);
            }
        });
        Self { listening, shown, scrapes }
    }

    /// Replaces the content.
    pub fn show(&self, body: impl Into<Vec<u8>>) {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner).1 = body.into();
    }

    /// Returns how often it was requested.
    pub fn scrapes(&self) -> u64 {
        self.scrapes.load(Ordering::Relaxed)
    }

    /// Returns its address.
    pub fn address(&self) -> SocketAddr {
        self.listening.address
    }
}

/// A web site that browsers visit.
#[derive(Debug)]
pub struct WebSite {
    listening: Listening,
    pages: Arc<Mutex<HashMap<String, String>>>,
    heads: Arc<Mutex<Vec<String>>>,
}

impl WebSite {
    /// Creates a site of these pages of HTML, by path. Other paths never get a response.
    #[track_caller]
    pub fn new<const N: usize>(pages: [(&str, &str); N]) -> Self {
        let pages = pages.map(|(path, html)| (path.to_owned(), html.to_owned()));
        let pages = Arc::new(Mutex::new(HashMap::from(pages)));
        let heads = Arc::new(Mutex::new(Vec::new()));
        let (shown, seen) = (Arc::clone(&pages), Arc::clone(&heads));
        let listening = Listening::start(move |stream| {
            let (shown, seen) = (Arc::clone(&shown), Arc::clone(&seen));
            // Browsers open connections that they do not use at once.
            std::thread::spawn(move || visit(stream, &shown, &seen));
        });
        Self { listening, pages, heads }
    }

    /// Adds a page, or replaces it.
    pub fn show(&self, path: &str, html: &str) {
        let mut pages = self.pages.lock().unwrap_or_else(PoisonError::into_inner);
        pages.insert(path.to_owned(), html.to_owned());
    }

    /// Returns the URL of a path.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.listening.address)
    }

    /// Returns the heads of all requests so far.
    pub fn heads(&self) -> Vec<String> {
        self.heads.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

fn visit(
    mut stream: TcpStream,
    pages: &Mutex<HashMap<String, String>>,
    heads: &Mutex<Vec<String>>,
) {
    let Ok(head) = request_head(&mut stream) else { return };
    let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
    heads.lock().unwrap_or_else(PoisonError::into_inner).push(head);
    let html = pages.lock().unwrap_or_else(PoisonError::into_inner).get(&path).cloned();
    match html {
        // Whoever has gone needs no response.
        Some(html) => drop(respond(stream, "text/html; charset=utf-8", html.as_bytes())),
        // Until the browser gives up.
        None => drop(stream.read(&mut [0])),
    }
}

fn response(mut stream: TcpStream, content_type: &str, body: &[u8]) -> std::io::Result<()> {
    request_head(&mut stream)?;
    respond(stream, content_type, body)
}

/// Reads the head of a request.
fn request_head(stream: &mut TcpStream) -> std::io::Result<String> {
    let (mut request, mut buffer) = (Vec::new(), [0; 4 << 10]);
    while !request.windows(4).any(|end| end == b"\r\n\r\n") {
        match stream.read(&mut buffer)? {
            0 => return Err(std::io::ErrorKind::UnexpectedEof.into()),
            bytes => request.extend_from_slice(&buffer[..bytes]),
        }
    }
    Ok(String::from_utf8_lossy(&request).into_owned())
}

fn respond(mut stream: TcpStream, content_type: &str, body: &[u8]) -> std::io::Result<()> {
    let length = body.len();
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: {content_type}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(&[head.as_bytes(), body].concat())
}

/// A fixed address for a server that is restarted on other addresses.
#[derive(Debug)]
pub struct Relay {
    listening: Listening,
    target: Arc<Mutex<Target>>,
    lost: Arc<AtomicU64>,
}

/// The target of new connections.
#[derive(Clone, Copy, Debug)]
enum Target {
    Server(SocketAddr),
    /// A server, whose responses are dropped.
    Mute(SocketAddr),
    Nowhere,
}

impl Relay {
    /// Creates a relay to `server`.
    #[track_caller]
    pub fn to(server: SocketAddr) -> Self {
        let target = Arc::new(Mutex::new(Target::Server(server)));
        let lost = Arc::new(AtomicU64::new(0));
        let (shared, losses) = (Arc::clone(&target), Arc::clone(&lost));
        let listening = Listening::start(move |client| {
            let target = *shared.lock().unwrap_or_else(PoisonError::into_inner);
            let losses = Arc::clone(&losses);
            // The connection ends when either side ends; the thread is not joined.
            std::thread::spawn(move || carry(&client, target, &losses));
        });
        Self { listening, target, lost }
    }

    /// Returns its address.
    pub fn address(&self) -> SocketAddr {
        self.listening.address
    }

    /// Relays new connections to `server`.
    pub fn lead_to(&self, server: SocketAddr) {
        self.set(Target::Server(server));
    }

    /// Closes new connections immediately.
    pub fn lead_nowhere(&self) {
        self.set(Target::Nowhere);
    }

    /// Relays the requests of new connections to `server`, and closes the connection instead of
    /// returning a response.
    pub fn lose_answers_of(&self, server: SocketAddr) {
        self.set(Target::Mute(server));
    }

    /// Returns how many responses were dropped.
    pub fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }

    fn set(&self, target: Target) {
        *self.target.lock().unwrap_or_else(PoisonError::into_inner) = target;
    }
}

/// Relays bytes in both directions until one side ends; counts a dropped response.
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
            // The first byte of a response shows that the request was processed.
            let actual = (&server).read(&mut [0]).is_ok_and(|bytes| bytes > 0);
            losses.fetch_add(u64::from(actual), Ordering::Relaxed);
        } else {
            copy(&server, client);
        }
        for side in [client, &server] {
            // Shutting down a closed connection fails, which is harmless.
            let _closed = side.shutdown(Shutdown::Both);
        }
    });
}

fn copy(mut from: &TcpStream, mut to: &TcpStream) {
    // An error means that the connection ended, which ends the copy.
    let _carried = std::io::copy(&mut from, &mut to);
    let _ended = to.shutdown(Shutdown::Write);
}
