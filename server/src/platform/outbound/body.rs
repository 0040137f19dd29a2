//! Reads the body of a response as far as it is needed.

use bytes::Bytes;
use memchr::memmem;

use super::request::BodyUse;

/// Reads a body part by part.
#[derive(Debug)]
pub(super) struct BodyReader<'a> {
    body_use: &'a BodyUse,
    /// Searches for a text.
    finder: Option<memmem::Finder<'a>>,
    /// What is kept; of a body that is searched, the end of what was read.
    kept: Vec<u8>,
    bytes_left: usize,
    is_found: bool,
    is_truncated: bool,
}

impl<'a> BodyReader<'a> {
    pub(super) fn new(body_use: &'a BodyUse) -> Self {
        let bytes_left = match body_use {
            BodyUse::Nothing => 0,
            BodyUse::Keep(bytes_max) | BodyUse::Search { bytes_max, .. } => *bytes_max,
        };
        let finder = match body_use {
            BodyUse::Search { text, .. } => Some(memmem::Finder::new(text)),
            BodyUse::Nothing | BodyUse::Keep(_) => None,
        };
        let (is_found, is_truncated) = (false, false);
        Self { body_use, finder, kept: Vec::new(), bytes_left, is_found, is_truncated }
    }

    /// Returns whether nothing more is needed.
    pub(super) fn is_done(&self) -> bool {
        self.is_found || self.is_truncated || *self.body_use == BodyUse::Nothing
    }

    /// Returns whether the body was longer than what may be read.
    pub(super) fn is_truncated(&self) -> bool {
        self.is_truncated
    }

    /// Takes the next part of the body.
    pub(super) fn read(&mut self, data: &[u8]) {
        let part = data.get(..self.bytes_left).unwrap_or(data);
        self.is_truncated = part.len() < data.len();
        self.bytes_left -= part.len();
        self.kept.extend_from_slice(part);
        if let Some(finder) = &self.finder {
            self.is_found = finder.find(&self.kept).is_some();
            // The text may begin in this part and end in the next.
            let begun = finder.needle().len().saturating_sub(1);
            let done = self.kept.len().saturating_sub(begun);
            self.kept.drain(..done);
        }
    }

    /// Returns whether the text was found, and what is kept.
    pub(super) fn finish(self) -> (bool, Bytes) {
        match self.body_use {
            BodyUse::Search { .. } => (self.is_found, Bytes::new()),
            BodyUse::Nothing | BodyUse::Keep(_) => (false, self.kept.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn search(text: &str, bytes_max: usize) -> BodyUse {
        BodyUse::Search { text: text.as_bytes().to_vec().into(), bytes_max }
    }

    #[test]
    fn so_many_bytes_are_kept() {
        for (bytes_max, kept, is_truncated) in
            [(5, "abcde", false), (4, "abcd", true), (0, "", true)]
        {
            let body_use = BodyUse::Keep(bytes_max);
            let mut reader = BodyReader::new(&body_use);
            for part in ["ab", "cde"] {
                if !reader.is_done() {
                    reader.read(part.as_bytes());
                }
            }
            assert_eq!(reader.is_truncated(), is_truncated, "{bytes_max}");
            assert_eq!(reader.finish().1, kept, "{bytes_max}");
        }
        assert!(BodyReader::new(&BodyUse::Nothing).is_done());
    }

    #[test]
    fn a_text_behind_the_limit_is_not_found() {
        for (bytes_max, expected) in [(9, true), (8, false)] {
            let body_use = search("come", bytes_max);
            let mut reader = BodyReader::new(&body_use);
            reader.read(b"__welcome__");
            assert_eq!(reader.finish().0, expected, "{bytes_max}");
        }
    }

    proptest! {
        #[test]
        fn a_text_is_found_however_the_body_is_cut(
            body in "[ab]{0,60}",
            text in "[ab]{1,6}",
            cuts in prop::collection::vec(1_usize..9, 0..60),
        ) {
            let body_use = search(&text, 1_000);
            let mut reader = BodyReader::new(&body_use);
            let mut rest = body.as_bytes();
            for cut in cuts {
                let (part, next) = rest.split_at(cut.min(rest.len()));
                if !reader.is_done() {
                    reader.read(part);
                }
                rest = next;
            }
            if !reader.is_done() {
                reader.read(rest);
            }
            prop_assert_eq!(reader.finish().0, body.contains(&text));
        }
    }
}
