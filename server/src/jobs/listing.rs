//! The list of jobs that are not over: which of them are wanted, and a page of them.

use telltale_engine::MemoryShare;

use super::model::{JobDetail, JobId, JobStatus, Whose};

/// Which jobs are wanted: those that wait or run and fit all that is given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JobFilter {
    /// What is known without reading them.
    pub standing: JobStanding,
    /// Of this class.
    pub class: Option<String>,
    /// With this text in their class or arguments, in any case.
    pub search: Option<String>,
}

/// Where the wanted jobs stand.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JobStanding {
    /// In this queue.
    pub queue: Option<String>,
    /// With this status: ready, scheduled, retrying or running.
    pub status: Option<JobStatus>,
    /// In whose queues.
    pub whose: Whose,
}

/// A page of jobs, the last to be enqueued first. It may have fewer jobs than it has places although others follow: a request looks at
/// so many jobs and no more.
#[derive(Debug)]
pub struct JobPage {
    /// The page, without what failed of the jobs.
    pub jobs: Vec<JobDetail>,
    /// Of the account of memory, for the arguments of these jobs.
    pub memory: MemoryShare,
    /// Where the next page begins: below this job. Nothing where all were looked at.
    pub next: Option<JobId>,
}

impl JobFilter {
    /// Whether it is seen without reading a job whether it fits.
    pub(super) fn reads_nothing(&self) -> bool {
        self.class.is_none() && self.search.is_none()
    }

    /// Returns what decides whether a job with a class and arguments fits, as far as these say.
    pub(super) fn matcher(&self) -> impl Fn(&str, &str) -> bool {
        let search = self.search.as_deref().map(str::to_lowercase);
        move |class, arguments| {
            let is_found = |text: &str| {
                let has = |whole: &str| whole.to_lowercase().contains(text);
                has(class) || has(arguments)
            };
            self.class.as_deref().is_none_or(|wanted| wanted == class)
                && search.as_deref().is_none_or(is_found)
        }
    }
}

impl JobStatus {
    /// The status of jobs that wait or run, by the name on the wire; `waiting` is another name of `ready`.
    pub fn parse_standing(text: &str) -> Option<Self> {
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
    fn a_search_is_of_classes_and_arguments_in_any_case() {
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
        assert!(fits(filter(Some("Mail::Welcome"), Some("ADA"))));
        assert!(!fits(filter(Some("mail::welcome"), None)), "a class is itself");
    }
}
