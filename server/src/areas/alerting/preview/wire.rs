//! The JSON of previews.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use telltale_engine::{TimeRange, TimestampMs};

use crate::areas::alerting::error::Invalid;
use crate::areas::alerting::evaluation::PastEvaluation;
use crate::areas::alerting::ledger::FiringPeriod;
use crate::areas::alerting::limits;
use crate::areas::alerting::rules::{RuleInput, RuleSettings};
use crate::http::{ApiError, ApiResult, ErrorCode};
use crate::platform::json::Plain;
use crate::platform::patterns;
use crate::platform::time::{self, IsoTime};

/// The range of a preview that states none: a day.
const RANGE_DEFAULT_MS: i64 = 24 * 60 * 60 * 1_000;

/// A rule to preview.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "AlertRulePreviewInput")]
pub(super) struct PreviewInput {
    #[schemars(required)]
    rule: Option<RuleInput>,
    /// The first evaluation. Defaults to a day before `to`.
    #[serde(default)]
    #[schemars(schema_with = "patterns::optional_time_or_date")]
    from: Option<String>,
    /// Evaluations are before it, at most 31 days after `from`. Defaults to now.
    #[serde(default)]
    #[schemars(schema_with = "patterns::optional_time_or_date")]
    to: Option<String>,
}

/// When a rule would have fired.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "AlertRulePreview")]
pub(super) struct PreviewView {
    /// In the order in which they would have begun.
    alerts: Vec<PeriodView>,
    /// Seconds between two evaluations.
    step_seconds: Plain,
    evaluations: usize,
    /// When the preview ended early, because there were too many alerts.
    stopped_at: Option<IsoTime>,
}

/// An alert that would have fired.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "AlertRulePreviewAlert")]
struct PeriodView {
    labels: BTreeMap<String, String>,
    /// The value when it would have fired; null without data.
    value: Option<Plain>,
    /// Since when the condition was met.
    since: IsoTime,
    fired_at: IsoTime,
    /// null if it would still fire at the end of the range.
    resolved_at: Option<IsoTime>,
    /// Whether its condition changed too often.
    flapping: bool,
}

impl PreviewInput {
    /// Returns the rule and the range.
    pub(super) fn read(self, now: TimestampMs) -> ApiResult<(RuleSettings, TimeRange)> {
        let rule = self.rule.ok_or_else(|| Invalid::missing("rule"))?;
        let settings = rule.into_settings().and_then(|rule| rule.check().map(|()| rule));
        let settings = settings.map_err(|invalid| invalid.within("rule"))?;
        // Of what is to come nothing is known.
        let to = moment("to", self.to, now)?.map_or(now, |moment| moment.end());
        let to = to.min(TimestampMs(now.0.saturating_add(1)));
        let before = TimestampMs(to.0.saturating_sub(RANGE_DEFAULT_MS));
        let from = moment("from", self.from, now)?.map_or(before, |moment| moment.start());
        let refused =
            |field, message: String| ApiError::new(ErrorCode::InvalidRange, message).field(field);
        if from >= to {
            return Err(refused(
                "from",
                "from must be before to, and not in the future".to_owned(),
            ));
        }
        // The last evaluation, which is before `to`, counts.
        if to.0.saturating_sub(1).saturating_sub(from.0) > limits::PREVIEW_RANGE_MS_MAX {
            let days = limits::PREVIEW_RANGE_MS_MAX / 86_400_000;
            return Err(refused("to", format!("to must be at most {days} days after from")));
        }
        Ok((settings, TimeRange { start: from, end: to }))
    }
}

fn moment(
    field: &'static str,
    text: Option<String>,
    now: TimestampMs,
) -> ApiResult<Option<time::Moment>> {
    let Some(text) = text else { return Ok(None) };
    let invalid = || {
        let message = format!("{field} must be an RFC 3339 date-time, a date, or now");
        ApiError::new(ErrorCode::InvalidTimestamp, message).field(field)
    };
    time::parse_moment(&text, now).map(Some).ok_or_else(invalid)
}

impl From<PastEvaluation> for PreviewView {
    fn from(past: PastEvaluation) -> Self {
        Self {
            alerts: past.periods.into_iter().map(PeriodView::from).collect(),
            step_seconds: Plain(past.step_ms as f64 / 1_000.0),
            evaluations: past.evaluations,
            stopped_at: past.stopped_at.map(IsoTime),
        }
    }
}

impl From<FiringPeriod> for PeriodView {
    fn from(period: FiringPeriod) -> Self {
        Self {
            labels: period.labels.into_iter().collect(),
            value: period.value.map(Plain),
            since: IsoTime(period.since),
            fired_at: IsoTime(period.fired_at),
            resolved_at: period.resolved_at.map(IsoTime),
            flapping: period.has_flapped,
        }
    }
}
