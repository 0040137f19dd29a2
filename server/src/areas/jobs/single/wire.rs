//! Request and response bodies of jobs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use telltale_engine::TimestampMs;

use crate::areas::jobs::arguments::Arguments;
use crate::areas::jobs::fields::{invalid, missing, queue_owner};
use crate::http::{ApiError, ErrorCode, PathParam, Query, Resource};
use crate::jobs::{
    ClassName, Enqueued, Failed, FailureReport, InvalidJob, JobDetail, JobFilter, JobId, JobPage,
    JobStateFilter, JobStatus, JobsError, NewJob, PastFailure, QueueName, UniqueKey,
};
use crate::limits;
use crate::platform::bounded::AtMost;
use crate::platform::json::{integer_or_null, read_typed};
use crate::platform::patterns;
use crate::platform::time::{self, IsoTime};

/// A job to be enqueued. Unknown fields are ignored.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct JobInput {
    /// The class of the job, which determines what the worker runs.
    #[schemars(required, length(max = limits::JOB_CLASS_CHARS_MAX), regex(pattern = patterns::LINE))]
    class_name: Option<String>,
    /// The queue; defaults to `default`.
    #[schemars(length(max = limits::QUEUE_NAME_CHARS_MAX), regex(pattern = patterns::QUEUE))]
    queue: Option<String>,
    /// The arguments: an object of at most 64 KiB; defaults to an empty object.
    #[schemars(with = "Option<Arguments>")]
    arguments: Option<Box<RawValue>>,
    /// The earliest time to run; if absent or past, the job is ready at once.
    #[serde(default)]
    #[schemars(schema_with = "patterns::optional_time")]
    run_at: Option<String>,
    /// The maximum number of attempts, from 1 to 1000; defaults to 25.
    #[schemars(range(min = 1, max = limits::JOB_ATTEMPTS_MAX))]
    #[serde(default, deserialize_with = "integer_or_null")]
    max_attempts: Option<i64>,
    /// A key that no two unfinished jobs may share.
    #[schemars(length(min = 1, max = limits::UNIQUE_KEY_CHARS_MAX))]
    unique_key: Option<String>,
    /// How long a worker may hold the job, in seconds, from 1 to 86400; defaults to the server's
    /// setting.
    #[schemars(range(min = 1, max = limits::JOB_TIMEOUT_SECONDS_MAX))]
    #[serde(default, deserialize_with = "integer_or_null")]
    timeout_seconds: Option<i64>,
}

/// Jobs to be enqueued atomically.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "JobBatchInput")]
pub(super) struct BatchInput {
    /// At most 1000 jobs.
    #[schemars(with = "Vec<JobInput>", length(max = limits::JOB_BATCH_MAX))]
    jobs: AtMost<Box<RawValue>, { limits::JOB_BATCH_MAX }>,
}

/// An enqueued job.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "EnqueuedJob")]
pub(super) struct EnqueuedView {
    job_id: String,
    queue: String,
    /// `ready` or `scheduled`.
    status: &'static str,
}

/// The result of a batch.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[schemars(rename = "JobBatchAnswer")]
pub(super) struct BatchView {
    accepted: usize,
    rejected: usize,
    /// The job ids in the order of the batch; null for a rejected job.
    job_ids: Vec<Option<String>>,
    /// The first 50 rejected jobs; absent if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    errors: Vec<RejectedJob>,
}

/// A rejected job of a batch.
#[derive(Debug, Serialize, JsonSchema)]
struct RejectedJob {
    index: usize,
    code: &'static str,
    message: String,
}

/// A page of waiting and running jobs, last enqueued first.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "JobList")]
pub(super) struct JobListView {
    jobs: Vec<JobSummary>,
    /// The cursor of the next page; absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

/// A job with its failures.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Job")]
pub(super) struct JobView {
    #[serde(flatten)]
    summary: JobSummary,
    /// The id of the dead job, if the job is dead.
    dead_job_id: Option<String>,
    /// The newest failures, oldest first.
    failures: Vec<FailureView>,
}

/// A job.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct JobSummary {
    id: String,
    class_name: String,
    queue: String,
    arguments: Arguments,
    /// `ready`, `scheduled`, `running`, `retrying`, `completed` or `dead`.
    status: &'static str,
    /// The number of attempts started.
    attempts: u16,
    max_attempts: u16,
    enqueued_at: IsoTime,
    /// When the job is due; null unless it is scheduled or retrying.
    run_at: Option<IsoTime>,
    started_at: Option<IsoTime>,
    finished_at: Option<IsoTime>,
    /// The worker that holds the job.
    worker_id: Option<String>,
    /// When the reservation expires.
    expires_at: Option<IsoTime>,
}

/// A failed attempt.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "JobFailure")]
struct FailureView {
    attempt: u16,
    failed_at: IsoTime,
    error_class: String,
    error_message: String,
}

/// The proof that a worker holds a job.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "JobTokenInput")]
pub(super) struct TokenInput {
    /// The token returned by the fetch.
    #[schemars(required)]
    reservation_token: Option<String>,
}

/// A failed attempt, as reported by the worker.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "JobFailInput")]
pub(super) struct FailInput {
    /// The token returned by the fetch.
    #[schemars(required)]
    reservation_token: Option<String>,
    /// At most 100 characters; longer values are truncated, as are those below.
    error_class: Option<String>,
    /// At most 10000 characters.
    error_message: Option<String>,
    /// At most 50 lines of 1000 characters.
    backtrace: Option<AtMost<String, { limits::BACKTRACE_LINES_MAX }>>,
}

/// An extension of a reservation.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "JobExtendInput")]
pub(super) struct ExtendInput {
    /// The token returned by the fetch.
    #[schemars(required)]
    reservation_token: Option<String>,
    /// The new duration of the reservation from now, in seconds, from 1 to 86400.
    #[schemars(required, range(min = 1, max = limits::JOB_TIMEOUT_SECONDS_MAX))]
    #[serde(deserialize_with = "integer_or_null")]
    seconds: Option<i64>,
}

/// A finished job.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "AckedJob")]
pub(super) struct AckedView {
    job_id: String,
    /// Always `completed`.
    status: &'static str,
}

/// The state of a job after a failed attempt.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "FailedJob")]
pub(super) struct FailedView {
    job_id: String,
    /// `retrying` or `dead`.
    status: &'static str,
    /// When the job is retried; null if it is dead.
    next_run_at: Option<IsoTime>,
}

/// The new expiry of a reservation.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ExtendedJob")]
pub(super) struct ExtendedView {
    job_id: String,
    expires_at: IsoTime,
}

impl JobInput {
    /// Validates the job.
    pub(super) fn into_job(self) -> Result<NewJob, ApiError> {
        let class = self.class_name.filter(|class| !class.is_empty());
        let class = class.ok_or_else(|| missing("class_name"))?;
        let run_at = self.run_at.as_deref().map(read_time).transpose()?;
        let timeout = self.timeout_seconds.map(seconds).transpose();
        Ok(NewJob {
            class: ClassName::new(&class)?,
            queue: QueueName::new(self.queue.as_deref().unwrap_or("default"))?,
            arguments: Arguments::read(self.arguments.as_deref())?,
            run_at,
            max_attempts: self.max_attempts.map_or(Ok(limits::JOB_ATTEMPTS_DEFAULT), attempts)?,
            unique: self.unique_key.as_deref().map(UniqueKey::new).transpose()?,
            timeout_seconds: timeout?,
        })
    }
}

impl BatchInput {
    /// Returns the valid jobs and, for each job of the batch, its error if it is invalid.
    pub(super) fn parse(self) -> Result<(Vec<NewJob>, Vec<Option<ApiError>>), ApiError> {
        let jobs = self.jobs.all().map_err(|sent| {
            let max = limits::JOB_BATCH_MAX;
            let message = format!("a batch may have at most {max} jobs; this one has {sent}");
            ApiError::new(ErrorCode::BatchTooLarge, message).field("jobs")
        })?;
        let read = |raw: Box<RawValue>| {
            // An array would be deserialized as the fields in their order.
            if !raw.get().starts_with('{') {
                return Err(ApiError::new(ErrorCode::InvalidParameter, "a job must be an object"));
            }
            let input = read_typed::<JobInput>(raw.get().as_bytes());
            let input = input.map_err(|misfit| {
                ApiError::new(ErrorCode::InvalidParameter, misfit.sentence("a job"))
            })?;
            input.into_job()
        };
        let (mut valid, mut rejected) = (Vec::with_capacity(jobs.len()), Vec::new());
        for raw in jobs {
            match read(raw) {
                Ok(job) => {
                    valid.push(job);
                    rejected.push(None);
                }
                Err(error) => rejected.push(Some(error)),
            }
        }
        Ok((valid, rejected))
    }
}

impl From<Enqueued> for EnqueuedView {
    fn from(job: Enqueued) -> Self {
        Self {
            job_id: job.id.to_string(),
            queue: job.queue.to_string(),
            status: job.status.as_str(),
        }
    }
}

impl BatchView {
    /// Combines the results of all jobs. `outcomes` contains those of the jobs without an error in
    /// `rejected`, in order.
    pub(super) fn new(
        rejected: Vec<Option<ApiError>>,
        outcomes: Vec<Result<Enqueued, JobsError>>,
    ) -> Self {
        let (mut view, mut outcomes) = (Self::default(), outcomes.into_iter());
        for refusal in rejected {
            let outcome = match refusal {
                Some(error) => Some(Err(error)),
                None => outcomes.next().map(|outcome| Ok::<_, ApiError>(outcome?.id)),
            };
            view.add(outcome.unwrap_or_else(|| Err(ApiError::internal("a job has no outcome"))));
        }
        view
    }

    fn add(&mut self, outcome: Result<JobId, ApiError>) {
        let index = self.job_ids.len();
        match outcome {
            Ok(id) => {
                self.accepted += 1;
                self.job_ids.push(Some(id.to_string()));
            }
            Err(error) => {
                self.rejected += 1;
                self.job_ids.push(None);
                if self.errors.len() < limits::BATCH_ERRORS_LISTED_MAX {
                    let (code, message) = (error.code().as_str(), error.message().to_owned());
                    self.errors.push(RejectedJob { index, code, message });
                }
            }
        }
    }
}

impl From<JobPage> for JobListView {
    fn from(page: JobPage) -> Self {
        Self {
            jobs: page.jobs.into_iter().map(JobSummary::from).collect(),
            next_cursor: page.next.map(|id| id.to_string()),
        }
    }
}

impl From<JobDetail> for JobView {
    fn from(mut job: JobDetail) -> Self {
        let failures = std::mem::take(&mut job.failures);
        Self {
            dead_job_id: job.dead_id.map(|id| id.to_string()),
            failures: failures.into_iter().map(FailureView::from).collect(),
            summary: job.into(),
        }
    }
}

impl From<JobDetail> for JobSummary {
    fn from(job: JobDetail) -> Self {
        let at = |statuses: &[JobStatus]| statuses.contains(&job.status).then_some(IsoTime(job.at));
        Self {
            id: job.id.to_string(),
            run_at: at(&[JobStatus::Scheduled, JobStatus::Retrying]),
            started_at: at(&[JobStatus::Running]),
            finished_at: at(&[JobStatus::Completed, JobStatus::Dead]),
            class_name: job.class.to_string(),
            queue: job.queue.to_string(),
            arguments: Arguments(job.arguments),
            status: job.status.as_str(),
            attempts: job.attempts,
            max_attempts: job.max_attempts,
            enqueued_at: IsoTime(job.enqueued_at),
            worker_id: job.held.map(|(worker, _)| worker.to_string()),
            expires_at: job.held.map(|(_, expires_at)| IsoTime(expires_at)),
        }
    }
}

impl From<PastFailure> for FailureView {
    fn from(failure: PastFailure) -> Self {
        Self {
            attempt: failure.attempt,
            failed_at: IsoTime(failure.failed_at),
            error_class: failure.report.error_class.to_string(),
            error_message: failure.report.message,
        }
    }
}

impl TokenInput {
    pub(super) fn token(self, job: JobId) -> Result<Option<u64>, ApiError> {
        token(job, self.reservation_token)
    }
}

impl FailInput {
    pub(super) fn into_report(self, job: JobId) -> Result<(Option<u64>, FailureReport), ApiError> {
        let token = token(job, self.reservation_token)?;
        let report = FailureReport::new(
            &self.error_class.unwrap_or_default(),
            &self.error_message.unwrap_or_default(),
            self.backtrace.map_or_else(Vec::new, AtMost::first),
        );
        Ok((token, report))
    }
}

impl ExtendInput {
    pub(super) fn into_seconds(self, job: JobId) -> Result<(Option<u64>, u32), ApiError> {
        let token = token(job, self.reservation_token)?;
        let seconds_sent = self.seconds.ok_or_else(|| missing("seconds"))?;
        let seconds =
            seconds(seconds_sent).map_err(|rule| invalid("seconds", format!("seconds {rule}")))?;
        Ok((token, seconds))
    }
}

impl AckedView {
    pub(super) fn new(job: JobId) -> Self {
        Self { job_id: job.to_string(), status: JobStatus::Completed.as_str() }
    }
}

impl FailedView {
    pub(super) fn new(job: JobId, failed: Failed) -> Self {
        Self {
            job_id: job.to_string(),
            status: failed.status.as_str(),
            next_run_at: failed.next_run_at.map(IsoTime),
        }
    }
}

impl ExtendedView {
    pub(super) fn new(job: JobId, expires_at: TimestampMs) -> Self {
        Self { job_id: job.to_string(), expires_at: IsoTime(expires_at) }
    }
}

/// Reads the filter of a list from the query string.
pub(super) fn filter(query: &Query) -> Result<JobFilter, ApiError> {
    let text = |key| Ok::<_, ApiError>(query.one(key)?.map(str::to_owned));
    let status = query.one("status")?.map(|text| {
        JobStatus::parse_unfinished(text).ok_or_else(|| {
            ApiError::parameter("status", "must be one of waiting, scheduled, retrying, running")
        })
    });
    let search = text("search")?;
    let max = limits::JOB_SEARCH_CHARS_MAX;
    if search.as_ref().is_some_and(|text| text.chars().count() > max) {
        return Err(ApiError::parameter(
            "search",
            format_args!("must have at most {max} characters"),
        ));
    }
    let standing = JobStateFilter {
        queue: text("queue")?,
        status: status.transpose()?,
        whose: queue_owner(query)?,
    };
    Ok(JobFilter { standing, class: text("class_name")?, search })
}

/// Reads the cursor from which a list continues.
pub(super) fn cursor(query: &Query) -> Result<Option<JobId>, ApiError> {
    let read = |text| {
        let rejected =
            || ApiError::parameter("cursor", "must be the next_cursor of a previous page");
        JobId::parse(text).ok_or_else(rejected)
    };
    query.one("cursor")?.map(read).transpose()
}

impl PathParam for JobId {
    const RESOURCE: &'static Resource = &Resource::new("job_not_found", "job");

    fn from_path(text: &str) -> Option<Self> {
        Self::parse(text)
    }
}

/// Parses a reservation token. A token that is malformed or of another job is `None`, which no
/// holder has.
fn token(job: JobId, text: Option<String>) -> Result<Option<u64>, ApiError> {
    let text = text.ok_or_else(|| missing("reservation_token"))?;
    Ok(job.token_in(&text))
}

fn attempts(n: i64) -> Result<u16, InvalidJob> {
    let fits = u16::try_from(n).ok().filter(|n| (1..=limits::JOB_ATTEMPTS_MAX).contains(n));
    fits.ok_or(InvalidJob::Attempts)
}

fn seconds(n: i64) -> Result<u32, InvalidJob> {
    let fits = u32::try_from(n).ok().filter(|n| (1..=limits::JOB_TIMEOUT_SECONDS_MAX).contains(n));
    fits.ok_or(InvalidJob::Timeout)
}

fn read_time(text: &str) -> Result<TimestampMs, ApiError> {
    let time = time::parse(text).filter(|time| time.0 >= 0);
    time.ok_or_else(|| {
        let message = "run_at must be an ISO 8601 date-time such as 2026-01-02T03:04:05.678Z";
        ApiError::new(ErrorCode::InvalidTimestamp, message).field("run_at")
    })
}
