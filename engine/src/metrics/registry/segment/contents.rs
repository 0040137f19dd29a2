//! The contents of a segment: distinct lists of tags, and series that refer to them.

use crate::codec::{CodecError, CodecResult};
use crate::log::SeriesDefined;
use crate::model::{MetricId, SeriesId};

/// The key and the value of a tag, as numbers of strings of the segment.
pub(in crate::metrics::registry) type NumberedTag = (u32, u32);

/// A decoded segment. All numbers in it are checked, and all tags are those of a [`Tags`].
///
/// [`Tags`]: crate::model::Tags
#[derive(Debug)]
pub(in crate::metrics::registry) struct Segment<'r> {
    strings: Vec<&'r str>,
    lists: TagLists,
    series: Vec<SegmentSeries>,
}

/// A series of a segment.
#[derive(Clone, Copy, Debug)]
pub(in crate::metrics::registry) struct SegmentSeries {
    pub(in crate::metrics::registry) id: SeriesId,
    pub(in crate::metrics::registry) metric: MetricId,
    /// The number of its list of tags.
    pub(in crate::metrics::registry) list: usize,
}

/// Lists of tags, one after the other.
#[derive(Debug, Default)]
pub(super) struct TagLists {
    tags: Vec<NumberedTag>,
    /// The end of each list; it starts at the end of the one before it.
    ends: Vec<usize>,
}

impl TagLists {
    /// Returns the number of lists.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Appends a list.
    pub(super) fn push(
        &mut self,
        tags: impl Iterator<Item = CodecResult<NumberedTag>>,
    ) -> CodecResult<()> {
        for tag in tags {
            self.tags.push(tag?);
        }
        self.ends.push(self.tags.len());
        Ok(())
    }

    /// Returns a list, an empty one if there is none of this number.
    pub(super) fn get(&self, list: usize) -> &[NumberedTag] {
        let start = list.checked_sub(1).and_then(|before| self.ends.get(before));
        let end = self.ends.get(list).copied().unwrap_or(0);
        self.tags.get(start.copied().unwrap_or(0)..end).unwrap_or_default()
    }
}

impl<'r> Segment<'r> {
    /// Assembles a segment of checked parts: numbers in `lists` are those of `strings`, and each
    /// series has one of the lists.
    pub(super) fn of_checked(
        strings: Vec<&'r str>,
        lists: TagLists,
        series: Vec<SegmentSeries>,
    ) -> Self {
        Self { strings, lists, series }
    }

    /// Returns the strings of all tags. One may occur several times.
    pub(in crate::metrics::registry) fn strings(&self) -> &[&'r str] {
        &self.strings
    }

    /// Iterates over the lists of tags, in the order of their numbers. Their keys are sorted.
    pub(in crate::metrics::registry) fn lists(
        &self,
    ) -> impl ExactSizeIterator<Item = &[NumberedTag]> {
        (0..self.lists.len()).map(|list| self.lists.get(list))
    }

    /// Returns the series, in the order of the row.
    pub(in crate::metrics::registry) fn series(&self) -> &[SegmentSeries] {
        &self.series
    }

    /// Returns whether these are the series of the segment.
    pub(super) fn is_of(&self, series: &[SeriesDefined]) -> bool {
        let string = |number: u32| self.strings.get(number as usize).copied();
        let same_tags = |list, defined: &SeriesDefined| {
            let tags =
                self.lists.get(list).iter().map(|(key, value)| (string(*key), string(*value)));
            tags.eq(defined.tags.iter().map(|(key, value)| (Some(key), Some(value))))
        };
        let same = |(series, defined): (&SegmentSeries, &SeriesDefined)| {
            series.id == defined.id
                && series.metric == defined.metric
                && same_tags(series.list, defined)
        };
        self.series.len() == series.len() && self.series.iter().zip(series).all(same)
    }
}

#[cfg(any(test, fuzzing))]
impl Segment<'_> {
    /// Returns the definitions of the series.
    pub(super) fn definitions(&self) -> CodecResult<Vec<SeriesDefined>> {
        let string = |number: u32| {
            let found = self.strings.get(number as usize);
            found.copied().ok_or_else(|| CodecError::new("string number out of range"))
        };
        let define = |series: &SegmentSeries| {
            let tags = self.lists.get(series.list).iter();
            let tags = tags.map(|(key, value)| Ok((string(*key)?, string(*value)?)));
            let tags = crate::model::Tags::new(&tags.collect::<CodecResult<Vec<_>>>()?);
            let tags = tags.map_err(|e| CodecError::new(e.to_string()))?;
            Ok(SeriesDefined { id: series.id, metric: series.metric, tags })
        };
        self.series.iter().map(define).collect()
    }
}

/// Returns ids and metrics of series, given the differences of the ids, the first one that to
/// `before`.
pub(super) fn ids_and_metrics(
    before: i64,
    ids: &[i64],
    metrics: &[i64],
) -> CodecResult<Vec<(SeriesId, MetricId)>> {
    let small = |v: i64| u32::try_from(v).map_err(|_| CodecError::new("id exceeds 32 bits"));
    let mut id = before;
    let series = ids.iter().zip(metrics).map(|(difference, metric)| {
        id = id.wrapping_add(*difference);
        Ok((SeriesId(small(id)?), MetricId(small(*metric)?)))
    });
    series.collect()
}
