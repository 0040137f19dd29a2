//! Texts, snippets and outlines come out as they went in.

use std::sync::atomic::{AtomicUsize, Ordering};

use proptest::prelude::*;

use super::super::{FileId, IndexError, SourceFile};
use super::generated;
use super::sample::{lines, open, plain, repository};

fn check(files: Vec<SourceFile>) {
    let index = open(files.clone());
    let mut files = files;
    files.sort_by(|left, right| left.path.cmp(&right.path));
    let entries: Vec<_> = index.files().collect();
    assert_eq!(entries.len(), files.len());
    for (file, entry) in files.iter().zip(entries) {
        assert_eq!((entry.path, entry.blob), (file.path.as_str(), file.blob));
        assert_eq!(entry.language, file.outline.language);
        assert_eq!(entry.bytes as usize, file.text.len());
        assert_eq!(index.find(&file.path), Some(entry.id));
        assert_eq!(index.text(entry.id).as_ref(), Ok(&file.text));
        assert_eq!(index.outline(entry.id).as_ref(), Ok(&file.outline));
        let expected: Vec<&str> = file.text.split_inclusive('\n').collect();
        assert_eq!(entry.lines as usize, expected.len());
        for start in 1..=entry.lines {
            for end in start..=(start + 3).min(entry.lines) {
                let joined = expected[start as usize - 1..end as usize].concat();
                let without = joined.strip_suffix('\n');
                let without = without.map(|line| line.strip_suffix('\r').unwrap_or(line));
                let snippet = index.snippet(entry.id, lines(start, end)).unwrap();
                assert_eq!(snippet.as_deref(), Some(without.unwrap_or(&joined)));
            }
        }
        let beyond = lines(entry.lines.max(1), entry.lines + 1);
        assert_eq!(index.snippet(entry.id, beyond), Ok(None));
    }
    assert_eq!(index.counts().files as usize, files.len());
}

#[test]
fn files_come_out_as_they_went_in() {
    check(repository());
    check(Vec::new());
}

#[test]
fn unusual_texts_come_out_as_they_went_in() {
    let long = format!("short\n{}\nend", "word ".repeat(100_000));
    let texts = [
        "",
        "\n",
        "\r\n",
        "\n\n\n",
        "no end",
        "a\r\nb\r\n",
        "a\rb\n",
        "\u{feff}ä 漢字 👩‍👩‍👧\n",
        "\0\n",
        long.as_str(),
    ];
    let numbered = texts.iter().enumerate();
    check(numbered.map(|(number, text)| plain(&format!("file {number}"), text)).collect());
}

#[test]
fn files_of_several_blocks_come_out_as_they_went_in() {
    let text = |seed: u32| -> String {
        (0..3_000_u32)
            .map(|line| format!("{} {line}\n", seed.wrapping_mul(line).wrapping_mul(2_654_435_761)))
            .collect()
    };
    let files: Vec<SourceFile> =
        (0..12).map(|number| plain(&format!("{number}.txt"), &text(number))).collect();
    let index = open(files.clone());
    for file in files {
        assert_eq!(index.text(index.find(&file.path).unwrap()), Ok(file.text));
    }
}

#[test]
fn a_file_of_another_index_is_refused() {
    let index = open(repository());
    let other = FileId(99);
    assert_eq!(index.text(other), Err(IndexError::UnknownFile));
    assert_eq!(index.outline(other), Err(IndexError::UnknownFile));
    assert_eq!(index.snippet(other, lines(1, 1)), Err(IndexError::UnknownFile));
    assert_eq!((index.entry(other), index.find("src/none.rs")), (None, None));
    assert_eq!((index.rank(other), index.chunks(other).count()), (0.0, 0));
}

#[test]
fn nothing_is_read_after_the_request_has_stopped() {
    static READS_LEFT: AtomicUsize = AtomicUsize::new(2);
    let is_stopped = || {
        let take = |left: usize| left.checked_sub(1);
        READS_LEFT.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_err()
    };
    let index = open(repository()).with_stop(is_stopped);
    let files: Vec<FileId> = index.files().map(|entry| entry.id).collect();
    let read: Vec<_> = files.iter().map(|file| index.text(*file).map(drop)).collect();
    assert!(read.len() > 2, "{}", read.len());
    assert_eq!(read.iter().filter(|text| text.is_ok()).count(), 2);
    assert!(read.iter().skip(2).all(|text| *text == Err(IndexError::Stopped)));
    assert_eq!(index.outline(files[0]), Err(IndexError::Stopped));
    assert_eq!(index.snippet(files[0], lines(1, 1)), Err(IndexError::Stopped));
}

#[test]
fn a_file_is_found_by_its_content() {
    let index = open(repository());
    for entry in index.files() {
        assert_eq!(index.reuse(entry.blob), Some(entry.id));
    }
    assert_eq!(index.reuse(super::sample::blob(200)), None);
}

proptest! {
    #[test]
    fn generated_files_come_out_as_they_went_in(files in generated::files()) {
        check(files);
    }
}
