//! What is known of the events of one group and bucket. Cells add up in any order to the same.

use roaring::RoaringBitmap;

use crate::model::EventAggregation;
use crate::sketch::{Cardinality, Distribution, ExactSum, rank_of};

/// What a part of a bitmap takes beside its numbers, about.
const CONTAINER_BYTES: usize = 64;

/// What cells keep besides the number of events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Wanted {
    pub(super) users: bool,
    pub(super) texts: bool,
    pub(super) numbers: Keep,
}

/// What is kept of numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Keep {
    #[default]
    Nothing,
    /// Count, sum and extremes.
    Moments,
    /// The numbers themselves, for percentiles.
    Values,
    /// Their distributions, for percentiles of more numbers than are kept.
    Sketches,
}

impl Wanted {
    /// What these aggregations need.
    pub(super) fn of(aggregations: &[EventAggregation]) -> Self {
        let mut wanted = Self::default();
        for aggregation in aggregations {
            match aggregation {
                EventAggregation::Count => {}
                EventAggregation::UniqueUsers => wanted.users = true,
                EventAggregation::Distinct => wanted.texts = true,
                _ if aggregation.quantile().is_some() => wanted.numbers = Keep::Values,
                _ => wanted.numbers = wanted.numbers.max(Keep::Moments),
            }
        }
        wanted
    }
}

/// The events of one group and bucket.
#[derive(Debug, Default)]
pub(super) struct Cell {
    pub(super) events: u64,
    users: Option<Box<Cardinality>>,
    /// Numbers of texts, which those who add up give out.
    texts: Option<Box<RoaringBitmap>>,
    numbers: Option<Box<Seen>>,
}

/// Numbers, as far as they are kept.
#[derive(Debug)]
enum Seen {
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
    /// Adds the user with this hash; 0 is none.
    #[inline]
    pub(super) fn add_user(&mut self, hash: u64) {
        if hash != 0 {
            self.users.get_or_insert_default().insert_hash(hash);
        }
    }

    /// Adds the text with this number.
    #[inline]
    pub(super) fn add_text(&mut self, number: u32) {
        self.texts.get_or_insert_default().insert(number);
    }

    /// Gives every text the number that `numbers` has in the place of its own.
    pub(super) fn renumber(&mut self, numbers: &[u32]) {
        if let Some(texts) = self.texts.as_deref_mut() {
            let renumbered = texts.iter().filter_map(|text| numbers.get(text as usize));
            *texts = renumbered.collect();
        }
    }

    /// Adds a number.
    #[inline]
    pub(super) fn add_number(&mut self, value: f64, keep: Keep) {
        // Minus zero is zero.
        self.seen(keep).add(value + 0.0);
    }

    /// Adds all that `other` has seen.
    pub(super) fn merge(&mut self, other: &Self) {
        self.events += other.events;
        if let Some(users) = &other.users {
            self.users.get_or_insert_default().merge(users);
        }
        if let Some(texts) = &other.texts {
            **self.texts.get_or_insert_default() |= &**texts;
        }
        match other.numbers.as_deref() {
            None => {}
            Some(Seen::Moments(theirs)) => match self.seen(Keep::Moments) {
                Seen::Moments(ours) => ours.merge(theirs),
                Seen::Values(_) | Seen::Sketch(_) => unreachable!("all cells keep the same"),
            },
            Some(Seen::Values(values)) => {
                let seen = self.seen(Keep::Values);
                values.iter().for_each(|value| seen.add(*value));
            }
            Some(Seen::Sketch(theirs)) => {
                if let Seen::Sketch(ours) = self.seen(Keep::Sketches).sketch() {
                    ours.merge(theirs);
                }
            }
        }
    }

    /// Keeps distributions instead of numbers from now on.
    pub(super) fn sketch(&mut self) {
        if let Some(seen) = self.numbers.as_deref_mut() {
            seen.sketch();
        }
    }

    /// Bytes in memory besides the cell itself, about.
    pub(super) fn bytes(&self) -> usize {
        let users = self.users.as_ref().map_or(0, |users| users.bytes());
        let numbers = self.numbers.as_deref().map_or(0, |seen| {
            let body = match seen {
                Seen::Moments(_) => 0,
                Seen::Values(values) => values.capacity() * size_of::<f64>(),
                Seen::Sketch(sketch) => sketch.bytes(),
            };
            size_of::<Seen>() + body
        });
        let texts = self.texts.as_deref().map_or(0, |texts| {
            let containers = texts.statistics().n_containers as usize;
            size_of::<RoaringBitmap>() + texts.serialized_size() + containers * CONTAINER_BYTES
        });
        users + texts + numbers
    }

    /// One number for each aggregation. May put kept numbers into another order.
    pub(super) fn evaluate(
        &mut self,
        aggregations: &[EventAggregation],
    ) -> impl Iterator<Item = Option<f64>> {
        let Self { events, users, texts, numbers } = self;
        let mut seen = numbers.as_deref_mut();
        let moments = seen.as_deref().map(Seen::moments).unwrap_or_default();
        let any = moments.count > 0;
        let sum = if any { moments.sum.value() } else { 0.0 };
        aggregations.iter().map(move |aggregation| match aggregation {
            EventAggregation::Count => Some(*events as f64),
            EventAggregation::UniqueUsers => {
                Some(users.as_ref().map_or(0, |users| users.count()) as f64)
            }
            EventAggregation::Distinct => {
                Some(texts.as_ref().map_or(0, |texts| texts.len()) as f64)
            }
            EventAggregation::Numbers => Some(moments.count as f64),
            EventAggregation::Sum => any.then_some(sum),
            // Rounding, or a sum beyond the largest double, never takes it out of the range of the numbers.
            EventAggregation::Avg => {
                any.then(|| (sum / moments.count as f64).clamp(moments.min, moments.max))
            }
            EventAggregation::Min => any.then_some(moments.min),
            EventAggregation::Max => any.then_some(moments.max),
            EventAggregation::P50 | EventAggregation::P95 | EventAggregation::P99 => {
                seen.as_mut()?.quantile(aggregation.quantile()?)
            }
        })
    }

    fn seen(&mut self, keep: Keep) -> &mut Seen {
        self.numbers.get_or_insert_with(|| {
            Box::new(match keep {
                Keep::Nothing | Keep::Moments => Seen::Moments(Moments::default()),
                Keep::Values => Seen::Values(Vec::new()),
                Keep::Sketches => Seen::Sketch(Distribution::default()),
            })
        })
    }
}

impl Seen {
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
