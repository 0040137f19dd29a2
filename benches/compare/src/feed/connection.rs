//! HTTP/1.1 over one keep-alive connection. Implements as little of HTTP as possible, to use little
//! CPU: the client shares the cores with the server under test.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use crate::outcome::Outcome;

/// Longer than any response of a peer takes.
const RESPONSE_SECONDS_MAX: u64 = 900;

/// A status and a body.
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) body: Vec<u8>,
}

/// An open connection.
pub(crate) struct Connection {
    stream: BufReader<TcpStream>,
    line: String,
}

impl Response {
    pub(crate) fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// Returns one line for an error message.
    pub(crate) fn summary(&self) -> String {
        let text: String = String::from_utf8_lossy(&self.body).chars().take(200).collect();
        format!("{} {}", self.status, text.trim())
    }
}

impl Connection {
    pub(crate) fn open(address: SocketAddr) -> Outcome<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(Duration::from_secs(RESPONSE_SECONDS_MAX)))?;
        Ok(Self { stream: BufReader::with_capacity(1 << 16, stream), line: String::new() })
    }

    /// Sends a complete request and reads the response.
    pub(crate) fn exchange(&mut self, request: &[u8]) -> Outcome<Response> {
        self.send(request)?;
        self.response()
    }

    /// Sends a complete request.
    pub(crate) fn send(&mut self, request: &[u8]) -> Outcome<()> {
        Ok(self.stream.get_mut().write_all(request)?)
    }

    /// Reads the response to a request that was sent.
    pub(crate) fn response(&mut self) -> Outcome<Response> {
        self.next_line()?;
        let status = self.line.split(' ').nth(1).and_then(|code| code.parse().ok());
        let status = status.ok_or_else(|| format!("no status in {:?}", self.line))?;
        let (mut length, mut chunked) = (0, false);
        loop {
            self.next_line()?;
            let header = self.line.trim().to_ascii_lowercase();
            if header.is_empty() {
                break;
            }
            if let Some(value) = header.strip_prefix("content-length:") {
                length = value.trim().parse()?;
            }
            chunked |= header == "transfer-encoding: chunked";
        }
        let mut body = Vec::new();
        if !chunked {
            self.read_into(&mut body, length)?;
            return Ok(Response { status, body });
        }
        loop {
            self.next_line()?;
            let length = usize::from_str_radix(self.line.trim(), 16)?;
            self.read_into(&mut body, length)?;
            self.next_line()?;
            if length == 0 {
                return Ok(Response { status, body });
            }
        }
    }

    fn next_line(&mut self) -> Outcome<()> {
        self.line.clear();
        match self.stream.read_line(&mut self.line)? {
            0 => Err("the server closed the connection".into()),
            _ => Ok(()),
        }
    }

    fn read_into(&mut self, body: &mut Vec<u8>, length: usize) -> Outcome<()> {
        let read = (&mut self.stream).take(length as u64).read_to_end(body)?;
        if read < length { Err("the response is incomplete".into()) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    fn check(sent: &'static str, status: u16, body: &str) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let server = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            stream.write_all(sent.as_bytes()).unwrap();
            stream.write_all(sent.as_bytes()).unwrap();
            stream
        });
        let mut connection = Connection::open(address).unwrap();
        for _ in 0..2 {
            let response = connection.exchange(b"").unwrap();
            assert_eq!((response.status, response.body.as_slice()), (status, body.as_bytes()));
        }
        drop(server.join());
    }

    #[test]
    fn responses_are_read_completely_and_the_connection_is_reused() {
        check("HTTP/1.1 204 No Content\r\n\r\n", 204, "");
        check("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc", 200, "abc");
        check(
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n",
            200,
            "abc",
        );
    }
}
