//! The JSON types of fields, values and funnels.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use telltale_engine::{
    EventFilter, EventFunnelQuery, EventFunnelResult, ResultMemory, TimeRange, TimestampMs,
};

use super::fields::{Field, Fields};
use super::funnel::Funnel;
use super::values::Values;
use crate::areas::events::limits::{FUNNEL_WINDOW_DEFAULT_MS, FUNNEL_WINDOW_MS_MAX};
use crate::areas::events::query::name;
use crate::http::{ApiError, ApiResult};
use crate::limits::EVENT_RANGE_DEFAULT_MS;
use crate::platform::json::Plain;
use crate::platform::patterns;
use crate::platform::telemetry::{duration, query_params};
use crate::platform::time::{IsoTime, Moment};

/// The fields of events.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "EventFields")]
pub(super) struct FieldsView {
    /// Those of most events first.
    data: Vec<FieldView>,
    meta: FieldsMeta,
    #[serde(skip)]
    _memory: ResultMemory,
}

/// A field of events.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "EventFieldSummary")]
struct FieldView {
    /// `user_id`, `value`, `tags.<key>`, or the path of a property: `properties.cart.total`.
    field: String,
    /// The type of most of its values.
    #[schemars(extend("enum" = ["string", "number", "boolean", "array", "null"]))]
    r#type: &'static str,
    /// The number of values of each type.
    types: BTreeMap<&'static str, u64>,
    /// The number of events that have it, of those that were read.
    count: u64,
    /// Its value in the newest event that has it, up to 200 characters.
    example: String,
}

/// What a list of fields is based on.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "EventFieldsMeta")]
struct FieldsMeta {
    /// The number of events that were read: the newest, at most 1000.
    events_read: u64,
    /// The number of events that match.
    events_matched: u64,
    /// The number of values that are not listed: of fields beyond 500, or with a key that is empty
    /// or contains a dot.
    left_out: u64,
}

/// The most frequent values of a field.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "EventValues")]
pub(super) struct ValuesView {
    /// The most frequent first, equal ones by value.
    data: Vec<ValueView>,
    meta: ValuesMeta,
    #[serde(skip)]
    _memory: ResultMemory,
}

/// A value of a field.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "EventValue")]
struct ValueView {
    /// A string as it is, a number or boolean as JSON.
    value: String,
    /// The number of events that have it, of those that were read.
    count: u64,
}

/// What a list of values is based on.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "EventValuesMeta")]
struct ValuesMeta {
    /// The number of distinct values found that match `search`.
    total: usize,
    limit: usize,
    /// The number of events that were read: all that match, or the newest 10000 at most.
    events_read: u64,
    /// The number of events that match.
    events_matched: u64,
}

/// A funnel.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "EventFunnelInput")]
pub(super) struct FunnelInput {
    /// The steps, in their order: 1 to 10.
    #[schemars(required, length(min = 1, max = 10))]
    steps: Option<Vec<StepInput>>,
    /// The time from the first step within which the others must follow: `<n>m`, `<n>h`, `<n>d` or
    /// `<n>w`, at most 90 days. Defaults to 24h.
    #[schemars(regex(pattern = patterns::SPAN))]
    window: Option<String>,
    /// Start of the range, inclusive. Defaults to 24 hours before `to`.
    #[serde(default)]
    #[schemars(schema_with = "patterns::optional_time_or_date")]
    from: Option<String>,
    /// End of the range, exclusive. Defaults to now.
    #[serde(default)]
    #[schemars(schema_with = "patterns::optional_time_or_date")]
    to: Option<String>,
}

/// A step of a funnel.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "EventFunnelStepInput")]
struct StepInput {
    /// The name of the events, or a prefix of it followed by `*`.
    #[schemars(required)]
    name: Option<String>,
    /// Only events of this user.
    user_id: Option<String>,
    /// Filters by tag key: `v` (equal), `a,b` (one of), `!v` (not equal), `v*` (prefix).
    tags: Option<BTreeMap<String, String>>,
}

/// The users of a funnel.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "EventFunnel")]
pub(super) struct FunnelView {
    from: IsoTime,
    to: IsoTime,
    steps: Vec<StepView>,
    /// The part of the users of the first step that took all steps; null if there are none.
    conversion: Option<Plain>,
    /// The median time from the first to the last step, in milliseconds; null if no user took all
    /// of them.
    median_ms: Option<i64>,
    /// The number of events of all steps.
    events: u64,
}

/// The users of one step.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "EventFunnelStep")]
struct StepView {
    name: String,
    /// The number of users that took this step, after all those before it and within the window.
    users: u64,
    /// The part of the users of the first step; null if there are none.
    from_first: Option<Plain>,
    /// The part of the users of the step before; null for the first step, and if there are none.
    from_previous: Option<Plain>,
    /// The median time from the step before, in milliseconds; null for the first step, and without
    /// users.
    median_ms: Option<i64>,
}

impl From<Fields> for FieldsView {
    fn from(fields: Fields) -> Self {
        let Fields { by_name, left_out, size, memory, .. } = fields;
        let mut data: Vec<FieldView> =
            by_name.into_iter().map(|(field, found)| FieldView::new(field, found)).collect();
        // Stable: equal ones stay in the order of their names.
        data.sort_by_key(|field| std::cmp::Reverse(field.count));
        let (events_read, events_matched) = (size.read, size.matched);
        Self { data, meta: FieldsMeta { events_read, events_matched, left_out }, _memory: memory }
    }
}

impl FieldView {
    fn new(field: String, Field { types, example }: Field) -> Self {
        let most = types.iter().max_by_key(|(_, count)| **count);
        Self {
            field,
            r#type: most.map_or("null", |(kind, _)| kind.as_str()),
            count: types.values().sum(),
            types: types.iter().map(|(kind, count)| (kind.as_str(), *count)).collect(),
            example,
        }
    }
}

impl ValuesView {
    pub(super) fn new(values: Values, limit: usize) -> Self {
        let Values { counts, total, size, memory } = values;
        let data = counts.into_iter().map(|(value, count)| ValueView { value, count }).collect();
        let (events_read, events_matched) = (size.read, size.matched);
        let meta = ValuesMeta { total, limit, events_read, events_matched };
        Self { data, meta, _memory: memory }
    }
}

impl FunnelInput {
    /// Returns the funnel.
    pub(super) fn read(self, now: TimestampMs) -> ApiResult<Funnel> {
        let steps = self.steps.ok_or_else(|| missing("steps"))?;
        let max = telltale_engine::limits::EVENT_FUNNEL_STEPS_MAX;
        if steps.is_empty() || steps.len() > max {
            return Err(ApiError::parameter("steps", format!("must have 1 to {max} items")));
        }
        let window_ms = match self.window.as_deref() {
            None => FUNNEL_WINDOW_DEFAULT_MS,
            Some(text) => duration::parse(text, FUNNEL_WINDOW_MS_MAX).ok_or_else(|| {
                ApiError::parameter("window", "must be <n>m, <n>h, <n>d or <n>w, at most 90d")
            })?,
        };
        let moment = |field, text: Option<String>| {
            text.map(|text| query_params::moment(field, &text, now)).transpose()
        };
        let from = moment("from", self.from)?.map(Moment::start);
        let to = moment("to", self.to)?.map(Moment::end);
        let range = query_params::range(from, to, EVENT_RANGE_DEFAULT_MS, now)?;
        let mut funnel =
            Funnel { query: EventFunnelQuery { steps: Vec::new(), window_ms }, names: Vec::new() };
        for (i, step) in steps.into_iter().enumerate() {
            let (filter, name) = step.read(i, range)?;
            funnel.query.steps.push(filter);
            funnel.names.push(name);
        }
        Ok(funnel)
    }
}

impl StepInput {
    fn read(self, index: usize, range: TimeRange) -> ApiResult<(EventFilter, String)> {
        let text = self.name.ok_or_else(|| missing(&format!("steps[{index}].name")))?;
        let field = |name: &str| format!("steps[{index}].{name}");
        let name = name(&text).map_err(|_| {
            let expected = "must be an event name, or a prefix of one followed by *";
            ApiError::parameter(field("name"), expected)
        })?;
        if self.user_id.as_deref() == Some("") {
            return Err(ApiError::parameter(field("user_id"), "must not be empty"));
        }
        let tags = self.tags.unwrap_or_default();
        let pairs = tags.iter().map(|(key, value)| (key.as_str(), value.as_str()));
        let tags = query_params::tag_filters(pairs).map_err(|invalid| {
            ApiError::parameter(field("tags"), format!("are invalid: {invalid}"))
        })?;
        Ok((EventFilter { range, name, user: self.user_id, tags }, text))
    }
}

fn missing(field: &str) -> ApiError {
    ApiError::new(crate::http::ErrorCode::MissingField, format!("{field} is required"))
        .field(field.to_owned())
}

impl FunnelView {
    pub(super) fn new(funnel: Funnel, result: EventFunnelResult) -> Self {
        let range = funnel.query.steps.first().map_or(TimeRange::new(0, 0), |step| step.range);
        let first = result.steps.first().map_or(0, |step| step.users);
        let last = result.steps.last().map_or(0, |step| step.users);
        let mut previous = None;
        let steps = funnel.names.into_iter().zip(result.steps).map(|(name, step)| StepView {
            name,
            users: step.users,
            from_first: part(step.users, first),
            from_previous: previous.replace(step.users).and_then(|before| part(step.users, before)),
            median_ms: step.median_ms,
        });
        Self {
            from: IsoTime(range.start),
            to: IsoTime(range.end),
            steps: steps.collect(),
            conversion: part(last, first),
            median_ms: result.median_ms,
            events: result.stats.matched,
        }
    }
}

fn part(some: u64, all: u64) -> Option<Plain> {
    (all > 0).then(|| Plain(some as f64 / all as f64))
}
