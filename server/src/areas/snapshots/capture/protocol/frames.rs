//! Messages in a stream of bytes, each ended by a NUL byte.

use std::io;

use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

/// Bytes that are read at once: screenshots are large.
const READ_BYTES: usize = 256 << 10;

/// Reads messages.
#[derive(Debug)]
pub(super) struct MessageReader<R> {
    source: BufReader<R>,
    message: Vec<u8>,
    bytes_max: usize,
}

/// A message.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Message<'a> {
    /// All of it.
    Complete(&'a [u8]),
    /// The beginning of a message that is larger than the limit. The rest was skipped.
    TooLarge(&'a [u8]),
}

impl<R: AsyncRead + Unpin> MessageReader<R> {
    /// Returns a reader that keeps so many bytes of a message.
    pub(super) fn new(source: R, bytes_max: usize) -> Self {
        let source = BufReader::with_capacity(READ_BYTES, source);
        Self { source, message: Vec::new(), bytes_max }
    }

    /// Reads the next message. `None` at the end of the stream, even within a message.
    pub(super) async fn next(&mut self) -> io::Result<Option<Message<'_>>> {
        self.message.clear();
        self.message.shrink_to(READ_BYTES);
        let mut is_too_large = false;
        loop {
            let chunk = self.source.fill_buf().await?;
            if chunk.is_empty() {
                return Ok(None);
            }
            let end = memchr::memchr(0, chunk);
            let part = chunk.get(..end.unwrap_or(chunk.len())).unwrap_or(chunk);
            let space = self.bytes_max.saturating_sub(self.message.len());
            is_too_large |= part.len() > space;
            self.message.extend_from_slice(part.get(..space).unwrap_or(part));
            let consumed = end.map_or(chunk.len(), |end| end + 1);
            self.source.consume(consumed);
            if end.is_some() {
                let message = self.message.as_slice();
                let complete = Message::Complete(message);
                return Ok(Some(if is_too_large { Message::TooLarge(message) } else { complete }));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn messages_end_with_nul_and_large_ones_are_skipped() {
        let mut reader = MessageReader::new(&b"{}\0\0abcdefgh\0abcd\0rest"[..], 4);
        for expected in [
            Message::Complete(b"{}"),
            Message::Complete(b""),
            Message::TooLarge(b"abcd"),
            Message::Complete(b"abcd"),
        ] {
            assert_eq!(reader.next().await.unwrap(), Some(expected));
        }
        assert_eq!(reader.next().await.unwrap(), None);
    }
}
