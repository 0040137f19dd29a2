//! The series that match the filters of a query, in groups.

use hashbrown::HashMap;
use roaring::RoaringBitmap;

use super::index::{Index, MetricEntry};
use super::postings::Posting;
use crate::model::{SeriesId, StringId, TagCondition, TagFilter};

/// The series that match a query, in groups.
#[derive(Debug)]
pub(crate) struct Selection {
    /// The series, ascending.
    pub(crate) series: RoaringBitmap,
    /// The group of each series, in the same order; empty when there is one group.
    pub(crate) group_of: Vec<u32>,
    /// The keys of the groups.
    pub(crate) groups: Vec<Vec<String>>,
}

/// Units of work of the value of a series by which series are grouped: it is found, hashed and
/// copied.
const GROUPING_WORK: u64 = 16;

impl Index {
    /// Selects the series of `metric` that match all `filters`, grouped by the values of `keys`.
    pub(super) fn select(
        &self,
        metric: &MetricEntry,
        filters: &[TagFilter],
        keys: &[String],
    ) -> Selection {
        let first = filters.iter().position(lists_values);
        let mut series = match first.and_then(|first| filters.get(first)) {
            // A few series of many: the others are not looked at.
            Some(filter) => self.listed(metric, filter),
            None => RoaringBitmap::clone(&metric.series),
        };
        for (_, filter) in filters.iter().enumerate().filter(|(at, _)| Some(*at) != first) {
            self.apply(metric, filter, &mut series);
        }
        if keys.is_empty() {
            return Selection { series, group_of: Vec::new(), groups: vec![Vec::new()] };
        }
        self.grouped(series, keys)
    }

    /// Returns the units of work of [`Self::select`], see [`crate::brief`]: about how many series
    /// and values it looks at, and what it takes to group series.
    pub(super) fn select_work(
        &self,
        metric: &MetricEntry,
        filters: &[TagFilter],
        keys: &[String],
    ) -> u64 {
        let all = metric.series.len();
        if !filters.is_empty() && !metric.postings.is_complete() {
            // They would be built first.
            return u64::MAX;
        }
        let listed = filters.iter().find(|filter| lists_values(filter));
        let first =
            listed.map_or(all, |filter| self.postings_of(metric, filter).map(Posting::len).sum());
        // The postings of the others may contain every series of the metric.
        let others = filters.len().saturating_sub(usize::from(listed.is_some())) as u64;
        first * (1 + GROUPING_WORK * keys.len() as u64) + others * all
    }

    fn grouped(&self, series: RoaringBitmap, keys: &[String]) -> Selection {
        let keys: Vec<Option<StringId>> = keys.iter().map(|key| self.strings.get(key)).collect();
        let mut groups: HashMap<Vec<Option<StringId>>, u32> = HashMap::new();
        let mut names = Vec::new();
        let mut group_of = Vec::with_capacity(series.len() as usize);
        for id in &series {
            let tags = self.series.get(SeriesId(id)).map_or(&[][..], |(_, tags)| tags);
            // An empty tag value and a missing tag are the same group.
            let value = |key: &Option<StringId>| {
                key.and_then(|key| tags.iter().find_map(|(k, v)| (*k == key).then_some(*v)))
                    .filter(|v| !self.strings.string(*v).is_empty())
            };
            let values: Vec<Option<StringId>> = keys.iter().map(value).collect();
            let group = *groups.entry(values).or_insert_with_key(|values| {
                let string =
                    |v: &Option<StringId>| v.map_or("", |v| self.strings.string(v)).to_owned();
                names.push(values.iter().map(string).collect());
                names.len() as u32 - 1
            });
            group_of.push(group);
        }
        Selection { series, group_of, groups: names }
    }

    /// Returns the series with a value that `filter` lists.
    fn listed(&self, metric: &MetricEntry, filter: &TagFilter) -> RoaringBitmap {
        let mut matching = RoaringBitmap::new();
        self.postings_of(metric, filter).for_each(|posting| posting.add_to(&mut matching));
        matching
    }

    /// Returns the postings of the values that `filter` lists.
    fn postings_of<'a>(
        &'a self,
        metric: &'a MetricEntry,
        filter: &'a TagFilter,
    ) -> impl Iterator<Item = &'a Posting> {
        let values = self.strings.get(&filter.key).and_then(|key| metric.postings.values(key));
        let listed = match &filter.condition {
            TagCondition::AnyOf(listed) | TagCondition::NoneOf(listed) => listed.iter(),
            TagCondition::Prefix(_) => [].iter(),
        };
        listed.filter_map(move |value| values?.get(&self.strings.get(value)?))
    }

    fn apply(&self, metric: &MetricEntry, filter: &TagFilter, series: &mut RoaringBitmap) {
        let values = self.strings.get(&filter.key).and_then(|key| metric.postings.values(key));
        let mut matching = self.listed(metric, filter);
        match &filter.condition {
            TagCondition::AnyOf(listed) | TagCondition::NoneOf(listed) => {
                if listed.contains("") {
                    matching |= without_tag(values, series);
                }
            }
            TagCondition::Prefix(prefix) => {
                let all = values.into_iter().flatten();
                all.filter(|(value, _)| self.strings.string(**value).starts_with(prefix.as_str()))
                    .for_each(|(_, posting)| posting.add_to(&mut matching));
            }
        }
        match filter.condition {
            TagCondition::NoneOf(_) => *series -= matching,
            _ => *series &= matching,
        }
    }
}

/// Returns whether only series with a value that the filter lists match it.
fn lists_values(filter: &TagFilter) -> bool {
    // An empty value stands for series without the tag.
    matches!(&filter.condition, TagCondition::AnyOf(listed) if !listed.contains(""))
}

/// Returns those of the series that lack the tag with these values.
fn without_tag(
    values: Option<&HashMap<StringId, Posting>>,
    series: &RoaringBitmap,
) -> RoaringBitmap {
    let mut with_tag = RoaringBitmap::new();
    values.into_iter().flatten().for_each(|(_, posting)| posting.add_to(&mut with_tag));
    series - with_tag
}
