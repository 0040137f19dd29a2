//! The table of the parts.

use super::peer_server::Context;
use super::{bulk, cardinality, churn, events, late, month, tsbs};
use crate::data::Set;
use crate::options::Scale;
use crate::outcome::Outcome;
use crate::peers::Peer;
use crate::results::Cell;

/// A part: its data set and its steps.
pub(crate) struct Part {
    pub(crate) name: &'static str,
    /// The description of its data set in the report.
    pub(crate) about: &'static str,
    pub(crate) set: fn(Scale) -> Set,
    pub(crate) serve: fn(&Context, &dyn Peer, Set, &mut Cell) -> Outcome<()>,
    /// Whether engines without a server can run it.
    pub(crate) embedded: bool,
    /// How often it runs in each run of the peers that are measured repeatedly.
    pub(crate) repeats: usize,
}

/// All parts, in the order of the report.
pub(crate) const PARTS: &[Part] = &[
    Part {
        name: "tsbs-small",
        about: "100 hosts × 10 metrics × 12 h at 10 s, integers (entropy of their changes 0.27 bytes a point): 4.32 M points, 1 000 series",
        set: |_| Set::cpu(100, 12),
        serve: tsbs::small,
        embedded: true,
        // Its loads take seconds, in which a shared machine can be half as fast as a minute later.
        repeats: 3,
    },
    Part {
        name: "tsbs-medium",
        about: "1 000 hosts × 10 metrics at 10 s, integers, 10 000 series: 2 h (7.2 M points), at full scale 6 h (21.6 M)",
        set: |scale| Set::cpu(1_000, scale.pick(2, 6)),
        serve: tsbs::medium,
        embedded: true,
        repeats: 1,
    },
    Part {
        name: "doubles",
        about: "the hosts of tsbs-small as full doubles, the worst case of every codec: 4 h (1.44 M points), at full scale 12 h (4.32 M)",
        set: |scale| Set::doubles(100, scale.pick(4, 12)),
        serve: bulk::serve,
        embedded: true,
        repeats: 1,
    },
    Part {
        name: "mix",
        about: "100 agents × 100 metrics at 10 s with millisecond jitter: a quarter constant, a quarter slow counters, 30 % walks and 20 % noise in hundredths (entropy of the values 0.37 bytes a point): 1 h (3.6 M points), at full scale 6 h (21.6 M)",
        set: |scale| Set::Mix { agents: 100, steps: scale.pick(360, 6 * 360) },
        serve: bulk::serve,
        embedded: true,
        repeats: 1,
    },
    Part {
        name: "latencies",
        about: "log-normal latencies with 3 decimals of 200 series over 6 h: 4 M, at full scale 20 M",
        set: |scale| Set::Latencies { steps: scale.pick(20_000, 100_000) },
        serve: bulk::latencies,
        embedded: true,
        repeats: 1,
    },
    Part {
        name: "events",
        about: "events over 6 h: 20 names, 100 000 users, 50 countries, a small object: 1 M, at full scale 5 M",
        set: |scale| Set::Events { count: scale.pick(1_000_000, 5_000_000) },
        serve: events::serve,
        embedded: true,
        repeats: 1,
    },
    Part {
        name: "late",
        about: "a day of tsbs-small on top of the day before, on time, and with 10 % of the points a day late",
        set: |scale| Set::cpu(100, scale.pick(6, 12)),
        serve: late::serve,
        embedded: false,
        repeats: 1,
    },
    Part {
        name: "cardinality",
        about: "the same number of points in 1 000, 10 000, 100 000 and a million series",
        set: |scale| Set::series(1_000, 1, scale.pick(1_000, 4_000)),
        serve: cardinality::serve,
        embedded: false,
        // Its loads take a second, in which a seal more or less makes a difference.
        repeats: 3,
    },
    Part {
        name: "month",
        about: "100 hosts × 10 metrics with a point a minute, integers, 1 000 series: 10 days (14.4 M points), at full scale 30 days (43.2 M)",
        set: |scale| Set::days(100, month::days(scale)),
        serve: month::serve,
        embedded: false,
        repeats: 1,
    },
    Part {
        name: "churn",
        about: "1 000 hosts × 10 metrics at 10 s, integers, 10 000 active series that are all replaced every 10 minutes: 1 h (3.6 M points, 60 000 series), at full scale 2 h (7.2 M, 120 000)",
        set: |scale| Set::churn(1_000, scale.pick(1, 2), 10),
        serve: churn::serve,
        embedded: false,
        repeats: 1,
    },
];
