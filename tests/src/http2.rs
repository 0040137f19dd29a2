//! A raw HTTP/2 connection, for frames that no well-behaved client sends.

use crate::raw::Wire;

/// The connection preface of a client.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const HEADERS: u8 = 1;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
/// Flag of HEADERS and DATA: the last frame of the stream.
const END_STREAM: u8 = 1;
/// Flag of HEADERS: no CONTINUATION follows.
const END_HEADERS: u8 = 4;
/// Flag of SETTINGS and PING: an acknowledgement.
const ACK: u8 = 1;

/// An HTTP/2 connection to the server.
#[derive(Debug)]
pub struct Http2(Wire);

/// A received frame.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Frame {
    kind: u8,
    flags: u8,
    stream: u32,
    payload: Vec<u8>,
}

/// Encodes a frame.
pub fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let Ok(length) = u32::try_from(payload.len()) else { panic!("the payload is too long") };
    let mut bytes = length.to_be_bytes()[1..].to_vec();
    bytes.extend([kind, flags]);
    bytes.extend(stream.to_be_bytes());
    bytes.extend(payload);
    bytes
}

/// Encodes a `GET` request on a stream.
pub fn get(stream: u32, path: &str, key: Option<&str>) -> Vec<u8> {
    // From the static table of HPACK: the method `GET` and the scheme `http`; then names from it
    // with literal values that are not indexed: the authority, the path and the key.
    let mut block = vec![0x82, 0x86];
    literal(&mut block, &[0x01], "a");
    literal(&mut block, &[0x04], path);
    if let Some(key) = key {
        literal(&mut block, &[0x0f, 23 - 15], &format!("Bearer {key}"));
    }
    frame(HEADERS, END_STREAM | END_HEADERS, stream, &block)
}

/// Encodes the head of a `POST` request on a stream; the body follows.
pub fn post(stream: u32, path: &str, key: &str) -> Vec<u8> {
    // As above, with the method `POST`.
    let mut block = vec![0x83, 0x86];
    literal(&mut block, &[0x01], "a");
    literal(&mut block, &[0x04], path);
    literal(&mut block, &[0x0f, 23 - 15], &format!("Bearer {key}"));
    frame(HEADERS, END_HEADERS, stream, &block)
}

fn literal(block: &mut Vec<u8>, name: &[u8], value: &str) {
    let length = u8::try_from(value.len()).ok().filter(|length| *length < 127);
    let Some(length) = length else { panic!("{value:?} needs a longer length") };
    block.extend(name);
    block.push(length);
    block.extend(value.as_bytes());
}

impl Http2 {
    /// Opens a connection and begins HTTP/2.
    pub fn begin(mut wire: Wire) -> Self {
        wire.send(PREFACE).send(frame(SETTINGS, 0, 0, &[]));
        Self(wire)
    }

    /// Sends bytes. If the server has closed the connection, the next read reports it.
    pub fn send(&mut self, bytes: impl AsRef<[u8]>) -> &mut Self {
        self.0.send(bytes);
        self
    }

    /// Waits until the response on this stream is complete; `false` if the connection was closed
    /// before.
    #[track_caller]
    pub fn has_response(&mut self, stream: u32) -> bool {
        self.comes(|frame| {
            frame.stream == stream && frame.kind <= HEADERS && frame.flags & END_STREAM > 0
        })
    }

    /// Sends a PING and waits for its acknowledgement; `false` if the connection was closed before.
    #[track_caller]
    pub fn is_alive(&mut self) -> bool {
        let payload = *b"alive?!!";
        self.send(frame(PING, 0, 0, &payload));
        self.comes(|frame| frame.kind == PING && frame.flags == ACK && frame.payload == payload)
    }

    /// Waits until the server closes the connection.
    #[track_caller]
    pub fn closes(&mut self) {
        drop(self.0.everything());
    }

    #[track_caller]
    fn comes(&mut self, is_awaited: impl Fn(&Frame) -> bool) -> bool {
        while let Some(frame) = self.next_frame() {
            if is_awaited(&frame) {
                return true;
            }
        }
        false
    }

    #[track_caller]
    fn next_frame(&mut self) -> Option<Frame> {
        let header = self.0.take(9)?;
        let &[a, b, c, kind, flags, d, e, f, g] = header.as_slice() else { return None };
        let length = u32::from_be_bytes([0, a, b, c]) as usize;
        let payload = self.0.take(length)?;
        Some(Frame { kind, flags, stream: u32::from_be_bytes([d, e, f, g]), payload })
    }
}
