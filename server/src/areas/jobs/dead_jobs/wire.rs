//! Request and response bodies of dead jobs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use telltale_engine::TimestampMs;

use crate::areas::jobs::arguments::Arguments;
use crate::areas::jobs::fields::queue_owner;
use crate::http::{ApiError, ApiResult, ErrorCode, PathParam, Query, Resource};
use crate::jobs::{
    DeadDetail, DeadFilter, DeadJob, DeadJobId, DeadPage, Deaths, FailureReport, JobId,
    PastFailure, Period, QueueOwner, Selection,
};
use crate::limits;
use crate::platform::bounded::AtMost;
use crate::platform::patterns;
use crate::platform::plural::count;
use crate::platform::telemetry::query_params;
use crate::platform::time::{self, IsoTime};

/// A page of dead jobs, last died first.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "DeadJobList")]
pub(super) struct DeadList {
    dead_jobs: Vec<DeadSummary>,
    /// The number of matching jobs on all pages.
    total: usize,
    pagination: Pagination,
}

/// The position of a page.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[schemars(rename = "DeadJobPagination")]
pub(super) struct Pagination {
    /// The page number, from 1.
    page: usize,
    per_page: usize,
}

/// A dead job.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "DeadJobSummary")]
pub(super) struct DeadSummary {
    id: String,
    /// The id of the job before it died.
    job_id: String,
    class_name: String,
    queue: String,
    arguments: Arguments,
    error_class: String,
    error_message: String,
    attempts: u16,
    first_failed_at: IsoTime,
    died_at: IsoTime,
}

/// A dead job with its failure history.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "DeadJob")]
pub(super) struct DeadView {
    #[serde(flatten)]
    summary: DeadSummary,
    /// The backtrace of the last failure.
    backtrace: Vec<String>,
    /// The newest 25 failures, oldest first.
    retry_history: Vec<RetryView>,
    original_enqueued_at: IsoTime,
}

/// A failed attempt.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "DeadJobFailure")]
struct RetryView {
    attempt: u16,
    failed_at: IsoTime,
    /// The error class and message.
    error: String,
}

/// The result of retrying a dead job.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "RetriedDeadJob")]
pub(super) struct Retried {
    dead_job_id: String,
    new_job_id: String,
    queue: String,
    message: &'static str,
}

/// The result of retrying several dead jobs.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "RetriedDeadJobs")]
pub(super) struct RetriedAll {
    retried: usize,
    failed: usize,
    message: String,
}

/// The result of deleting dead jobs.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "DeletedDeadJobs")]
pub(super) struct DeletedAll {
    deleted: usize,
    message: String,
}

/// A selection of dead jobs, by id or by filter.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "DeadJobSelectionInput")]
pub(super) struct SelectionInput {
    /// Ids of dead jobs, or their job ids.
    #[schemars(length(min = 1, max = limits::DEAD_IDS_MAX))]
    job_ids: Option<AtMost<String, { limits::DEAD_IDS_MAX }>>,
    /// A filter, instead of ids.
    filter: Option<FilterInput>,
    /// Must be true to delete jobs, here or in the query string.
    confirm: Option<bool>,
}

/// A filter of dead jobs; all given conditions must match.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "DeadJobFilter")]
struct FilterInput {
    class_name: Option<String>,
    error_class: Option<String>,
    queue: Option<String>,
    /// Only jobs that died before this time, in any format that query parameters accept.
    #[serde(default)]
    #[schemars(schema_with = "patterns::optional_time_or_date")]
    older_than: Option<String>,
}

/// The dead jobs of a period.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "DeadJobAnalytics")]
pub(super) struct Analytics {
    period: &'static str,
    /// The number of jobs that died, including those retried or deleted since.
    total_dead: u64,
    by_class: Vec<ClassDeaths>,
    by_error: Vec<ErrorDeaths>,
    /// One entry for every day of the period.
    timeline: Vec<DayDeaths>,
}

/// The dead jobs of one class.
#[derive(Debug, Serialize, JsonSchema)]
struct ClassDeaths {
    class_name: String,
    count: u64,
}

/// The dead jobs with one error class.
#[derive(Debug, Serialize, JsonSchema)]
struct ErrorDeaths {
    error_class: String,
    count: u64,
}

/// The dead jobs of one day in UTC.
#[derive(Debug, Serialize, JsonSchema)]
struct DayDeaths {
    /// `YYYY-MM-DD`.
    date: String,
    count: u64,
}

impl Pagination {
    /// Reads `page`, from 1, and `per_page` or its alias `limit`.
    pub(super) fn read(query: &Query) -> ApiResult<Self> {
        let per_page = query.limit("per_page", limits::DEAD_PAGE_MAX)?;
        let limit = query.limit("limit", limits::DEAD_PAGE_MAX)?;
        if per_page.zip(limit).is_some_and(|(per_page, limit)| per_page != limit) {
            return Err(ApiError::parameter(
                "per_page",
                "must be equal to limit if both are given",
            ));
        }
        let per_page = per_page.or(limit).unwrap_or(limits::DEAD_PAGE_DEFAULT);
        // A page beyond the last one is empty, so any page number is valid.
        let page = query.limit("page", usize::MAX)?.unwrap_or(1);
        Ok(Self { page, per_page })
    }

    pub(super) fn offset(self) -> usize {
        (self.page - 1).saturating_mul(self.per_page)
    }

    pub(super) fn limit(self) -> usize {
        self.per_page
    }
}

/// Reads the filter of a list from the query string.
pub(super) fn filter(query: &Query, now: TimestampMs) -> ApiResult<DeadFilter> {
    let owned = |key| Ok::<_, ApiError>(query.one(key)?.map(str::to_owned));
    Ok(DeadFilter {
        class: owned("class_name")?,
        error_class: owned("error_class")?,
        queue: owned("queue")?,
        since: query.moment("since", now)?.map(time::Moment::start),
        older_than: None,
        whose: queue_owner(query)?,
    })
}

impl SelectionInput {
    /// Validates the selection.
    pub(super) fn into_selection(self, query: &Query, now: TimestampMs) -> ApiResult<Selection> {
        let whose = queue_owner(query)?;
        match (self.job_ids, self.filter) {
            (Some(_), Some(_)) => Err(field_error(
                ErrorCode::InvalidField,
                "filter must not be given together with job_ids",
                "filter",
            )),
            (None, None) => Err(field_error(
                ErrorCode::MissingField,
                "job_ids or filter is required",
                "job_ids",
            )),
            (Some(ids), None) => {
                let ids = ids.all().ok().filter(|ids| !ids.is_empty());
                ids.map(|ids| Selection::Ids(ids, whose)).ok_or_else(|| {
                    let max = limits::DEAD_IDS_MAX;
                    let message = format!("job_ids must have 1 to {max} ids of dead jobs");
                    field_error(ErrorCode::InvalidField, message, "job_ids")
                })
            }
            (None, Some(filter)) => filter.into_selection(whose, now),
        }
    }

    /// Fails unless `confirm` is true in the body or in the query string.
    pub(super) fn check_confirmed(&self, query: &Query) -> ApiResult<()> {
        let confirm = query.flag("confirm")?;
        if self.confirm == Some(true) || confirm == Some(true) {
            return Ok(());
        }
        let message = "confirm must be true: the jobs are deleted for good";
        Err(field_error(ErrorCode::MissingField, message, "confirm"))
    }
}

impl FilterInput {
    fn into_selection(self, whose: QueueOwner, now: TimestampMs) -> ApiResult<Selection> {
        let older_than = self.older_than.as_deref();
        let older_than =
            older_than.map(|time| query_params::moment("filter.older_than", time, now));
        let filter = DeadFilter {
            class: self.class_name,
            error_class: self.error_class,
            queue: self.queue,
            since: None,
            older_than: older_than.transpose()?.map(time::Moment::start),
            whose: QueueOwner::Users,
        };
        if filter.is_empty() {
            let message =
                "filter must have at least one field: an empty filter would select all dead jobs";
            return Err(field_error(ErrorCode::InvalidField, message, "filter"));
        }
        Ok(Selection::Filter(DeadFilter { whose, ..filter }))
    }
}

impl DeadList {
    pub(super) fn new(page: DeadPage, pagination: Pagination) -> Self {
        let dead_jobs = page.jobs.into_iter().map(|mut job| {
            let last = job.failures.pop();
            DeadSummary::new(job, last.as_ref().map(|failure| &failure.report))
        });
        Self { dead_jobs: dead_jobs.collect(), total: page.total, pagination }
    }
}

impl DeadSummary {
    /// Builds the summary of a dead job from its last failure; `None` if that cannot be read, which
    /// was logged.
    fn new(job: DeadDetail, last: Option<&FailureReport>) -> Self {
        let dead = job.dead;
        Self {
            id: dead.id.to_string(),
            job_id: dead.job.to_string(),
            class_name: dead.class.to_string(),
            queue: dead.queue.to_string(),
            arguments: Arguments(job.arguments),
            error_class: dead.error_class.to_string(),
            error_message: last.map(|report| report.message.clone()).unwrap_or_default(),
            attempts: dead.attempts,
            first_failed_at: IsoTime(dead.first_failed_at),
            died_at: IsoTime(dead.died_at),
        }
    }
}

impl From<DeadDetail> for DeadView {
    fn from(mut job: DeadDetail) -> Self {
        let failures = std::mem::take(&mut job.failures);
        let original_enqueued_at = IsoTime(job.enqueued_at);
        let last = failures.last().map(|failure| failure.report.clone());
        Self {
            summary: DeadSummary::new(job, last.as_ref()),
            backtrace: last.map(|report| report.backtrace).unwrap_or_default(),
            retry_history: failures.into_iter().map(RetryView::from).collect(),
            original_enqueued_at,
        }
    }
}

impl From<PastFailure> for RetryView {
    fn from(failure: PastFailure) -> Self {
        let FailureReport { error_class, message, .. } = failure.report;
        Self {
            attempt: failure.attempt,
            failed_at: IsoTime(failure.failed_at),
            error: if message.is_empty() {
                error_class.to_string()
            } else {
                format!("{error_class}: {message}")
            },
        }
    }
}

impl Retried {
    pub(super) fn new(dead: &DeadJob, new: JobId) -> Self {
        Self {
            dead_job_id: dead.id.to_string(),
            new_job_id: new.to_string(),
            queue: dead.queue.to_string(),
            message: "The job was enqueued again as a new job, with its full number of attempts",
        }
    }
}

impl RetriedAll {
    pub(super) fn new(retried: usize, failed: usize) -> Self {
        let were = if retried == 1 { "was" } else { "were" };
        let mut message = format!("{} {were} enqueued again", count(retried, "job"));
        if failed > 0 {
            message.push_str(&format!(
                "; {failed} could not be: not a dead job, unreadable, or its unique_key is in use"
            ));
        }
        Self { retried, failed, message }
    }
}

impl DeletedAll {
    pub(super) fn new(deleted: usize) -> Self {
        let were = if deleted == 1 { "was" } else { "were" };
        Self { deleted, message: format!("{} {were} deleted", count(deleted, "dead job")) }
    }
}

impl Analytics {
    pub(super) fn new(period: Period, deaths: Deaths) -> Self {
        let day = |(start, count): (TimestampMs, u64)| DayDeaths {
            date: time::format(start).chars().take(10).collect(),
            count,
        };
        let class = |(class_name, count)| ClassDeaths { class_name, count };
        let error = |(error_class, count)| ErrorDeaths { error_class, count };
        Self {
            period: period.as_str(),
            total_dead: deaths.total,
            by_class: deaths.by_class.into_iter().map(class).collect(),
            by_error: deaths.by_error.into_iter().map(error).collect(),
            timeline: deaths.days.into_iter().map(day).collect(),
        }
    }
}

fn field_error(
    code: ErrorCode,
    message: impl Into<std::borrow::Cow<'static, str>>,
    field: &'static str,
) -> ApiError {
    ApiError::new(code, message).field(field)
}

impl PathParam for DeadJobId {
    const RESOURCE: &'static Resource = &Resource::new("dead_job_not_found", "dead job");

    fn from_path(text: &str) -> Option<Self> {
        Self::parse(text)
    }
}
