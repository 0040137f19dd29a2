//! The performance targets of Telltale, and whether they are met.

use super::facts::{Best, Facts, least_of, most_of};
use super::markdown::{Table, number, ratio};
use super::queries;
use super::space::WEIGHED;
use crate::results::{Load, Row};

const US: &str = "telltale";

/// Whether lower or higher values meet a target.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Good {
    AtMost,
    AtLeast,
}

/// The value that is compared with the bounds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Bound {
    /// The ratio to the best peer.
    Ratio,
    /// The measured number.
    Number,
    /// The ratio for the required bound, the measured number for the aim.
    RatioThenNumber,
}

/// A row of the table.
struct Target {
    what: String,
    /// The part of the comparison.
    part: &'static str,
    must: f64,
    aim: f64,
    good: Good,
    bound: Bound,
    us: Option<f64>,
    best: Option<Best>,
}

/// Returns the table of all targets.
pub(crate) fn table(facts: &Facts) -> String {
    let mut table = Table::new(&[
        "what",
        "must",
        "aim",
        "telltale",
        "best peer",
        "ratio",
        "must met",
        "aim met",
    ]);
    let mut targets = ingest(facts);
    targets.extend(space(facts));
    targets.extend(questions(facts));
    targets.extend(growth(facts));
    for target in targets {
        table.row(target.row(facts));
    }
    table.finish()
}

fn ingest(facts: &Facts) -> Vec<Target> {
    let load =
        |peer: &str, format: &str, per: usize| facts.load("tsbs-small", peer, "", format, per);
    let cpu = |what: &str, format: &str, per: usize, must: f64, aim: f64| {
        let cpu = |peer: &str| load(peer, format, per).and_then(|load| load.cpu_all());
        Target {
            what: format!("{what}: CPU s/M, flush and merge included"),
            part: "tsbs-small",
            must,
            aim,
            good: Good::AtMost,
            bound: Bound::Ratio,
            us: cpu(US),
            best: least_of(cpu),
        }
    };
    let rate = |what: &str, format: &str, per: usize, must: f64, aim: f64| {
        let rate = |peer: &str| load(peer, format, per).map(|load| load.per_second());
        Target {
            what: format!("{what}, synced before the answer: points/s"),
            part: "tsbs-small",
            must,
            aim,
            good: Good::AtLeast,
            bound: Bound::Ratio,
            us: rate(US),
            best: most_of(rate),
        }
    };
    let events = |peer: &str| {
        let loads = facts.loads("events", peer).into_iter().map(|(load, _)| load);
        loads.filter(|load| load.set == "events").find_map(|load| load.cpu_all())
    };
    let json = load(US, "JSON", 500).and_then(|load| load.cpu_all());
    vec![
        cpu("lines of one field, 500 a request", "lines", 500, 0.45, 0.35),
        rate("lines of one field, 500 a request", "lines", 500, 1.2, 1.6),
        cpu("remote write, 500 samples a request", "remote write", 500, 0.45, 0.35),
        rate("remote write, 500 samples a request", "remote write", 500, 1.2, 1.6),
        cpu("lines of one field, 5 000 a request", "lines", 5_000, 0.7, 0.35),
        cpu("lines of ten fields, 5 000 points a request", "wide lines", 500, 0.33, 0.25),
        cpu("remote write, 5 000 samples a request", "remote write", 5_000, 0.8, 0.4),
        Target {
            what: "JSON batches of 500: items in a CPU second".to_owned(),
            part: "tsbs-small",
            must: 1e6 / 0.85,
            aim: 2e6,
            good: Good::AtLeast,
            bound: Bound::Number,
            us: json.map(|cpu| 1e6 / cpu),
            best: None,
        },
        rate("lines of one field, 5 000 a request", "lines", 5_000, 1.0, 2.0),
        Target {
            what: "events in JSON (peers: columns in memory): CPU s/M, flush and merge included"
                .to_owned(),
            part: "events",
            must: 1.3,
            aim: 0.9,
            good: Good::AtMost,
            bound: Bound::Ratio,
            us: events(US),
            best: least_of(events),
        },
    ]
}

fn space(facts: &Facts) -> Vec<Target> {
    let bytes = |part: &'static str, must: f64, aim: f64, bound: Bound| {
        let bytes = |peer: &str| facts.bytes_per_point(part, peer);
        let (us, best) = (bytes(US), least_of(bytes));
        let what = format!("{part}: bytes per point, every file counted");
        Target { what, part, must, aim, good: Good::AtMost, bound, us, best }
    };
    let memory = |peer: &str| {
        let load = facts.load("tsbs-small", peer, "", "lines", 5_000);
        load.map(|load: Load| load.memory_mb)
    };
    let [small, medium, doubles, mix, latencies, _] = WEIGHED;
    vec![
        bytes(small, 0.85, 0.27, Bound::RatioThenNumber),
        bytes(medium, 1.0, 0.30, Bound::RatioThenNumber),
        bytes(doubles, 1.0, 0.95, Bound::Ratio),
        bytes(mix, 0.8, 0.5, Bound::Number),
        bytes(latencies, 0.5, 0.1, Bound::Number),
        Target {
            what: "peak memory of a load of lines, MB".to_owned(),
            part: small,
            must: 1.0,
            aim: 0.6,
            good: Good::AtMost,
            bound: Bound::Ratio,
            us: memory(US),
            best: least_of(memory),
        },
    ]
}

fn questions(facts: &Facts) -> Vec<Target> {
    let queries = [
        ("tsbs-small", "q4", 0.4, 0.25),
        ("tsbs-medium", "q1", 0.6, 0.3),
        ("tsbs-medium", "q2", 0.6, 0.3),
        ("tsbs-medium", "q3", 1.0, 0.3),
        ("tsbs-medium", "q4", 0.4, 0.25),
        ("latencies", "q5", 0.3, 0.04),
        ("events", "q6", 0.7, 0.3),
        ("events", "q6 approximate", 1.0, 0.3),
        ("events", "q7", 1.0, 0.3),
        ("events", "q8", 1.0, 0.3),
        ("events", "q9", 1.0, 0.3),
    ];
    let mut targets: Vec<Target> =
        ["tsbs-small", "tsbs-medium"].map(|part| before_a_merge(facts, part)).into();
    for (part, shape, must, aim) in queries {
        let p50 = |peer: &str| queries::p50(facts, part, peer, shape);
        targets.push(Target {
            what: format!("{shape} of {part}: p50 ms"),
            part,
            must,
            aim,
            good: Good::AtMost,
            bound: Bound::Ratio,
            us: p50(US),
            best: least_of(p50),
        });
    }
    let throughput = |peer: &str| facts.throughput("tsbs-small", peer);
    targets.push(Target {
        what: "queries of single series, two connections: a second".to_owned(),
        part: "tsbs-small",
        must: 1.2,
        aim: 2.0,
        good: Good::AtLeast,
        bound: Bound::Ratio,
        us: throughput(US),
        best: most_of(throughput),
    });
    targets
}

/// Returns the target of `q2` while most blocks of Telltale are not merged.
fn before_a_merge(facts: &Facts, part: &'static str) -> Target {
    Target {
        what: format!("q2 of {part} before a merge: p50 ms"),
        part,
        must: 1.0,
        aim: 0.6,
        good: Good::AtMost,
        bound: Bound::Ratio,
        us: facts.query(part, US, "q2", "raw").map(|query| query.p50_ms),
        best: least_of(|peer| queries::p50(facts, part, peer, "q2")),
    }
}

fn growth(facts: &Facts) -> Vec<Target> {
    let series = |peer: &str, set: &str| {
        let loads = facts.loads("cardinality", peer).into_iter().map(|(load, _)| load);
        loads.into_iter().find(|load| load.set == set)
    };
    let bytes_per_series = |peer: &str| {
        let (few, many) = (series(peer, "1000 series")?, series(peer, "1000000 series")?);
        Some((many.memory_mb - few.memory_mb) * f64::from(1 << 20) / 999_000.0)
    };
    let growth = |peer: &str| {
        let (few, many) = (series(peer, "1000 series")?, series(peer, "1000000 series")?);
        Some(many.cpu(many.cpu_ack) / few.cpu(few.cpu_ack))
    };
    let rate_share = |peer: &str| {
        let loads = facts.loads("late", peer);
        let rate =
            |set: &str| loads.iter().find(|(l, _)| l.set == set).map(|(l, _)| l.per_second());
        Some(rate("10 % late")? / rate("on time")?)
    };
    let start = |peer: &str| start_with_a_million_series(facts, peer);
    let number = |part, what: &str, must, aim, good, us, best| Target {
        what: what.to_owned(),
        part,
        must,
        aim,
        good,
        bound: Bound::Number,
        us,
        best,
    };
    vec![
        number(
            "cardinality",
            "peak memory of a million series over that of a thousand, bytes a series",
            500.0,
            300.0,
            Good::AtMost,
            bytes_per_series(US),
            least_of(bytes_per_series),
        ),
        number(
            "late",
            "a tenth of the points a day late: share of the rate kept",
            0.75,
            0.9,
            Good::AtLeast,
            rate_share(US),
            most_of(rate_share),
        ),
        number(
            "cardinality",
            "CPU of a point in a million series over that in a thousand",
            1.5,
            1.3,
            Good::AtMost,
            growth(US),
            least_of(growth),
        ),
        number(
            "cardinality",
            "start with a million series, s",
            0.8,
            0.3,
            Good::AtMost,
            start(US),
            least_of(start),
        ),
    ]
}

/// Returns the seconds from a start to the first response.
fn start_with_a_million_series(facts: &Facts, peer: &str) -> Option<f64> {
    facts.rows("cardinality", peer).iter().find_map(|row| match row {
        Row::Restart(restart) => Some(restart.ready_s),
        _ => None,
    })
}

impl Target {
    fn row(&self, facts: &Facts) -> Vec<String> {
        let sign = if self.good == Good::AtMost { "≤" } else { "≥" };
        let formatted = |bound: f64, is_ratio: bool| {
            let bound = if bound < 1e3 { bound.to_string() } else { number(bound) };
            format!("{sign} {bound}{}", if is_ratio { "×" } else { "" })
        };
        let best = self.best.map(|best| best.value);
        let ratio_to_best = self.us.zip(best).map(|(us, best)| us / best);
        let must = if self.bound == Bound::Number { self.us } else { ratio_to_best };
        let aim = if self.bound == Bound::Ratio { ratio_to_best } else { self.us };
        let maybe = |value: Option<f64>| value.map_or("–".to_owned(), number);
        vec![
            self.what.clone(),
            formatted(self.must, self.bound != Bound::Number),
            formatted(self.aim, self.bound == Bound::Ratio),
            maybe(self.us),
            self.best.map_or("–".to_owned(), |best| {
                format!("{} ({})", number(best.value), facts.version(self.part, best.peer))
            }),
            ratio(self.us, best),
            self.met(must, self.must),
            self.met(aim, self.aim),
        ]
    }

    fn met(&self, value: Option<f64>, bound: f64) -> String {
        let Some(value) = value else { return "–".to_owned() };
        let met = if self.good == Good::AtMost { value <= bound } else { value >= bound };
        if met { "yes" } else { "**no**" }.to_owned()
    }
}
