//! The nine questions, in no peer's language. `q1` to `q4` are asked of the cpu sets, `q5` of
//! latencies, the others of events.

use crate::data::{HOUR_MS, LATENCY, T0_MS, USERS};

const FIVE: [&str; 5] = ["usage_user", "usage_system", "usage_idle", "usage_nice", "usage_iowait"];
/// How far the questions about the fleet, latencies and events look.
const SIX_HOURS: usize = 6;

/// What becomes of the values of a bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Aggregate {
    Average,
    Maximum,
    /// The 50th, 95th and 99th percentile of all values pooled.
    Percentiles,
    /// How many different ones.
    Distinct,
}

/// Buckets of values over a half-open range.
#[derive(Clone, Debug)]
pub(crate) struct MetricQuestion {
    pub(crate) metrics: Vec<&'static str>,
    pub(crate) host: Option<String>,
    pub(crate) group_by: Option<&'static str>,
    pub(crate) aggregate: Aggregate,
    pub(crate) step_s: i64,
    pub(crate) from_ms: i64,
    pub(crate) to_ms: i64,
}

/// Questions about all six hours of events.
#[derive(Clone, Debug)]
pub(crate) enum EventQuestion {
    /// How many users were there, by hour?
    UsersByHour,
    /// The newest hundred whose name begins so, of one country.
    Newest {
        prefix: &'static str,
        country: String,
    },
    CountsByCountryAndHour,
    /// Count, sum, average, extremes and three percentiles of the values of one name.
    Statistics {
        name: &'static str,
    },
}

/// A question as it is asked once.
#[derive(Clone, Debug)]
pub(crate) enum Question {
    Metric(MetricQuestion),
    Event(EventQuestion),
}

/// One of the nine; hosts and hours differ from one time to the next.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(crate) name: &'static str,
    hosts: usize,
    hours: usize,
}

/// What is asked of a set.
#[derive(Clone, Copy)]
pub(crate) enum Asked {
    Cpu {
        hosts: usize,
        hours: usize,
    },
    Latencies,
    Events,
    /// The users of the events, kept as a set metric.
    EventUsers,
}

/// The shapes that are asked of a set.
pub(crate) fn shapes(of: Asked) -> Vec<Shape> {
    let (names, hosts, hours): (&[&'static str], _, _) = match of {
        Asked::Cpu { hosts, hours } => (&["q1", "q2", "q3", "q4"], hosts, hours),
        Asked::Latencies => (&["q5"], 1, SIX_HOURS),
        Asked::Events => (&["q6", "q7", "q8", "q9"], 1, SIX_HOURS),
        Asked::EventUsers => (&["q6 approximate"], 1, SIX_HOURS),
    };
    names.iter().map(|name| Shape { name, hosts, hours }).collect()
}

impl Shape {
    /// The minutes of the last hour of a host: whole only when nothing was lost.
    pub(crate) fn last_hour(self) -> Question {
        match self.question(0) {
            Question::Metric(question) => {
                let to_ms = T0_MS + self.hours as i64 * HOUR_MS;
                Question::Metric(MetricQuestion { from_ms: to_ms - HOUR_MS, to_ms, ..question })
            }
            event @ Question::Event(_) => event,
        }
    }

    /// The question as it is asked the `time`-th time.
    pub(crate) fn question(self, time: usize) -> Question {
        let at = |hours: usize| T0_MS + hours as i64 * HOUR_MS;
        let host = Some(format!("host_{}", time * 7 % self.hosts));
        let all = MetricQuestion {
            metrics: vec!["usage_user"],
            host: None,
            group_by: None,
            aggregate: Aggregate::Average,
            step_s: 3_600,
            from_ms: T0_MS,
            to_ms: at(self.hours),
        };
        match self.name {
            "q1" => {
                let hour = time % self.hours.min(5);
                let (from_ms, to_ms) = (at(hour), at(hour + 1));
                Question::Metric(MetricQuestion { host, step_s: 60, from_ms, to_ms, ..all })
            }
            "q2" => {
                let (metrics, aggregate) = (FIVE.to_vec(), Aggregate::Maximum);
                Question::Metric(MetricQuestion { metrics, host, aggregate, ..all })
            }
            "q3" => Question::Metric(MetricQuestion { group_by: Some("hostname"), ..all }),
            "q4" => {
                let to_ms = at(self.hours.min(SIX_HOURS));
                let group_by = Some("region");
                Question::Metric(MetricQuestion { group_by, step_s: 300, to_ms, ..all })
            }
            "q5" => {
                let (metrics, aggregate) = (vec![LATENCY], Aggregate::Percentiles);
                Question::Metric(MetricQuestion { metrics, aggregate, step_s: 300, ..all })
            }
            "q6" => Question::Event(EventQuestion::UsersByHour),
            "q6 approximate" => {
                let (metrics, aggregate) = (vec![USERS], Aggregate::Distinct);
                Question::Metric(MetricQuestion { metrics, aggregate, ..all })
            }
            "q7" => Question::Event(EventQuestion::Newest {
                prefix: "checkout.",
                country: format!("C{:02}", time % 10),
            }),
            "q8" => Question::Event(EventQuestion::CountsByCountryAndHour),
            _ => Question::Event(EventQuestion::Statistics { name: "checkout.pay" }),
        }
    }
}
