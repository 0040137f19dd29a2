//! Counts the words of a file, chunk by chunk.

use hashbrown::HashMap;
use xxhash_rust::xxh3::xxh3_64;

use super::super::format::{Frequencies, Mark};
use super::super::words::{runs, terms};
use super::interner::Interner;
use super::sketch::Sketch;

/// A word of a file in one of its chunks.
#[derive(Clone, Copy, Debug)]
pub(super) struct FilePosting {
    /// The number of the word.
    pub(super) term: u32,
    /// The number of the chunk, in this file.
    pub(super) chunk: u32,
    pub(super) frequencies: Frequencies,
}

/// The words of a file. `'t` is the life of its text and outline.
#[derive(Debug, Default)]
pub(super) struct Tally<'t> {
    terms: Interner,
    hashes: Vec<u64>,
    /// For each identifier, the range of its words in `lists`.
    identifiers: HashMap<&'t str, (u32, u32)>,
    lists: Vec<u32>,
    /// The counts in the current chunk, by word, and the words that were counted.
    counts: Vec<Frequencies>,
    counted: Vec<u32>,
    postings: Vec<FilePosting>,
}

impl<'t> Tally<'t> {
    /// Counts the text of a chunk, and returns how many words it has, and its sketch.
    pub(super) fn count_body(&mut self, text: &'t str) -> (usize, Sketch) {
        let mut sketch = Sketch::new();
        let mut words = 0;
        for run in runs(text) {
            let (start, end) = self.list_of(run);
            words += usize::from(start < end);
            for at in start..end {
                let Some(term) = self.lists.get(at as usize).copied() else { continue };
                sketch.add(self.hashes.get(term as usize).copied().unwrap_or(0));
                if let Some(frequencies) = self.touch(term) {
                    frequencies.body = frequencies.body.saturating_add(1);
                }
            }
        }
        (words, sketch)
    }

    /// Counts a documentation of the current chunk, and returns how many words it has.
    pub(super) fn count_doc(&mut self, doc: &'t str) -> usize {
        let mut words = 0;
        self.for_each(doc, |frequencies| {
            words += 1;
            frequencies.add_doc();
        });
        words
    }

    /// Marks the words of a text in the current chunk, and returns how many there are.
    pub(super) fn mark(&mut self, text: &'t str, mark: Mark) -> usize {
        let mut words = 0;
        self.for_each(text, |frequencies| {
            words += usize::from(!frequencies.has(mark));
            frequencies.set(mark);
        });
        words
    }

    /// Ends a chunk, which gets this number, and begins the next one.
    pub(super) fn end_chunk(&mut self, chunk: u32) {
        for term in self.counted.drain(..) {
            if let Some(counts) = self.counts.get_mut(term as usize) {
                let frequencies = std::mem::take(counts);
                self.postings.push(FilePosting { term, chunk, frequencies });
            }
        }
    }

    /// Forgets the current chunk.
    pub(super) fn drop_chunk(&mut self) {
        for term in self.counted.drain(..) {
            if let Some(counts) = self.counts.get_mut(term as usize) {
                *counts = Frequencies::default();
            }
        }
    }

    /// Returns the words, by their numbers, and the postings of all chunks.
    pub(super) fn finish(self) -> (Interner, Vec<FilePosting>) {
        (self.terms, self.postings)
    }

    fn for_each(&mut self, text: &'t str, mut count: impl FnMut(&mut Frequencies)) {
        for run in runs(text) {
            let (start, end) = self.list_of(run);
            for at in start..end {
                let Some(term) = self.lists.get(at as usize).copied() else { continue };
                if let Some(frequencies) = self.touch(term) {
                    count(frequencies);
                }
            }
        }
    }

    /// Returns the counts of a word in the current chunk.
    fn touch(&mut self, term: u32) -> Option<&mut Frequencies> {
        let counts = self.counts.get_mut(term as usize)?;
        if *counts == Frequencies::default() {
            self.counted.push(term);
        }
        Some(counts)
    }

    /// Returns where the words of an identifier are in the lists.
    fn list_of(&mut self, run: &'t str) -> (u32, u32) {
        if let Some(range) = self.identifiers.get(run) {
            return *range;
        }
        let start = self.lists.len() as u32;
        terms(run, |term| {
            let number = self.terms.number(term);
            if number as usize == self.hashes.len() {
                self.hashes.push(xxh3_64(term.as_bytes()));
                self.counts.push(Frequencies::default());
            }
            self.lists.push(number);
        });
        let range = (start, self.lists.len() as u32);
        self.identifiers.insert(run, range);
        range
    }
}
