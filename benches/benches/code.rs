//! Outlines, the index and questions, over the sources of the crates that this machine has
//! downloaded: as many as make a million lines.
//!
//! `cargo bench -p telltale-benches --bench code`
#![allow(clippy::unwrap_used, reason = "a failing bench may panic")]

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use telltale_benches::sources::{Sources, built};
use telltale_server::areas::repositories::source;

const QUESTIONS: [&str; 5] = [
    "How are connections pooled?",
    "where is the retry delay computed",
    "What does parse_header do when the value is invalid?",
    "convert a timestamp to a calendar date",
    "Which errors can a decoder return?",
];

fn outlines(criterion: &mut Criterion) {
    let sources = Sources::of_crates(50_000);
    let mut group = criterion.benchmark_group("outline");
    group.throughput(Throughput::Elements(sources.lines)).sample_size(10);
    group.bench_function("50k_lines", |bench| {
        bench.iter(|| {
            for (path, text) in &sources.files {
                black_box(source::outline(path, text));
            }
        });
    });
}

fn indexes(criterion: &mut Criterion) {
    let sources = Sources::of_crates(50_000);
    let mut group = criterion.benchmark_group("index");
    group.throughput(Throughput::Elements(sources.lines)).sample_size(10);
    group.bench_function("50k_lines_with_outlines", |bench| bench.iter(|| built(&sources)));
}

fn questions(criterion: &mut Criterion) {
    let sources = Sources::of_crates(1_000_000);
    let index = built(&sources);
    let mut group = criterion.benchmark_group("question");
    group.sample_size(20);
    for (number, question) in QUESTIONS.iter().enumerate() {
        group.bench_function(format!("1m_lines/{number}"), |bench| {
            bench.iter(|| index.search(black_box(question), 10).unwrap());
        });
    }
    group.bench_function("1m_lines/symbol", |bench| {
        bench.iter(|| index.symbols(black_box("from_str"), 10).unwrap());
    });
}

criterion_group!(benches, outlines, indexes, questions);
criterion_main!(benches);
