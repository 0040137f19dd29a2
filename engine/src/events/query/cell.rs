//! A cell: the accumulated state of one group and bucket. Merging cells is commutative and
//! associative.

use super::number_set::NumberSet;
use crate::model::EventAggregation;
use crate::sketch::{Cardinality, Distribution, ExactSum, rank_of};

/// What cells accumulate besides the number of events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Wanted {
    pub(super) users: bool,
    pub(super) strings: bool,
    pub(super) numbers: Keep,
}

/// How numbers are accumulated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Keep {
    #[default]
    Nothing,
    /// Count, sum, minimum and maximum.
    Moments,
    /// All numbers, for exact percentiles.
    Values,
    /// Sketches of their distribution, for percentiles of more numbers than fit into memory.
    Sketches,
}

impl Wanted {
    /// Returns what these aggregations need.
    pub(super) fn of(aggregations: &[EventAggregation]) -> Self {
        let mut wanted = Self::default();
        for aggregation in aggregations {
            match aggregation {
                EventAggregation::Count => {}
                EventAggregation::UniqueUsers => wanted.users = true,
                EventAggregation::Distinct => wanted.strings = true,
                _ if aggregation.quantile().is_some() => wanted.numbers = Keep::Values,
                _ => wanted.numbers = wanted.numbers.max(Keep::Moments),
            }
        }
        wanted
    }
}

/// The accumulated events of one group and bucket.
#[derive(Debug, Default)]
pub(super) struct Cell {
    pub(super) events: u64,
    users: Option<Box<Cardinality>>,
    /// [Numbers](super::super::StringNumbers) of strings.
    strings: Option<Box<NumberSet>>,
    numbers: Option<Box<AccumulatedNumbers>>,
}

/// Accumulated numbers.
#[derive(Debug)]
enum AccumulatedNumbers {
    Moments(Moments),
    Values(Vec<f64>),
    Sketch(Distribution),
}

#[derive(Clone, Debug)]
struct Moments {
    count: u64,
    sum: ExactSum,
    min: f64,
    max: f64,
}

impl Cell {
    /// Adds the user with this hash; 0 means no user.
    #[inline]
    pub(super) fn add_user(&mut self, hash: u64) {
        if hash != 0 {
            self.users.get_or_insert_default().insert_hash(hash);
        }
    }

    /// Returns the numbers of strings.
    #[inline]
    pub(super) fn strings(&mut self) -> &mut NumberSet {
        self.strings.get_or_insert_default()
    }

    /// Adds a number.
    #[inline]
    pub(super) fn add_number(&mut self, value: f64, keep: Keep) {
        // Turns -0.0 into 0.0.
        self.numbers_mut(keep).add(value + 0.0);
    }

    /// Adds everything that `other` has accumulated.
    pub(super) fn merge(&mut self, other: &Self) {
        self.events += other.events;
        if let Some(users) = &other.users {
            self.users.get_or_insert_default().merge(users);
        }
        if let Some(strings) = &other.strings {
            self.strings().merge(strings);
        }
        match other.numbers.as_deref() {
            None => {}
            Some(AccumulatedNumbers::Moments(theirs)) => match self.numbers_mut(Keep::Moments) {
                AccumulatedNumbers::Moments(ours) => ours.merge(theirs),
                AccumulatedNumbers::Values(_) | AccumulatedNumbers::Sketch(_) => {
                    unreachable!("all cells accumulate the same")
                }
            },
            Some(AccumulatedNumbers::Values(values)) => {
                let numbers = self.numbers_mut(Keep::Values);
                values.iter().for_each(|value| numbers.add(*value));
            }
            Some(AccumulatedNumbers::Sketch(theirs)) => {
                match self.numbers_mut(Keep::Sketches).sketch() {
                    AccumulatedNumbers::Sketch(ours) => ours.merge(theirs),
                    AccumulatedNumbers::Moments(_) | AccumulatedNumbers::Values(_) => {
                        unreachable!("all cells accumulate the same")
                    }
                }
            }
        }
    }

    /// Replaces accumulated numbers by a sketch.
    pub(super) fn sketch(&mut self) {
        if let Some(numbers) = self.numbers.as_deref_mut() {
            numbers.sketch();
        }
    }

    /// Returns the approximate bytes in memory, without the cell itself.
    pub(super) fn bytes(&self) -> usize {
        let users = self.users.as_ref().map_or(0, |users| users.bytes());
        let numbers = self.numbers.as_deref().map_or(0, |numbers| {
            let body = match numbers {
                AccumulatedNumbers::Moments(_) => 0,
                AccumulatedNumbers::Values(values) => values.capacity() * size_of::<f64>(),
                AccumulatedNumbers::Sketch(sketch) => sketch.bytes(),
            };
            size_of::<AccumulatedNumbers>() + body
        });
        let strings = self.strings.as_deref().map_or(0, NumberSet::bytes);
        users + strings + numbers
    }

    /// Returns one number for each aggregation. May reorder the accumulated numbers.
    pub(super) fn evaluate(
        &mut self,
        aggregations: &[EventAggregation],
    ) -> impl Iterator<Item = Option<f64>> {
        let Self { events, users, strings, numbers } = self;
        let mut numbers = numbers.as_deref_mut();
        let moments = numbers.as_deref().map(AccumulatedNumbers::moments).unwrap_or_default();
        let any = moments.count > 0;
        let sum = if any { moments.sum.value() } else { 0.0 };
        aggregations.iter().map(move |aggregation| match aggregation {
            EventAggregation::Count => Some(*events as f64),
            EventAggregation::UniqueUsers => {
                Some(users.as_ref().map_or(0, |users| users.count()) as f64)
            }
            EventAggregation::Distinct => {
                Some(strings.as_ref().map_or(0, |strings| strings.len()) as f64)
            }
            EventAggregation::Numbers => Some(moments.count as f64),
            EventAggregation::Sum => any.then_some(sum),
            // Clamped, because rounding or a sum beyond the largest double may leave the range of
            // the numbers.
            EventAggregation::Avg => {
                any.then(|| (sum / moments.count as f64).clamp(moments.min, moments.max))
            }
            EventAggregation::Min => any.then_some(moments.min),
            EventAggregation::Max => any.then_some(moments.max),
            EventAggregation::P50 | EventAggregation::P95 | EventAggregation::P99 => {
                numbers.as_mut()?.quantile(aggregation.quantile()?)
            }
        })
    }

    fn numbers_mut(&mut self, keep: Keep) -> &mut AccumulatedNumbers {
        self.numbers.get_or_insert_with(|| {
            Box::new(match keep {
                Keep::Nothing | Keep::Moments => AccumulatedNumbers::Moments(Moments::default()),
                Keep::Values => AccumulatedNumbers::Values(Vec::new()),
                Keep::Sketches => AccumulatedNumbers::Sketch(Distribution::default()),
            })
        })
    }
}

impl AccumulatedNumbers {
    #[inline]
    fn add(&mut self, value: f64) {
        match self {
            Self::Moments(moments) => moments.add(value),
            Self::Values(values) => values.push(value),
            Self::Sketch(sketch) => sketch.add(value),
        }
    }

    fn sketch(&mut self) -> &mut Self {
        if let Self::Values(values) = self {
            let mut sketch = Distribution::default();
            values.iter().for_each(|value| sketch.add(*value));
            *self = Self::Sketch(sketch);
        }
        self
    }

    fn moments(&self) -> Moments {
        match self {
            Self::Moments(moments) => moments.clone(),
            Self::Values(values) => {
                let mut moments = Moments::default();
                values.iter().for_each(|value| moments.add(*value));
                moments
            }
            Self::Sketch(sketch) => Moments {
                count: sketch.count(),
                sum: sketch.sum().clone(),
                min: sketch.min().unwrap_or(f64::INFINITY),
                max: sketch.max().unwrap_or(f64::NEG_INFINITY),
            },
        }
    }

    fn quantile(&mut self, q: f64) -> Option<f64> {
        match self {
            Self::Moments(_) => None,
            Self::Values(values) if values.is_empty() => None,
            Self::Values(values) => {
                let rank = rank_of(q, values.len() as u64) as usize;
                Some(*values.select_nth_unstable_by(rank - 1, f64::total_cmp).1)
            }
            Self::Sketch(sketch) => sketch.quantile(q),
        }
    }
}

impl Default for Moments {
    fn default() -> Self {
        Self { count: 0, sum: ExactSum::default(), min: f64::INFINITY, max: f64::NEG_INFINITY }
    }
}

impl Moments {
    #[inline]
    fn add(&mut self, value: f64) {
        self.count += 1;
        self.sum.add(value);
        self.min = self.min.min(value);
        self.max = self.max.max(value);
    }

    fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.sum.merge(&other.sum);
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }
}
