//! A time page: distinct time vectors of one window, always decoded as a whole.
//!
//! ```text
//! key, 18 bytes:  window start: i64 BE │ window length in hours: u8
//!                 0 blocks of the head, 1 of compactions: u8 │ number: u64 BE
//! frame(Times) { vectors: varint │ their lengths: integers │ vectors, see `block/vectors.rs` }
//! frame(Times) { vectors: varint │ their lengths: integers │ the vectors, see `block/vectors.rs` }
//! ```

use super::vectors::{Times, TimesCache, Vectors, encode as encode_vectors};
use crate::cast::{length, to_u32};
use crate::codec::bytes::{Reader, put_varint};
use crate::codec::frame::{self, FrameKind};
use crate::codec::integers::{self, Effort, IntegerColumn};
use crate::codec::{CodecError, CodecResult};
use crate::limits::BLOCK_ROWS_MAX;
use crate::model::{Interval, TimeRange};
use crate::storage::{KeyOf, PrefixOf, ValueOf, keyspaces};

const VERSION: u8 = 1;
/// The number of times at which a page is closed: enough for pco to compress well, and half a
/// megabyte decoded.
pub(super) const PAGE_TIMES: usize = 1 << 16;
/// The most times of a page: just under [`PAGE_TIMES`], and the vector that closed it.
const PAGE_TIMES_MAX: usize = PAGE_TIMES + BLOCK_ROWS_MAX;

/// The number of a page, never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct PageNumber(pub(crate) u64);

/// The location of a time vector: the page, and the index of the vector in the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TimeVectorRef {
    pub(crate) page: PageNumber,
    pub(crate) place: u32,
}

/// The pages that a set of blocks refers to: the blocks of a window that came from the head, or
/// those that compactions wrote. When none of these blocks is left, all pages of the group are
/// deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct TimePageGroup {
    pub(crate) window: TimeRange,
    pub(crate) of_compacted_set: bool,
}

impl TimePageGroup {
    /// Returns the first bytes of the keys of the pages.
    fn prefix(&self) -> [u8; 10] {
        let mut prefix = [0; 10];
        let (start, rest) = prefix.split_at_mut(8);
        start.copy_from_slice(&self.window.start.0.to_be_bytes());
        // No window is that long: a group of a corrupt one has no pages.
        let hours = u8::try_from(self.window.len_ms() / Interval::HOUR.ms()).unwrap_or(u8::MAX);
        rest.copy_from_slice(&[hours, u8::from(self.of_compacted_set)]);
        prefix
    }
}

impl PrefixOf<keyspaces::Times> for TimePageGroup {
    fn encoded(&self) -> impl AsRef<[u8]> {
        self.prefix()
    }
}

/// The key of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TimePageKey {
    pub(super) page_group: TimePageGroup,
    pub(super) number: PageNumber,
}

impl TimePageKey {
    pub(super) fn encode(&self) -> [u8; 18] {
        let mut key = [0; 18];
        let (group, number) = key.split_at_mut(10);
        group.copy_from_slice(&self.page_group.prefix());
        number.copy_from_slice(&self.number.0.to_be_bytes());
        key
    }
}

impl KeyOf<keyspaces::Times> for TimePageKey {
    fn encoded(&self) -> impl AsRef<[u8]> {
        self.encode()
    }
}

/// An encoded page.
impl ValueOf<keyspaces::Times> for Vec<u8> {
    fn into_bytes(self) -> Vec<u8> {
        self
    }
}

/// Parses the page group and the number from a key.
pub(super) fn parse_key(key: &[u8]) -> Option<(TimePageGroup, PageNumber)> {
    let (start, rest) = key.split_first_chunk()?;
    let ([hours, of_compacted_set], number) = rest.split_first_chunk()?;
    let start = i64::from_be_bytes(*start);
    let end = start.checked_add(i64::from(*hours) * Interval::HOUR.ms())?;
    let number = PageNumber(u64::from_be_bytes(number.try_into().ok()?));
    Some((
        TimePageGroup {
            window: TimeRange::new(start, end),
            of_compacted_set: *of_compacted_set == 1,
        },
        number,
    ))
}

/// A decoded page.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct TimePage {
    /// The end of each vector in `times`.
    ends: Vec<u32>,
    times: Vec<i64>,
}

impl TimePage {
    /// Adds a vector and returns its index.
    pub(super) fn push(&mut self, times: &[i64]) -> u32 {
        self.times.extend_from_slice(times);
        self.ends.push(to_u32(self.times.len()));
        to_u32(self.ends.len()) - 1
    }

    pub(super) fn is_full(&self) -> bool {
        self.times.len() >= PAGE_TIMES
    }

    /// Returns the page without memory for further vectors.
    pub(super) fn shrunk(mut self) -> Self {
        self.ends.shrink_to_fit();
        self.times.shrink_to_fit();
        self
    }

    /// Returns the vector at an index.
    pub(crate) fn vector(&self, place: u32) -> Option<&[i64]> {
        let end = *self.ends.get(place as usize)?;
        let start = match place.checked_sub(1) {
            Some(before) => *self.ends.get(before as usize)?,
            None => 0,
        };
        self.times.get(start as usize..end as usize)
    }

    /// Returns the number of times of all vectors.
    pub(super) fn len(&self) -> usize {
        self.times.len()
    }

    /// Returns the vectors with their indices.
    pub(super) fn vectors(&self) -> impl Iterator<Item = (u32, &[i64])> {
        (0..to_u32(self.ends.len())).filter_map(|place| Some((place, self.vector(place)?)))
    }

    /// Returns the size in memory, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.ends.capacity() * size_of::<u32>() + self.times.capacity() * size_of::<i64>()
    }

    pub(super) fn encode(&self, effort: Effort) -> CodecResult<Vec<u8>> {
        let mut out = Vec::new();
        let mark = frame::begin(&mut out, FrameKind::Times, VERSION);
        put_varint(&mut out, self.ends.len() as u64);
        let lengths: Vec<i64> = self.vectors().map(|(_, times)| length(times.len())).collect();
        integers::encode(&lengths, effort, &mut out)?;
        encode_vectors(self.vectors().map(|(_, times)| times), effort, &mut out)?;
        frame::close(&mut out, mark);
        Ok(out)
    }

    pub(super) fn decode(bytes: &[u8]) -> CodecResult<Self> {
        let (_, payload) = frame::open(bytes, FrameKind::Times, VERSION)?;
        let mut reader = Reader::new(payload);
        let count = reader.count("time vectors", PAGE_TIMES_MAX)?;
        let mut lengths = Vec::new();
        IntegerColumn::read_exactly(&mut reader, count)?.all(&mut lengths)?;
        let mut left = PAGE_TIMES_MAX;
        let mut fits = |len: i64| {
            let len = usize::try_from(len).ok().filter(|len| (1..=left).contains(len));
            left -= len.unwrap_or(0);
            len.ok_or_else(|| CodecError::new("the time vectors exceed the limit of a page"))
        };
        let lengths = lengths.into_iter().map(&mut fits).collect::<CodecResult<Vec<_>>>()?;
        let vectors = Vectors::read(&mut reader, &lengths, PAGE_TIMES_MAX)?;
        reader.finish()?;
        let mut page = Self { ends: Vec::with_capacity(count), times: Vec::new() };
        page.times.reserve_exact(lengths.iter().sum());
        let mut cache = TimesCache::default();
        for number in 0..count {
            match vectors.times(number, &mut cache)? {
                Times::List(times) => page.times.extend_from_slice(times),
                regular @ Times::Regular { len, .. } => {
                    page.times.extend((0..len).map(|row| regular.at(row)));
                }
            }
            page.ends.push(to_u32(page.times.len()));
        }
        Ok(page)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn keys_round_trip_and_are_ordered_by_window() {
        let day = TimeRange::new(86_400_000, 2 * 86_400_000);
        let hours = TimeRange::new(86_400_000, 86_400_000 + 7_200_000);
        let [day, hours] = [(day, true), (hours, false)]
            .map(|(window, of_compacted_set)| TimePageGroup { window, of_compacted_set });
        for page_group in [day, hours] {
            let key = TimePageKey { page_group, number: PageNumber(7) }.encode();
            assert_eq!(parse_key(&key), Some((page_group, PageNumber(7))));
            assert!(key.starts_with(&page_group.prefix()));
        }
        let key =
            |page_group, number| TimePageKey { page_group, number: PageNumber(number) }.encode();
        assert!(key(hours, 9) < key(day, 1));
        assert_eq!(parse_key(b"short"), None);
    }

    #[test]
    fn the_largest_page_round_trips() {
        let mut page = TimePage::default();
        page.push(&(0..PAGE_TIMES as i64 - 1).collect::<Vec<_>>());
        assert!(!page.is_full());
        page.push(&(0..BLOCK_ROWS_MAX as i64).map(|i| i * i).collect::<Vec<_>>());
        assert!(page.is_full());
        for effort in [Effort::Seal, Effort::Merge, Effort::Plain] {
            assert!(TimePage::decode(&page.encode(effort).unwrap()).unwrap() == page);
        }
        let mut ones = TimePage::default();
        for time in 0..PAGE_TIMES as i64 {
            ones.push(&[time * time % 1_009]);
        }
        assert!(ones.is_full());
        assert!(TimePage::decode(&ones.encode(Effort::Seal).unwrap()) == Ok(ones));
    }

    #[test]
    fn a_page_with_more_times_than_the_limit_is_refused() {
        for (len, fits) in [(PAGE_TIMES_MAX, true), (PAGE_TIMES_MAX + 1, false)] {
            let times: Vec<i64> = (0..len as i64).collect();
            let (mut one, mut many) = (TimePage::default(), TimePage::default());
            one.push(&times);
            for time in &times {
                many.push(&[*time]);
            }
            for page in [one, many] {
                let read = TimePage::decode(&page.encode(Effort::Plain).unwrap());
                assert!(read.is_ok() == fits, "{len} times of {} vectors", page.ends.len());
                assert!(read.is_err() || read == Ok(page));
            }
        }
    }

    proptest! {
        #[test]
        fn any_vectors_round_trip(
            vectors in proptest::collection::vec(
                proptest::collection::btree_set(0i64..100_000, 1..60), 1..20,
            )
        ) {
            let mut page = TimePage::default();
            let vectors: Vec<Vec<i64>> =
                vectors.into_iter().map(|v| v.into_iter().collect()).collect();
            let places: Vec<u32> = vectors.iter().map(|vector| page.push(vector)).collect();
            let read = TimePage::decode(&page.encode(Effort::Seal).unwrap()).unwrap();
            for (place, vector) in places.iter().zip(&vectors) {
                prop_assert_eq!(read.vector(*place), Some(vector.as_slice()));
            }
            prop_assert_eq!(read.vector(places.len() as u32), None);
        }

        #[test]
        fn arbitrary_bytes_are_an_error_or_a_page_of_sorted_times(bytes in proptest::collection::vec(any::<u8>(), 0..90)) {
            let mut framed = Vec::new();
            let mark = frame::begin(&mut framed, FrameKind::Times, VERSION);
            framed.extend_from_slice(&bytes);
            frame::close(&mut framed, mark);
            if let Ok(page) = TimePage::decode(&framed) {
                prop_assert!(page.vectors().all(|(_, times)| times.is_sorted()));
            }
        }
    }
}
