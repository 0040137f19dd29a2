//! Runs pixelmatch in Node.

use std::path::Path;

use telltale_server::areas::snapshots::compare::{CompareOptions, Picture, compare};
use telltale_tests::node;

const PACKAGES: [&str; 1] = ["pixelmatch@7.2.0"];
const SCRIPT: &str = include_str!("compare.js");

/// Two pictures of the same size.
#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) baseline: Picture,
    pub(crate) snapshot: Picture,
    pub(crate) threshold: f64,
}

/// What pixelmatch finds.
#[derive(Debug)]
pub(crate) struct Expected {
    pub(crate) count: u32,
    pub(crate) drawing: Vec<u8>,
}

/// Fails unless all cases have the count and the drawing of pixelmatch.
#[track_caller]
pub(crate) fn check(cases: &[Case]) {
    for (number, (case, expected)) in cases.iter().zip(run(cases)).enumerate() {
        let options = CompareOptions::default().with_threshold(case.threshold).unwrap();
        let difference = compare(&case.baseline, &case.snapshot, &options).unwrap();
        let size = [case.baseline.width(), case.baseline.height()];
        let name = format!("case {number}, {size:?}, threshold {}", case.threshold);
        assert_eq!(difference.diff_pixels, u64::from(expected.count), "{name}");
        let drawing = difference.picture.to_rgba();
        let wrong = drawing.iter().zip(&expected.drawing).position(|(found, byte)| found != byte);
        assert_eq!(wrong, None, "{name}");
    }
}

/// Returns what pixelmatch finds in each case.
#[track_caller]
pub(crate) fn run(cases: &[Case]) -> Vec<Expected> {
    let folder = tempfile::tempdir().unwrap();
    let [input, output] = ["input", "output"].map(|name| folder.path().join(name));
    std::fs::write(&input, encode(cases)).unwrap();
    node(&PACKAGES, SCRIPT, [&input, &output].map(|path| path.to_str().unwrap()));
    let results = std::fs::read(&output).unwrap();
    let mut rest = &results[..];
    let result = |case: &Case| {
        let (count, drawing) = rest.split_first_chunk().unwrap();
        let (drawing, others) = drawing.split_at(case.baseline.rgba().len());
        rest = others;
        Expected { count: u32::from_le_bytes(*count), drawing: drawing.to_vec() }
    };
    cases.iter().map(result).collect()
}

/// Returns a picture of the tests of pixelmatch.
pub(crate) fn fixture(name: &str) -> Picture {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/pixelmatch");
    Picture::from_png(&std::fs::read(folder.join(format!("{name}.png"))).unwrap()).unwrap()
}

/// Returns two pictures of the tests of pixelmatch, which belong together.
pub(crate) fn fixture_pair(number: u32) -> [Picture; 2] {
    ["a", "b"].map(|letter| fixture(&format!("{number}{letter}")))
}

fn encode(cases: &[Case]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for case in cases {
        bytes.extend(case.baseline.width().to_le_bytes());
        bytes.extend(case.baseline.height().to_le_bytes());
        bytes.extend(case.threshold.to_le_bytes());
        bytes.extend(case.baseline.rgba());
        bytes.extend(case.snapshot.rgba());
    }
    bytes
}
