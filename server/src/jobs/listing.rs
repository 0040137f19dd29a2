//! The list of unfinished jobs: its filter and its pages.

use telltale_engine::MemoryShare;

use super::model::{JobDetail, JobId, JobStatus, QueueOwner};
use super::search::JobSearch;

/// Selects unfinished jobs that match all given conditions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JobFilter {
    /// The conditions that need no reads from disk.
    pub standing: JobStateFilter,
    /// Jobs of this class.
    pub class: Option<String>,
    /// Jobs whose class or arguments contain this string, ignoring case.
    pub search: Option<String>,
}

/// The conditions on the in-memory state of jobs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JobStateFilter {
    /// Jobs in this queue.
    pub queue: Option<String>,
    /// Jobs with this status: ready, scheduled, retrying or running.
    pub status: Option<JobStatus>,
    /// Whose queues to include.
    pub whose: QueueOwner,
}

/// A page of jobs, the newest first. It may have fewer jobs than requested although more follow,
/// because the number of jobs that a request inspects is limited.
#[derive(Debug)]
pub struct JobPage {
    /// The jobs, without their failures.
    pub jobs: Vec<JobDetail>,
    /// The memory charged for the arguments of these jobs.
    pub memory: MemoryShare,
    /// The next page has the jobs with ids less than this one; `None` at the end of the list.
    pub next: Option<JobId>,
}

impl JobFilter {
    /// Returns whether the filter needs no reads from disk.
    pub(super) fn reads_nothing(&self) -> bool {
        self.class.is_none() && self.search.is_none()
    }

    /// Returns a predicate on the class and arguments of a job.
    pub(super) fn matcher(&self) -> impl Fn(&str, &str) -> bool {
        let search = self.search.as_deref().map(JobSearch::new);
        move |class, arguments| {
            let is_found = |text: &JobSearch| text.is_in(class) || text.is_in_arguments(arguments);
            self.class.as_deref().is_none_or(|wanted| wanted == class)
                && search.as_ref().is_none_or(is_found)
        }
    }
}

impl JobStatus {
    /// Parses the status of an unfinished job; `waiting` is an alias of `ready`.
    pub fn parse_unfinished(text: &str) -> Option<Self> {
        match text {
            "waiting" | "ready" => Some(Self::Ready),
            "scheduled" => Some(Self::Scheduled),
            "retrying" => Some(Self::Retrying),
            "running" => Some(Self::Running),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_matches_classes_and_arguments_ignoring_case() {
        let filter = |class: Option<&str>, search: Option<&str>| JobFilter {
            class: class.map(str::to_owned),
            search: search.map(str::to_owned),
            ..JobFilter::default()
        };
        let fits =
            |filter: JobFilter| filter.matcher()("Mail::Welcome", r#"{"to":"Ada@example.com"}"#);
        assert!(filter(None, None).reads_nothing());
        assert!(fits(filter(None, None)));
        for found in ["mail", "WELCOME", "ada@", "\"to\"", ""] {
            assert!(fits(filter(None, Some(found))), "{found}");
        }
        assert!(!fits(filter(None, Some("bob"))));
        let escaped = r#"{"to":"Gr\u00f6\u00dfe"}"#;
        assert!(filter(None, Some("GRÖSSE")).matcher()("Mail", &escaped.replace("\\u00df", "ss")));
        assert!(filter(None, Some("größe")).matcher()("Mail", escaped));
        assert!(fits(filter(Some("Mail::Welcome"), Some("ADA"))));
        assert!(!fits(filter(Some("mail::welcome"), None)), "a class matches exactly");
    }
}
