//! Two captures of a page of 1280 x 8000 pixels: the difference alone, with decoding, and encoding.
//!
//! `cargo bench -p telltale-benches --bench snapshots`
#![allow(clippy::unwrap_used, reason = "a failing bench may panic")]

use std::hint::black_box;
use std::num::NonZeroUsize;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use telltale_benches::pages::{PAGE_HEIGHT, PAGE_WIDTH, page};
use telltale_server::areas::snapshots::compare::{CompareOptions, Picture, compare, compare_png};

fn differences(criterion: &mut Criterion) {
    let options = CompareOptions::default();
    let one_thread = options.clone().with_threads_max(NonZeroUsize::MIN);
    let baseline = page(None);
    let mut group = criterion.benchmark_group("difference");
    group.throughput(Throughput::Elements(u64::from(PAGE_WIDTH * PAGE_HEIGHT))).sample_size(20);
    for (name, snapshot) in [
        ("equal", page(None)),
        ("one_line_of_40_changed", page(Some(40))),
        (
            "all_lines_changed",
            Picture::from_rgba(PAGE_WIDTH, PAGE_HEIGHT, shifted(&baseline)).unwrap(),
        ),
    ] {
        group.bench_function(name, |bench| {
            bench.iter(|| compare(black_box(&baseline), &snapshot, &options).unwrap());
        });
        group.bench_function(format!("{name}/one_thread"), |bench| {
            bench.iter(|| compare(black_box(&baseline), &snapshot, &one_thread).unwrap());
        });
    }
}

/// Returns the page moved down by three rows.
fn shifted(picture: &Picture) -> Vec<u8> {
    let mut rgba = picture.rgba().to_vec();
    rgba.rotate_right(3 * 4 * PAGE_WIDTH as usize);
    rgba
}

fn files(criterion: &mut Criterion) {
    let options = CompareOptions::default();
    let (baseline, snapshot) = (page(None), page(Some(40)));
    let files = [&baseline, &snapshot].map(|picture| picture.to_png().unwrap());
    let drawing = compare(&baseline, &snapshot, &options).unwrap().picture;
    let mut group = criterion.benchmark_group("png");
    group.throughput(Throughput::Elements(u64::from(PAGE_WIDTH * PAGE_HEIGHT))).sample_size(10);
    group.bench_function("decode_one", |bench| {
        bench.iter(|| Picture::from_png(black_box(&files[0])).unwrap());
    });
    group.bench_function("decode_both_and_compare", |bench| {
        bench.iter(|| compare_png(black_box(&files[0]), &files[1], &options).unwrap());
    });
    group.bench_function("encode_page", |bench| bench.iter(|| baseline.to_png().unwrap()));
    group.bench_function("encode_drawing", |bench| bench.iter(|| drawing.to_png().unwrap()));
}

criterion_group!(benches, differences, files);
criterion_main!(benches);
