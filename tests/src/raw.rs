//! A raw connection, for requests that no well-behaved client sends: incomplete, slow, or not HTTP
//! at all.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::Duration;

use crate::response::Response;

/// Timeout of a read.
const READ_TIMEOUT: Duration = Duration::from_secs(120);

/// A TCP connection to the server.
#[derive(Debug)]
pub struct Wire {
    stream: TcpStream,
    /// Bytes received after the last response.
    pending: Vec<u8>,
}

impl Wire {
    /// Opens a connection.
    #[track_caller]
    pub fn open(address: SocketAddr) -> Self {
        match TcpStream::connect(address) {
            Ok(stream) => Self::over(stream),
            Err(error) => panic!("cannot connect to {address}: {error}"),
        }
    }

    /// Wraps an existing connection.
    #[track_caller]
    pub fn over(stream: TcpStream) -> Self {
        let ready = stream
            .set_nonblocking(false)
            .and_then(|()| stream.set_read_timeout(Some(READ_TIMEOUT)))
            .and_then(|()| stream.set_nodelay(true));
        match ready {
            Ok(()) => Self { stream, pending: Vec::new() },
            Err(error) => panic!("the connection cannot be used: {error}"),
        }
    }

    /// Sends bytes. If the server has closed the connection, the next read reports it.
    pub fn send(&mut self, bytes: impl AsRef<[u8]>) -> &mut Self {
        let sent = self.stream.write_all(bytes.as_ref()).and_then(|()| self.stream.flush());
        if let Err(error) = sent {
            let gone = [ErrorKind::BrokenPipe, ErrorKind::ConnectionReset];
            assert!(gone.contains(&error.kind()), "cannot send: {error}");
        }
        self
    }

    /// Closes the sending side of the connection.
    pub fn finish(&mut self) -> &mut Self {
        match self.stream.shutdown(Shutdown::Write) {
            Ok(()) => self,
            Err(error) if error.kind() == ErrorKind::NotConnected => self,
            Err(error) => panic!("cannot close for writing: {error}"),
        }
    }

    /// Returns the next response, or `None` if the server closed the connection without one.
    #[track_caller]
    pub fn response(&mut self) -> Option<Response> {
        let head_end = loop {
            if let Some(at) = find(&self.pending, b"\r\n\r\n") {
                break at + 4;
            }
            if !self.fill() {
                return None;
            }
        };
        let head = String::from_utf8_lossy(&self.pending[..head_end]).into_owned();
        self.pending.drain(..head_end);
        let (status, headers) = parse_head(&head);
        let mut response = Response { status, headers, body: Vec::new() };
        response.body = self.body_of(&response);
        Some(response)
    }

    /// Returns whether the received bytes begin with these. Consumes nothing.
    pub fn begins_with(&self, bytes: &[u8]) -> bool {
        let mut first = vec![0; bytes.len()];
        let looks = self.stream.set_nonblocking(true).is_ok();
        let came = self.stream.peek(&mut first);
        let waits = self.stream.set_nonblocking(false).is_ok();
        assert!(looks && waits, "a socket can be looked at");
        matches!(came, Ok(n) if n == bytes.len() && first == bytes)
    }

    /// Returns the next response if it begins within `patience`.
    #[track_caller]
    pub fn response_within(&mut self, patience: Duration) -> Option<Response> {
        let mut first = [0];
        let waits = |stream: &TcpStream, how_long| stream.set_read_timeout(Some(how_long)).is_ok();
        assert!(waits(&self.stream, patience), "the read timeout can be set");
        let came = matches!(self.stream.peek(&mut first), Ok(1));
        assert!(waits(&self.stream, READ_TIMEOUT), "the read timeout can be set");
        if came { self.response() } else { None }
    }

    /// Returns everything received until the server closes the connection.
    #[track_caller]
    pub fn everything(&mut self) -> Vec<u8> {
        while self.fill() {}
        std::mem::take(&mut self.pending)
    }

    /// Returns this many bytes, or `None` if the server closed the connection before.
    #[track_caller]
    pub(crate) fn take(&mut self, bytes: usize) -> Option<Vec<u8>> {
        while self.pending.len() < bytes {
            if !self.fill() {
                return None;
            }
        }
        Some(self.pending.drain(..bytes).collect())
    }

    fn body_of(&mut self, response: &Response) -> Vec<u8> {
        if response.header("transfer-encoding") == Some("chunked") {
            return self.chunks();
        }
        let Some(length) = response.header("content-length").and_then(|v| v.parse().ok()) else {
            return Vec::new();
        };
        while self.pending.len() < length && self.fill() {}
        let end = length.min(self.pending.len());
        self.pending.drain(..end).collect()
    }

    fn chunks(&mut self) -> Vec<u8> {
        let mut body = Vec::new();
        loop {
            let line_end = loop {
                if let Some(at) = find(&self.pending, b"\r\n") {
                    break at;
                }
                assert!(self.fill(), "the connection closed within a chunked body");
            };
            let line = String::from_utf8_lossy(&self.pending[..line_end]).into_owned();
            let Ok(size) = usize::from_str_radix(line.trim(), 16) else {
                panic!("{line:?} is not the size of a chunk")
            };
            while self.pending.len() < line_end + 2 + size + 2 {
                assert!(self.fill(), "the connection closed within a chunk");
            }
            body.extend_from_slice(&self.pending[line_end + 2..line_end + 2 + size]);
            self.pending.drain(..line_end + 2 + size + 2);
            if size == 0 {
                return body;
            }
        }
    }

    /// Reads available bytes; `false` if the connection is closed.
    #[track_caller]
    fn fill(&mut self) -> bool {
        let mut buffer = [0; 16 << 10];
        match self.stream.read(&mut buffer) {
            Ok(0) => false,
            Ok(n) => {
                self.pending.extend_from_slice(&buffer[..n]);
                true
            }
            Err(error) if error.kind() == ErrorKind::ConnectionReset => false,
            Err(error) => panic!("the server neither answered nor hung up: {error}"),
        }
    }
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack.windows(needle.len()).position(|window| window == needle)
}

#[track_caller]
fn parse_head(head: &str) -> (u16, Vec<(String, String)>) {
    let mut lines = head.split("\r\n");
    let status = lines.next().and_then(|line| line.split(' ').nth(1)).and_then(|s| s.parse().ok());
    let Some(status) = status else { panic!("not an HTTP answer: {head:?}") };
    let headers = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    (status, headers)
}
