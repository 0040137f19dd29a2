//! Events: the cost of many events, names, users, tags, properties, blocks and days in the engine.

use std::path::Path;

use telltale_benches::data::{DAY, START};
use telltale_benches::events::write;
use telltale_engine::{
    Engine, EventAggregation, EventBatch, EventField, EventFilter, EventGroupBy, EventListQuery,
    EventQuery, NameFilter, NewEvent, Properties, TagCondition, TagFilter, TimeRange, TimestampMs,
};

use crate::case::{Case, Limit, Operation};
use crate::open_engine::{DAYS_MAX, OpenEngine};

/// Events of one batch.
const BATCH: usize = 10_000;
/// Events of the batch for the second seal.
const FEW: usize = 1_000;
/// Days of the events in many blocks: each seal writes one block per day.
const DAYS_OF_BLOCKS: usize = 1_000;
/// One event in this many is deleted.
const DELETED: usize = 10;
/// The name of the events that are deleted.
const DELETED_NAME: &str = "deleted";

/// What grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Growing {
    /// Events of one day.
    Events,
    /// Names.
    Names,
    /// Users.
    Users,
    /// Tag keys.
    TagKeys,
    /// Values of one tag.
    TagValues,
    /// Keys of properties.
    PropertyKeys,
    /// Blocks: events of a thousand days in each seal.
    Blocks,
    /// Days.
    Days,
}

/// What distinguishes the events of a case.
#[derive(Debug, Default)]
struct Text {
    name: Option<String>,
    user: Option<String>,
    tag_key: Option<String>,
    tag_value: Option<String>,
    property_key: Option<String>,
}

impl Growing {
    pub(crate) const ALL: [Self; 8] = [
        Self::Events,
        Self::Names,
        Self::Users,
        Self::TagKeys,
        Self::TagValues,
        Self::PropertyKeys,
        Self::Blocks,
        Self::Days,
    ];

    fn text(self, n: usize) -> Text {
        let text = |prefix: &str| Some(format!("{prefix}-{n}"));
        match self {
            Self::Names => Text { name: text("name"), ..Text::default() },
            Self::Users => Text { user: text("user"), ..Text::default() },
            Self::TagKeys => Text { tag_key: text("key"), ..Text::default() },
            Self::TagValues => Text { tag_value: text("value"), ..Text::default() },
            Self::PropertyKeys => Text { property_key: text("property"), ..Text::default() },
            Self::Events | Self::Blocks | Self::Days => Text::default(),
        }
    }

    fn time(self, n: usize) -> i64 {
        match self {
            Self::Blocks => START - (n % DAYS_OF_BLOCKS) as i64 * DAY,
            Self::Days => START - n as i64 * DAY,
            _ => START + n as i64 % DAY,
        }
    }

    fn push(self, batch: &mut EventBatch, n: usize) {
        let text = self.text(n);
        let name = if n.is_multiple_of(DELETED) { DELETED_NAME } else { "page.viewed" };
        let tag = (text.tag_key.as_deref(), text.tag_value.as_deref());
        let property_key = text.property_key.as_deref().unwrap_or("plan");
        let properties = Properties::parse(&format!(r#"{{"{property_key}":{}}}"#, n % 7));
        let event = NewEvent {
            name: text.name.as_deref().unwrap_or(name),
            time: TimestampMs(self.time(n)),
            user: Some(text.user.as_deref().unwrap_or("ada")),
            value: Some((n % 1_000) as f64),
            tags: &[(tag.0.unwrap_or("page"), tag.1.unwrap_or("start"))],
            properties: properties.as_ref().ok(),
        };
        batch.push(&event).unwrap();
    }

    fn write(self, engine: &Engine, numbers: std::ops::Range<usize>) {
        let mut batch = engine.event_batch();
        numbers.for_each(|n| self.push(&mut batch, n));
        write(engine, batch);
    }

    fn ingest(self, engine: &Engine, size: usize) {
        let batch = if self == Self::Blocks { DAYS_OF_BLOCKS } else { BATCH };
        for first in (0..size).step_by(batch) {
            self.write(engine, first..size.min(first + batch));
            if self == Self::Blocks {
                engine.seal().unwrap();
            }
        }
    }

    /// Returns the query: it has as many groups as there is of what grows.
    fn query(self, engine: &Engine) {
        let group_by = match self {
            Self::Names => EventGroupBy::Name,
            Self::Users => EventGroupBy::User,
            Self::TagKeys => EventGroupBy::Tag("key-1".to_owned()),
            _ => EventGroupBy::Tag("page".to_owned()),
        };
        let property = if self == Self::PropertyKeys { "property-1" } else { "plan" };
        let query = EventQuery {
            filter: all(),
            interval: None,
            group_by: vec![group_by.clone()],
            field: EventField::Property(vec![property.to_owned()]),
            distinct: Some(group_by),
            aggregations: vec![
                EventAggregation::Count,
                EventAggregation::UniqueUsers,
                EventAggregation::Distinct,
                EventAggregation::Avg,
            ],
        };
        assert!(!engine.query_events(&query).unwrap().groups.is_empty(), "{query:?}");
    }

    /// Lists the newest and the oldest events.
    fn list(engine: &Engine, size: usize) {
        for offset in [0, size.saturating_sub(100) as u64] {
            let query = EventListQuery { filter: all(), after: None, offset, limit: 100 };
            assert!(!engine.list_events(&query).unwrap().events.is_empty(), "{query:?}");
        }
    }

    /// Deletes a tenth of the events: name by name if names or tag values distinguish them, else by
    /// their common name.
    fn delete(self, engine: &Engine, size: usize) {
        let each = |prefix: &str| {
            (0..size).step_by(DELETED).map(|n| format!("{prefix}-{n}")).collect::<Vec<_>>()
        };
        let filter = match self {
            Self::TagValues => {
                let condition = TagCondition::AnyOf(each("value").into());
                EventFilter { tags: vec![TagFilter { key: "page".to_owned(), condition }], ..all() }
            }
            // Those whose numbers begin with this digit: of powers of ten a ninth or more.
            Self::Names => EventFilter { name: NameFilter::Prefix("name-1".to_owned()), ..all() },
            _ => EventFilter { name: NameFilter::Exactly(DELETED_NAME.to_owned()), ..all() },
        };
        assert!(engine.delete_events(&filter).unwrap().events > 0, "{self:?}");
    }
}

impl Case for Growing {
    type Open = OpenEngine;

    fn dimension(&self) -> &'static str {
        match self {
            Self::Events => "events",
            Self::Names => "event-names",
            Self::Users => "event-users",
            Self::TagKeys => "event-tag-keys",
            Self::TagValues => "event-values",
            Self::PropertyKeys => "event-properties",
            Self::Blocks => "event-blocks",
            Self::Days => "event-days",
        }
    }

    fn limit(&self) -> Option<Limit> {
        let limit = Limit { size: DAYS_MAX, reason: "data is not older than decades" };
        (*self == Self::Days).then_some(limit)
    }

    fn open(&self, dir: &Path) -> OpenEngine {
        OpenEngine::new(dir)
    }

    fn operations(&self) -> Vec<Operation<Self>> {
        vec![
            Operation::<Self>::new("ingest", |case, open, size| case.ingest(open.engine(), size)),
            Operation::<Self>::new("seal", |_, open, _| open.seal()),
            Operation::<Self>::new("seal of a few", |case, open, size| {
                case.write(open.engine(), 0..size.min(FEW));
                open.seal();
            }),
            Operation::<Self>::new("merge", |_, open, _| open.merge()),
            Operation::<Self>::new("query", |case, open, _| case.query(open.engine())),
            Operation::<Self>::new("list", |_, open, size| Self::list(open.engine(), size)),
            Operation::<Self>::new("close", |_, open, _| open.close()),
            Operation::<Self>::new("start", |_, open, _| open.start()),
            Operation::<Self>::new("verify", |_, open, _| open.verify()),
            Operation::<Self>::new("delete", |case, open, size| case.delete(open.engine(), size)),
        ]
    }
}

/// Returns a filter of all events.
fn all() -> EventFilter {
    let range = TimeRange::new(0, i64::MAX);
    EventFilter { range, name: NameFilter::Any, user: None, tags: Vec::new() }
}
