//! Request and response bodies of dead jobs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use telltale_engine::TimestampMs;

use crate::areas::jobs::arguments::Arguments;
use crate::areas::jobs::fields::queue_owner;
use crate::http::{ApiError, ApiResult, ErrorCode, PathParam, Query, Resource};
use crate::jobs::{
    BulkCount, DeadDetail, DeadFilter, DeadFound, DeadId, DeadJob, DeadJobId, DeadPage, Deaths,
    FailureReport, JobId, PastFailure, Period, QueueOwner, Selection,
};
use crate::limits;
use crate::platform::bounded::AtMost;
use crate::platform::json::integer_or_null;
use crate::platform::patterns;
use crate::platform::plural::count;
use crate::platform::telemetry::query_params;
use crate::platform::time::{self, IsoTime};

/// A page of dead jobs, last died first.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "DeadJobList")]
pub(super) struct DeadList {
    dead_jobs: Vec<DeadSummary>,
    /// The number of matching jobs on all pages; absent from the response to a search, which does
    /// not read all of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    total: Option<usize>,
    pagination: Pagination,
    /// The cursor of the next page of a search; absent on its last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
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
    /// The number of selected jobs; only in the response to a dry run.
    #[serde(skip_serializing_if = "Option::is_none")]
    matched: Option<usize>,
    message: String,
}

/// The result of deleting dead jobs.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "DeletedDeadJobs")]
pub(super) struct DeletedAll {
    deleted: usize,
    /// The number of selected jobs; only in the response to a dry run.
    #[serde(skip_serializing_if = "Option::is_none")]
    matched: Option<usize>,
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
    /// If another number of dead jobs is selected, the request is refused with `count_changed`.
    #[schemars(range(min = 0))]
    #[serde(default, deserialize_with = "integer_or_null")]
    expected_count: Option<i64>,
    /// If true, the selected jobs are only counted; `confirm` is not needed.
    dry_run: Option<bool>,
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
    /// Only jobs that died at or after this time, in the same formats.
    #[serde(default)]
    #[schemars(schema_with = "patterns::optional_time_or_date")]
    since: Option<String>,
    /// Only jobs with this string in their class, arguments, error class or error message, ignoring
    /// case.
    #[schemars(length(max = limits::JOB_SEARCH_CHARS_MAX))]
    search: Option<String>,
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
        if query.one("search")?.is_some_and(|text| !text.is_empty()) && query.one("page")?.is_some()
        {
            return Err(ApiError::parameter(
                "page",
                "must not be given together with search, which continues at cursor",
            ));
        }
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
    let search = owned("search")?.filter(|text| !text.is_empty());
    if search.as_deref().is_some_and(is_too_long) {
        return Err(ApiError::parameter("search", too_long()));
    }
    Ok(DeadFilter {
        class: owned("class_name")?,
        error_class: owned("error_class")?,
        queue: owned("queue")?,
        since: query.moment("since", now)?.map(time::Moment::start),
        older_than: None,
        whose: queue_owner(query)?,
        search,
    })
}

/// Reads the cursor from which a search continues.
pub(super) fn cursor(query: &Query) -> ApiResult<Option<DeadId>> {
    let cursor =
        query.parsed("cursor", || "must be the next_cursor of a previous page", DeadId::parse)?;
    if cursor.is_some() && query.one("search")?.is_none_or(str::is_empty) {
        return Err(ApiError::parameter("cursor", "must be given together with search"));
    }
    Ok(cursor)
}

fn is_too_long(search: &str) -> bool {
    search.chars().count() > limits::JOB_SEARCH_CHARS_MAX
}

fn too_long() -> String {
    format!("must have at most {} characters", limits::JOB_SEARCH_CHARS_MAX)
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

    /// Returns whether the jobs are only counted.
    pub(super) fn is_dry_run(&self) -> bool {
        self.dry_run == Some(true)
    }

    /// Returns the number of jobs that the caller expects to be selected.
    pub(super) fn expected(&self) -> ApiResult<Option<usize>> {
        let read = |count: i64| {
            let rule = "expected_count must be an integer of at least 0";
            usize::try_from(count)
                .map_err(|_| field_error(ErrorCode::InvalidField, rule, "expected_count"))
        };
        self.expected_count.map(read).transpose()
    }

    /// Fails unless `confirm` is true in the body or in the query string, or nothing is deleted.
    pub(super) fn check_confirmed(&self, query: &Query) -> ApiResult<()> {
        let confirm = query.flag("confirm")?;
        if self.is_dry_run() || self.confirm == Some(true) || confirm == Some(true) {
            return Ok(());
        }
        let message = "confirm must be true: the jobs are deleted for good";
        Err(field_error(ErrorCode::MissingField, message, "confirm"))
    }
}

impl FilterInput {
    fn into_selection(self, whose: QueueOwner, now: TimestampMs) -> ApiResult<Selection> {
        let time = |field, text: Option<&str>| {
            text.map(|text| query_params::moment(field, text, now)).transpose()
        };
        let older_than = time("filter.older_than", self.older_than.as_deref())?;
        let since = time("filter.since", self.since.as_deref())?;
        let search = self.search.filter(|text| !text.is_empty());
        if search.as_deref().is_some_and(is_too_long) {
            let message = format!("filter.search {}", too_long());
            return Err(field_error(ErrorCode::InvalidField, message, "filter.search"));
        }
        let filter = DeadFilter {
            class: self.class_name,
            error_class: self.error_class,
            queue: self.queue,
            since: since.map(time::Moment::start),
            older_than: older_than.map(time::Moment::start),
            whose: QueueOwner::Users,
            search,
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
        let dead_jobs = page.jobs.into_iter().map(DeadSummary::listed).collect();
        Self { dead_jobs, total: Some(page.total), pagination, next_cursor: None }
    }

    /// Builds the response to a search.
    pub(super) fn found(page: DeadFound, pagination: Pagination) -> Self {
        let dead_jobs = page.jobs.into_iter().map(DeadSummary::listed).collect();
        let next_cursor = page.next.map(|id| id.to_string());
        Self { dead_jobs, total: None, pagination, next_cursor }
    }
}

impl DeadSummary {
    /// Builds the summary of a dead job that has its last failure only.
    fn listed(mut job: DeadDetail) -> Self {
        let last = job.failures.pop();
        Self::new(job, last.as_ref().map(|failure| &failure.report))
    }

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
    pub(super) fn new(count_of: BulkCount) -> Self {
        let BulkCount { done: retried, failed } = count_of;
        let were = if retried == 1 { "was" } else { "were" };
        let mut message = format!("{} {were} enqueued again", count(retried, "job"));
        if failed > 0 {
            message.push_str(&format!(
                "; {failed} could not be: not a dead job, unreadable, or its unique_key is in use"
            ));
        }
        Self { retried, failed, matched: None, message }
    }

    /// Builds the response to a dry run.
    pub(super) fn dry_run(matched: usize) -> Self {
        Self { retried: 0, failed: 0, matched: Some(matched), message: dry_run_message(matched) }
    }
}

impl DeletedAll {
    pub(super) fn new(deleted: usize) -> Self {
        let were = if deleted == 1 { "was" } else { "were" };
        let message = format!("{} {were} deleted", count(deleted, "dead job"));
        Self { deleted, matched: None, message }
    }

    /// Builds the response to a dry run.
    pub(super) fn dry_run(matched: usize) -> Self {
        Self { deleted: 0, matched: Some(matched), message: dry_run_message(matched) }
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

fn dry_run_message(matched: usize) -> String {
    format!("the request selects {}; nothing was changed", count(matched, "dead job"))
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
