//! Filters envelopes while they are received: drops the payloads of unsupported items, so that an
//! attachment uses bandwidth but no memory.
//!
//! Such an item is replaced by one with an empty type and payload, so that the parser still counts
//! it. Invalid envelopes are passed on unchanged, for the parser to reject; only errors that the
//! parser can no longer see are reported here.
//!
//! Slices are taken at positions that were found in the same bytes, so they always exist.

use memchr::memchr;

use super::envelope::{EnvelopeError, item_headers};
use super::intake::EVENT;
use crate::areas::errors::error::ErrorsError;
use crate::http::{ApiResult, BodyFilter, BodyFiltering};
use crate::limits;
use crate::platform::json::with_document;

/// The body filter of envelope routes.
pub(super) const SIFTING: BodyFiltering =
    BodyFiltering { make: || Box::new(Skimmer::default()), bytes_max: limits::ENVELOPE_BYTES_MAX };

/// The replacement of a dropped item. No item is shorter.
const PLACEHOLDER: &[u8] = b"{\"type\":\"\"}\n\n";

/// The position of the next byte in an envelope.
#[derive(Clone, Copy, Debug, Default)]
enum EnvelopePosition {
    /// In the first line.
    #[default]
    Headers,
    /// Before or in the headers of an item.
    ItemHeaders,
    /// In a payload with `left` bytes remaining; `None` means that it ends at the next line feed.
    Payload { is_kept: bool, left: Option<usize> },
    /// After a payload of known length, where a line feed must follow.
    AfterPayload { is_kept: bool },
    /// After something that cannot be parsed.
    Unparseable,
}

/// A filter that keeps events and the headers of the envelope.
#[derive(Debug, Default)]
struct Skimmer {
    position: EnvelopePosition,
    /// The headers of an item, as far as they have been received.
    line: Vec<u8>,
}

impl BodyFilter for Skimmer {
    fn push(&mut self, data: &[u8], kept: &mut Vec<u8>) -> ApiResult<()> {
        let mut rest = data;
        while !rest.is_empty() {
            let used = match self.position {
                EnvelopePosition::Headers => self.headers(rest, kept),
                EnvelopePosition::ItemHeaders => self.item_headers(rest, kept),
                EnvelopePosition::Payload { is_kept, left } => {
                    self.payload(rest, is_kept, left, kept)
                }
                EnvelopePosition::AfterPayload { is_kept } => {
                    self.after_payload(rest, is_kept, kept)?
                }
                EnvelopePosition::Unparseable => {
                    kept.extend_from_slice(rest);
                    rest.len()
                }
            };
            rest = rest.get(used..).unwrap_or_default();
        }
        Ok(())
    }

    fn end(&mut self, kept: &mut Vec<u8>) -> ApiResult<()> {
        kept.append(&mut self.line);
        match self.position {
            EnvelopePosition::Payload { is_kept: false, left: Some(_) } => {
                Err(ErrorsError::from(EnvelopeError::Short).into())
            }
            _ => Ok(()),
        }
    }
}

/// Each step returns how many bytes it has consumed.
impl Skimmer {
    fn headers(&mut self, data: &[u8], kept: &mut Vec<u8>) -> usize {
        let (line, has_end) = line(data);
        kept.extend_from_slice(line);
        if has_end {
            self.position = EnvelopePosition::ItemHeaders;
        }
        line.len()
    }

    fn item_headers(&mut self, data: &[u8], kept: &mut Vec<u8>) -> usize {
        let (line, has_end) = line(data);
        // Empty lines between items are skipped.
        if self.line.is_empty() && line == b"\n" {
            return line.len();
        }
        self.line.extend_from_slice(line);
        let is_too_long = self.line.len() > limits::ENVELOPE_HEADER_BYTES_MAX + 1;
        if is_too_long || has_end {
            let read = with_document(&self.line, item_headers).ok().flatten();
            match read.filter(|_| !is_too_long) {
                None => self.position = EnvelopePosition::Unparseable,
                Some((kind, length)) => self.begin_payload(kind == EVENT, length),
            }
            match self.position {
                EnvelopePosition::Payload { is_kept: false, .. }
                | EnvelopePosition::AfterPayload { is_kept: false } => {
                    self.line.clear();
                    kept.extend_from_slice(PLACEHOLDER);
                }
                _ => kept.append(&mut self.line),
            }
        }
        line.len()
    }

    /// Begins the payload of an item.
    fn begin_payload(&mut self, is_kept: bool, length: Option<usize>) {
        self.position = match length {
            Some(0) => EnvelopePosition::AfterPayload { is_kept },
            left => EnvelopePosition::Payload { is_kept, left },
        };
    }

    fn payload(
        &mut self,
        data: &[u8],
        is_kept: bool,
        left: Option<usize>,
        kept: &mut Vec<u8>,
    ) -> usize {
        let part = match left {
            Some(left) => {
                let part = data.get(..left).unwrap_or(data);
                self.begin_payload(is_kept, Some(left - part.len()));
                part
            }
            None => {
                let (line, has_end) = line(data);
                if has_end {
                    self.position = EnvelopePosition::ItemHeaders;
                }
                line
            }
        };
        if is_kept {
            kept.extend_from_slice(part);
        }
        part.len()
    }

    fn after_payload(
        &mut self,
        data: &[u8],
        is_kept: bool,
        kept: &mut Vec<u8>,
    ) -> ApiResult<usize> {
        match (data.first(), is_kept) {
            (Some(b'\n'), _) => self.position = EnvelopePosition::ItemHeaders,
            (_, true) => {
                self.position = EnvelopePosition::Unparseable;
                return Ok(0);
            }
            (_, false) => return Err(ErrorsError::from(EnvelopeError::Long).into()),
        }
        if is_kept {
            kept.push(b'\n');
        }
        Ok(1)
    }
}

/// Returns the bytes up to and including the first line feed, and whether there is one.
fn line(data: &[u8]) -> (&[u8], bool) {
    match memchr(b'\n', data) {
        Some(at) => (data.get(..=at).unwrap_or(data), true),
        None => (data, false),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::envelope::Envelope;
    use super::*;

    /// Returns what is kept of an envelope that is received in chunks of `piece_bytes`; `None` if
    /// it is rejected.
    fn skimmed(envelope: &[u8], piece_bytes: usize) -> Option<Vec<u8>> {
        let (mut skimmer, mut kept) = (Skimmer::default(), Vec::new());
        for piece in envelope.chunks(piece_bytes) {
            skimmer.push(piece, &mut kept).ok()?;
        }
        skimmer.end(&mut kept).ok()?;
        Some(kept)
    }

    /// Returns the events of an envelope and its number of items; `None` if it is invalid.
    fn read(envelope: &[u8]) -> Option<(Vec<Vec<u8>>, usize)> {
        let items: Vec<_> = Envelope::open(envelope).ok()?.collect::<Result<_, _>>().ok()?;
        let events = items.iter().filter(|item| item.kind == EVENT);
        Some((events.map(|event| event.payload.to_vec()).collect(), items.len()))
    }

    #[test]
    fn payloads_of_unsupported_items_are_dropped() {
        let attachment = "x".repeat(10_000);
        let envelope = format!(
            "{{\"event_id\":\"7\"}}\n{{\"type\":\"attachment\",\"length\":10000}}\n{attachment}\n\
             {{\"type\":\"session\"}}\n{{}}\n{{\"type\":\"event\",\"length\":2}}\n{{}}\n"
        );
        for piece_bytes in [1, 7, 100_000] {
            let kept = skimmed(envelope.as_bytes(), piece_bytes).unwrap();
            assert!(kept.len() < 100, "{}", String::from_utf8_lossy(&kept));
            assert_eq!(read(&kept), Some((vec![b"{}".to_vec()], 3)));
        }
    }

    fn item() -> impl Strategy<Value = String> {
        let kind = prop::sample::select(vec!["event", "attachment", "session", ""]);
        let payload = "[a-z{}]{0,9}";
        (kind, payload, prop::option::of(-1_i64..2)).prop_map(|(kind, payload, off)| match off {
            // Mostly correct, sometimes too short or too long.
            Some(off) => {
                let length = payload.len() as i64 + if off == 1 { 1 } else { 0.max(off) };
                format!("{{\"type\":\"{kind}\",\"length\":{length}}}\n{payload}\n")
            }
            None => format!("{{\"type\":\"{kind}\"}}\n{payload}\n"),
        })
    }

    proptest! {
        #[test]
        fn filtering_keeps_the_events_of_the_envelope(
            items in prop::collection::vec(item(), 0..6),
            cut in 0_usize..200,
            piece_bytes in 1_usize..20,
        ) {
            let whole = ["{}\n".to_owned(), items.concat()].concat();
            let envelope = whole.as_bytes().get(..cut).unwrap_or(whole.as_bytes());
            let expected = read(envelope);
            let kept = skimmed(envelope, piece_bytes);
            prop_assert_eq!(kept.as_deref().and_then(read), expected);
            prop_assert!(kept.is_none_or(|kept| kept.len() <= envelope.len() + 1));
        }

        #[test]
        fn filtering_any_bytes_does_not_change_the_result(bytes in prop::collection::vec(any::<u8>(), 0..200), piece_bytes in 1_usize..50) {
            let whole = [b"{}\n{\"type\":\"event\"}\n".as_slice(), &bytes].concat();
            for bytes in [bytes.as_slice(), &whole] {
                prop_assert_eq!(skimmed(bytes, piece_bytes).as_deref().and_then(read), read(bytes));
            }
        }
    }
}
