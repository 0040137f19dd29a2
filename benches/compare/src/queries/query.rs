//! The ten queries, independent of a query language. `q1` to `q4` and
//! `q10` query the cpu sets, `q5` the latencies, the others events.

use crate::data::{HOUR_MS, LATENCY, MEASUREMENT, T0_MS, USERS};

const FIVE: [&str; 5] = ["usage_user", "usage_system", "usage_idle", "usage_nice", "usage_iowait"];
/// Hours that queries of all hosts, latencies and events cover.
const SIX_HOURS: usize = 6;

/// The aggregate of the values in a bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Aggregate {
    Average,
    Maximum,
    /// The 50th, 95th and 99th percentile of all values pooled.
    Percentiles,
    /// The number of distinct values.
    Distinct,
}

/// Aggregates by bucket over a half-open time range.
#[derive(Clone, Debug)]
pub(crate) struct MetricQuery {
    /// The measurement of the lines, if the metrics were their fields.
    pub(crate) measurement: Option<&'static str>,
    pub(crate) metrics: Vec<&'static str>,
    pub(crate) host: Option<String>,
    pub(crate) group_by: Option<&'static str>,
    pub(crate) aggregate: Aggregate,
    pub(crate) step_s: i64,
    pub(crate) from_ms: i64,
    pub(crate) to_ms: i64,
}

/// Queries of all six hours of events.
#[derive(Clone, Debug)]
pub(crate) enum EventQuery {
    /// Distinct users by hour.
    UsersByHour,
    /// The newest hundred events of one country whose names begin with `prefix`.
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

/// One query with its parameters.
#[derive(Clone, Debug)]
pub(crate) enum Query {
    Metric(MetricQuery),
    Event(EventQuery),
}

/// One of the ten queries; hosts and hours vary between repetitions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(crate) name: &'static str,
    hosts: usize,
    hours: usize,
    measurement: Option<&'static str>,
}

/// The queries of a data set.
#[derive(Clone, Copy)]
pub(crate) enum QuerySet {
    Cpu {
        hosts: usize,
        hours: usize,
    },
    /// Many days of the cpu set, sent as lines with ten fields.
    Days {
        hosts: usize,
        days: usize,
    },
    /// The cpu set with hosts that are replaced.
    Churn {
        hosts: usize,
        hours: usize,
    },
    Latencies,
    Events,
    /// The users of the events, stored as a set metric.
    EventUsers,
}

/// Returns the shapes of a data set.
pub(crate) fn shapes(of: QuerySet) -> Vec<Shape> {
    let (names, hosts, hours): (&[&'static str], _, _) = match of {
        QuerySet::Cpu { hosts, hours } => (&["q1", "q2", "q3", "q4"], hosts, hours),
        QuerySet::Days { hosts, days } => (&["q1", "q2", "q3", "q10"], hosts, days * 24),
        QuerySet::Churn { hosts, hours } => (&["q1", "q2", "q4"], hosts, hours),
        QuerySet::Latencies => (&["q5"], 1, SIX_HOURS),
        QuerySet::Events => (&["q6", "q7", "q8", "q9"], 1, SIX_HOURS),
        QuerySet::EventUsers => (&["q6 approximate"], 1, SIX_HOURS),
    };
    let measurement = matches!(of, QuerySet::Days { .. }).then_some(MEASUREMENT);
    names.iter().map(|name| Shape { name, hosts, hours, measurement }).collect()
}

impl MetricQuery {
    /// Returns the names of the metrics for a peer that puts the measurement and `between` before
    /// those of fields.
    pub(crate) fn names(&self, between: char) -> Vec<String> {
        let before = self.measurement.map_or(String::new(), |name| format!("{name}{between}"));
        self.metrics.iter().map(|metric| format!("{before}{metric}")).collect()
    }
}

impl Shape {
    /// Returns a query of the last hour of a host by minute, complete only when no point was lost.
    pub(crate) fn last_hour(self) -> Query {
        match self.query(0) {
            Query::Metric(query) => {
                let to_ms = T0_MS + self.hours as i64 * HOUR_MS;
                Query::Metric(MetricQuery { from_ms: to_ms - HOUR_MS, to_ms, ..query })
            }
            event @ Query::Event(_) => event,
        }
    }

    /// Returns the query of repetition `time`.
    pub(crate) fn query(self, time: usize) -> Query {
        let at = |hours: usize| T0_MS + hours as i64 * HOUR_MS;
        let host = Some(format!("host_{}", time * 7 % self.hosts));
        let all = MetricQuery {
            measurement: self.measurement,
            metrics: FIVE.first().copied().into_iter().collect(),
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
                Query::Metric(MetricQuery { host, step_s: 60, from_ms, to_ms, ..all })
            }
            "q2" => {
                let (metrics, aggregate) = (FIVE.to_vec(), Aggregate::Maximum);
                Query::Metric(MetricQuery { metrics, host, aggregate, ..all })
            }
            "q3" => Query::Metric(MetricQuery { group_by: Some("hostname"), ..all }),
            "q4" => {
                let to_ms = at(self.hours.min(SIX_HOURS));
                let group_by = Some("region");
                Query::Metric(MetricQuery { group_by, step_s: 300, to_ms, ..all })
            }
            "q10" => Query::Metric(MetricQuery { group_by: Some("region"), step_s: 86_400, ..all }),
            "q5" => {
                let (metrics, aggregate) = (vec![LATENCY], Aggregate::Percentiles);
                Query::Metric(MetricQuery { metrics, aggregate, step_s: 300, ..all })
            }
            "q6" => Query::Event(EventQuery::UsersByHour),
            "q6 approximate" => {
                let (metrics, aggregate) = (vec![USERS], Aggregate::Distinct);
                Query::Metric(MetricQuery { metrics, aggregate, ..all })
            }
            "q7" => Query::Event(EventQuery::Newest {
                prefix: "checkout.",
                country: format!("C{:02}", time % 10),
            }),
            "q8" => Query::Event(EventQuery::CountsByCountryAndHour),
            _ => Query::Event(EventQuery::Statistics { name: "checkout.pay" }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_of_a_month_have_the_measurement_in_their_names_and_others_not() {
        let names = |set: QuerySet| match shapes(set).first().map(|shape| shape.query(0)) {
            Some(Query::Metric(query)) => (query.names('.'), query.names('_')),
            _ => Default::default(),
        };
        let of = |names: [&str; 2]| names.map(|name| vec![name.to_owned()]).into();
        assert_eq!(
            names(QuerySet::Days { hosts: 1, days: 1 }),
            of(["cpu.usage_user", "cpu_usage_user"])
        );
        assert_eq!(names(QuerySet::Cpu { hosts: 1, hours: 1 }), of(["usage_user", "usage_user"]));
    }
}
