//! Event ids: an increasing number and a time of receipt that many events share. Layout: see
//! [`super`].

use super::memory::InMemory;
use crate::codec::bytes::{Reader, put_signed, put_varint};
use crate::codec::integers::{self, Effort, IntegerColumn};
use crate::codec::{CodecError, CodecResult};
use crate::model::{EventId, TimestampMs};

/// The ids of a block.
#[derive(Debug, Default)]
pub(super) struct Ids {
    numbers: Vec<u64>,
    /// Runs of the same time of receipt: the first number of a run, and the time. Ascending.
    receipts: Vec<(u64, i64)>,
}

/// Appends ids in row order. Fails if two events have the same number.
pub(super) fn encode(ids: &[EventId], effort: Effort, out: &mut Vec<u8>) -> CodecResult<()> {
    let numbers: Vec<u64> = ids.iter().map(|id| id.number()).collect();
    // A block has rows, and so a first number; a column without rows would begin with 0.
    put_varint(out, numbers.first().copied().unwrap_or(0));
    integers::encode(&differences(&numbers), effort, out)?;
    let mut sorted: Vec<(u64, i64)> = ids.iter().map(|id| (id.number(), id.received().0)).collect();
    sorted.sort_unstable();
    sorted.dedup_by_key(|(_, received)| *received);
    put_varint(out, sorted.first().map_or(0, |(number, _)| *number));
    let (starts, times): (Vec<u64>, Vec<u64>) =
        sorted.iter().map(|(number, received)| (*number, received.cast_unsigned())).unzip();
    integers::encode(&differences(&starts), effort, out)?;
    put_signed(out, times.first().map_or(0, |received| received.cast_signed()));
    integers::encode(&differences(&times), effort, out)?;
    let again = Ids { numbers, receipts: sorted };
    if !again.iter().eq(ids.iter().map(|id| Some(*id))) {
        return Err(CodecError::new("two events have the same number"));
    }
    Ok(())
}

fn differences(values: &[u64]) -> Vec<i64> {
    values.windows(2).map(|w| w[1].wrapping_sub(w[0]).cast_signed()).collect()
}

/// Decodes what [`encode`] wrote for `rows` ids.
pub(super) fn decode(bytes: &[u8], rows: usize) -> CodecResult<Ids> {
    let mut reader = Reader::new(bytes);
    let first = reader.varint()?;
    let numbers = sums(first, &mut reader, rows)?;
    if numbers.len() != rows {
        return Err(CodecError::new(format!("{} ids for {rows} rows", numbers.len())));
    }
    let first = reader.varint()?;
    let starts = sums(first, &mut reader, rows)?;
    let first = reader.signed()?;
    let times = sums(first.cast_unsigned(), &mut reader, rows)?;
    reader.finish()?;
    if starts.len() != times.len() {
        return Err(CodecError::new("the columns of receipts have different lengths"));
    }
    if !starts.is_sorted_by(|a, b| a < b) {
        return Err(CodecError::new("the numbers of receipts do not ascend"));
    }
    let receipts = starts.into_iter().zip(times.into_iter().map(u64::cast_signed)).collect();
    Ok(Ids { numbers, receipts })
}

fn sums(first: u64, reader: &mut Reader<'_>, rows: usize) -> CodecResult<Vec<u64>> {
    let mut differences = Vec::new();
    IntegerColumn::read(reader, rows)?.all(&mut differences)?;
    let mut sum = first;
    let rest = differences.into_iter().map(|difference| {
        sum = sum.wrapping_add(difference.cast_unsigned());
        sum
    });
    Ok(std::iter::once(first).chain(rest).collect())
}

impl Ids {
    /// Returns the id of a row.
    pub(super) fn get(&self, row: usize) -> Option<EventId> {
        let number = *self.numbers.get(row)?;
        let (_, received) = self.receipts.get(self.run_of(number)?)?;
        Some(EventId::new(TimestampMs(*received), number))
    }

    /// Returns the ids of all rows; `None` for a row without one.
    pub(super) fn iter(&self) -> impl Iterator<Item = Option<EventId>> {
        // The numbers from which and to which the last run goes, and its time.
        let mut last = (1, 0, 0);
        self.numbers.iter().map(move |number| {
            let (from, to, received) = last;
            if (from..to).contains(number) {
                return Some(EventId::new(TimestampMs(received), *number));
            }
            let run = self.run_of(*number)?;
            let (from, received) = *self.receipts.get(run)?;
            let to = self.receipts.get(run + 1).map_or(u64::MAX, |(next, _)| *next);
            last = (from, to, received);
            Some(EventId::new(TimestampMs(received), *number))
        })
    }

    fn run_of(&self, number: u64) -> Option<usize> {
        self.receipts.partition_point(|(from, _)| *from <= number).checked_sub(1)
    }
}

impl InMemory for Ids {
    fn bytes(&self) -> usize {
        self.numbers.capacity() * 8 + self.receipts.capacity() * 16
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_ids_round_trip(
            ids in proptest::collection::hash_map(any::<u64>(), 0i64..1 << 48, 1..200),
        ) {
            let ids: Vec<EventId> =
                ids.into_iter().map(|(n, ms)| EventId::new(TimestampMs(ms), n)).collect();
            let mut bytes = Vec::new();
            encode(&ids, Effort::Merge, &mut bytes).unwrap();
            let read = decode(&bytes, ids.len()).unwrap();
            let again: Vec<EventId> = (0..ids.len()).filter_map(|row| read.get(row)).collect();
            prop_assert_eq!(&again, &ids);
            prop_assert!(read.iter().eq(ids.into_iter().map(Some)));
        }
    }

    #[test]
    fn the_ids_of_one_batch_take_a_few_bytes() {
        let ids: Vec<EventId> =
            (0..60_000).map(|n| EventId::new(TimestampMs(1 << 40), 1 << 33 | n)).collect();
        let mut bytes = Vec::new();
        encode(&ids, Effort::Seal, &mut bytes).unwrap();
        assert!(bytes.len() < 40, "{} bytes", bytes.len());
    }
}
