//! The ids of jobs, workers and dead jobs.

use std::fmt;

use telltale_engine::TimestampMs;

use crate::platform::ids;

macro_rules! id {
    ($(#[doc = $doc:literal])+ $Id:ident, $prefix:literal) => {
        $(#[doc = $doc])+
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $Id(pub(super) u128);

        impl $Id {
            /// Parses the displayed form.
            pub fn parse(text: &str) -> Option<Self> {
                let ulid = text.strip_prefix($prefix)?;
                // Only the canonical form is accepted: each id has exactly one string.
                ids::parse_ulid(ulid).map(Self).filter(|id| id.to_string() == text)
            }

            /// Returns the key of the records of this id.
            pub(super) fn key(self) -> [u8; 16] {
                self.0.to_be_bytes()
            }

            pub(super) fn from_key(key: &[u8]) -> Option<Self> {
                key.try_into().ok().map(u128::from_be_bytes).map(Self)
            }
        }

        impl fmt::Display for $Id {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                ids::with_ulid_text(self.0, |text| write!(f, "{}{text}", $prefix))
            }
        }

        impl fmt::Debug for $Id {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }
    };
}

id! {
    /// The id of a job.
    JobId, "job_"
}
id! {
    /// The id of a worker.
    WorkerId, "worker_"
}
id! {
    /// The id of a dead job, which differs from its id as a job.
    DeadId, "dead_"
}

/// The id by which a client names a dead job: its own, or the one that it had as a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeadJobId {
    /// Its own id.
    Dead(DeadId),
    /// Its id as a job.
    Job(JobId),
}

impl DeadJobId {
    /// Parses the displayed form of either id.
    pub fn parse(text: &str) -> Option<Self> {
        DeadId::parse(text).map(Self::Dead).or_else(|| JobId::parse(text).map(Self::Job))
    }
}

impl fmt::Display for DeadJobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dead(id) => id.fmt(f),
            Self::Job(id) => id.fmt(f),
        }
    }
}

impl JobId {
    /// Returns the creation time of the id, which is part of it.
    pub(super) fn made_at(self) -> TimestampMs {
        // The upper 48 bits of a ULID.
        TimestampMs(i64::try_from(self.0 >> 80).unwrap_or(0))
    }

    /// Returns the string that proves that its holder holds the job.
    pub fn reservation(self, token: u64) -> String {
        ids::with_ulid_text(self.0, |text| format!("{text}.{token:x}"))
    }

    /// Returns the token in a string from [`Self::reservation`] for this job; `None` for any other
    /// string.
    pub fn token_in(self, reservation: &str) -> Option<u64> {
        let (_, token) = reservation.split_once('.')?;
        let token = u64::from_str_radix(token, 16).ok()?;
        (self.reservation(token) == reservation).then_some(token)
    }
}
