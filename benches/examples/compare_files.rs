//! Compares two PNG files, and writes the drawing to a third one. With `once` that is all; with a
//! number it is repeated so often, and the times are printed in milliseconds as lines of JSON: the
//! comparison alone, with decoding, and with the drawing encoded. With `pages`, writes two files to
//! compare: a page, and the same page with some other lines.
//!
//! `cargo run --release -p telltale-benches --example compare_files -- <baseline> <snapshot> \
//! <drawing> <times>`, or `-- pages <baseline> <snapshot>`
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a program for measurements")]

use std::time::Duration;

use telltale_benches::pages::page;
use telltale_server::areas::snapshots::compare::{CompareOptions, Picture, compare, compare_png};
use telltale_tests::Stopwatch;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["pages", baseline, snapshot] => {
            std::fs::write(baseline, page(None).to_png().unwrap()).unwrap();
            std::fs::write(snapshot, page(Some(40)).to_png().unwrap()).unwrap();
        }
        [baseline, snapshot, drawing, "once"] => once([baseline, snapshot], drawing),
        [baseline, snapshot, drawing, times] => {
            for _ in 0..times.parse().unwrap() {
                measure([baseline, snapshot], drawing);
            }
        }
        _ => panic!("three or four arguments"),
    }
}

fn once(files: [&str; 2], drawing: &str) {
    let files = files.map(|path| std::fs::read(path).unwrap());
    let difference = compare_png(&files[0], &files[1], &CompareOptions::default()).unwrap();
    std::fs::write(drawing, difference.picture.to_png().unwrap()).unwrap();
}

fn measure(files: [&str; 2], drawing: &str) {
    let options = CompareOptions::default();
    let start = Stopwatch::start();
    let files = files.map(|path| std::fs::read(path).unwrap());
    let difference = compare_png(&files[0], &files[1], &options).unwrap();
    let compared = start.elapsed();
    let file = difference.picture.to_png().unwrap();
    std::fs::write(drawing, &file).unwrap();
    let all = start.elapsed();
    let pictures = files.map(|file| Picture::from_png(&file).unwrap());
    let start = Stopwatch::start();
    let again = compare(&pictures[0], &pictures[1], &options).unwrap();
    let alone = start.elapsed();
    assert_eq!(again.diff_pixels, difference.diff_pixels);
    let ms = |time: Duration| time.as_secs_f64() * 1_000.0;
    println!(
        "{{\"diff\": {:.3}, \"decode_and_diff\": {:.3}, \"all\": {:.3}, \"count\": {}, \"bytes\": {}}}",
        ms(alone),
        ms(compared),
        ms(all),
        difference.diff_pixels,
        file.len()
    );
}
