//! Scores chunks by the words of a question.
//!
//! The score of a word in a chunk is that of BM25F: its occurrences in the fields of a chunk are
//! weighted, normalised by the length of the chunk and added before they saturate. To that comes
//! what the word, or a synonym, is worth in the name of the symbol, which is rarer than in the
//! text.

use super::super::error::IndexError;
use super::super::format::{ChunkRecord, Frequencies, Mark, Postings, Section};
use super::super::open::Index;
use super::question::{Question, TermKind, Wish, WishRole};
use super::weights::Weights;

/// The share of the words of documentation that the code contains, too.
const RELIABILITY_MEAN: f32 = 0.27;

/// What is left at least of the weight of a word, so that questions of nothing else find something.
const RELIABLE_SHARE_MIN: f32 = 0.1;

/// The chunks that contain words of a question.
#[derive(Debug)]
pub(super) struct Candidates {
    /// For each chunk what was found in it.
    found: Vec<Found>,
    /// The chunks that contain anything.
    pub(super) chunks: Vec<u32>,
    /// What a chunk has that fulfils all wishes.
    wanted: f32,
    /// Words that the index does not contain.
    pub(super) unknown_words: Vec<String>,
    /// The other words, and how rare each is.
    pub(super) rarities: Vec<(String, f64)>,
}

/// What was found in a chunk.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Found {
    /// The sum of the scores of its words.
    pub(super) score: f32,
    covered: f32,
    /// How many words of its name are explained by the question.
    pub(super) name_words: f32,
}

/// How a chunk fulfils one wish.
#[derive(Clone, Copy, Debug, Default)]
struct Fulfilled {
    is_touched: bool,
    text_score: f32,
    name_score: f32,
    share: f32,
    name_words: f32,
}

/// The chunks that contain a word, and how much it counts.
#[derive(Debug)]
struct Occurrences {
    postings: Vec<(u32, Frequencies)>,
    idf: f32,
    name_idf: f32,
    container_idf: f32,
    type_idf: f32,
}

impl Candidates {
    pub(super) fn of(
        index: &Index,
        question: &Question,
        weights: &Weights,
    ) -> Result<Self, IndexError> {
        let chunks = index.chunks.chunks.len();
        let mut candidates = Self {
            found: vec![Found::default(); chunks],
            chunks: Vec::new(),
            wanted: 0.0,
            unknown_words: Vec::new(),
            rarities: Vec::new(),
        };
        let mut fulfilled = vec![Fulfilled::default(); chunks];
        for wish in &question.wishes {
            candidates.add_wish(index, wish, weights, &mut fulfilled)?;
        }
        Ok(candidates)
    }

    /// Returns what was found in a chunk.
    pub(super) fn found(&self, chunk: u32) -> Found {
        self.found.get(chunk as usize).copied().unwrap_or_default()
    }

    /// Returns the share of the question that a chunk contains.
    pub(super) fn coverage(&self, chunk: u32) -> f32 {
        if self.wanted > 0.0 { (self.found(chunk).covered / self.wanted).min(1.0) } else { 0.0 }
    }

    fn add_wish(
        &mut self,
        index: &Index,
        wish: &Wish,
        weights: &Weights,
        fulfilled: &mut [Fulfilled],
    ) -> Result<(), IndexError> {
        let mut touched = Vec::new();
        let mut word_idf: Option<f32> = None;
        let mut rarity = f32::INFINITY;
        for wish_term in &wish.terms {
            let Some(term) = index.terms.find(&wish_term.term) else { continue };
            let mut occurrences = index.occurrences(term)?;
            if wish_term.kind == TermKind::Same {
                rarity = rarity.min(occurrences.idf);
                occurrences.idf = reliable(occurrences.idf, wish, weights);
            }
            if wish_term.kind == TermKind::Same {
                let idf = occurrences.idf;
                word_idf = Some(word_idf.map_or(idf, |other: f32| other.min(idf)));
            }
            for (chunk, frequencies) in &occurrences.postings {
                let at = *chunk as usize;
                let record = index.chunks.chunks.get(at);
                let (Some(record), Some(best)) = (record, fulfilled.get_mut(at)) else { continue };
                let of_term =
                    occurrences.fulfil(index, record, *frequencies, wish, wish_term.kind, weights);
                if of_term.is_touched {
                    if !best.is_touched {
                        touched.push(*chunk);
                    }
                    best.improve(of_term);
                }
            }
        }
        let mut mass = 0.0;
        if wish.role == WishRole::Word {
            let unknown = idf(index.chunks.chunks.len(), 0);
            mass = word_idf.unwrap_or_else(|| reliable(unknown, wish, weights));
            self.wanted += mass;
            match word_idf {
                Some(_) => self.rarities.push((wish.word.clone(), f64::from(rarity))),
                None => self.unknown_words.push(wish.word.clone()),
            }
        }
        self.commit(touched, fulfilled, mass);
        Ok(())
    }

    /// Adds how chunks fulfil a wish of this mass, and clears it for the next one.
    fn commit(&mut self, touched: Vec<u32>, fulfilled: &mut [Fulfilled], mass: f32) {
        for chunk in touched {
            let at = chunk as usize;
            let (Some(found), Some(of_wish)) = (self.found.get_mut(at), fulfilled.get_mut(at))
            else {
                continue;
            };
            let of_wish = std::mem::take(of_wish);
            let score = of_wish.text_score + of_wish.name_score;
            if score > 0.0 {
                if found.score == 0.0 {
                    self.chunks.push(chunk);
                }
                found.score += score;
            }
            found.covered += of_wish.share * mass;
            found.name_words += of_wish.name_words;
        }
    }
}

impl Fulfilled {
    fn improve(&mut self, other: Self) {
        self.is_touched = true;
        self.text_score = self.text_score.max(other.text_score);
        self.name_score = self.name_score.max(other.name_score);
        self.share = self.share.max(other.share);
        self.name_words = self.name_words.max(other.name_words);
    }
}

impl Occurrences {
    /// Returns how a chunk that contains a word fulfils a wish.
    fn fulfil(
        &self,
        index: &Index,
        chunk: &ChunkRecord,
        frequencies: Frequencies,
        wish: &Wish,
        kind: TermKind,
        weights: &Weights,
    ) -> Fulfilled {
        let in_text = || self.idf * index.term_score(chunk, frequencies, weights);
        match (wish.role, kind) {
            (WishRole::Word, TermKind::Same) => Fulfilled {
                text_score: in_text(),
                share: 1.0,
                is_touched: true,
                ..self.in_name(frequencies, 1.0, weights)
            },
            (WishRole::Identifier, _) => Fulfilled {
                text_score: weights.pair * in_text(),
                name_words: 0.0,
                is_touched: true,
                ..self.in_name(frequencies, weights.pair, weights)
            },
            (WishRole::NameWord, _) => self.in_name(frequencies, weights.name_word, weights),
            (WishRole::Word, TermKind::InName(probability)) => {
                let probability = (probability * weights.synonym).min(1.0);
                Fulfilled {
                    share: if frequencies.has(Mark::Name) { probability } else { 0.0 },
                    ..self.in_name(frequencies, probability, weights)
                }
            }
            (WishRole::Word, TermKind::InType(probability)) => {
                self.in_type(frequencies, probability, weights)
            }
        }
    }

    /// Returns what a word is worth in the name if it is meant with this probability.
    fn in_name(&self, frequencies: Frequencies, probability: f32, weights: &Weights) -> Fulfilled {
        let [has, is_inside] = [Mark::Name, Mark::Container].map(|mark| frequencies.has(mark));
        let name = if has { probability } else { 0.0 };
        let container = if is_inside { probability } else { 0.0 };
        Fulfilled {
            is_touched: has || is_inside,
            name_score: name * weights.name * self.name_idf
                + container * weights.container_name * self.container_idf,
            name_words: name,
            ..Fulfilled::default()
        }
    }

    /// Returns what a word is worth in the types if it is meant with this probability.
    fn in_type(&self, frequencies: Frequencies, probability: f32, weights: &Weights) -> Fulfilled {
        let has = frequencies.has(Mark::Signature);
        let types = if has { probability } else { 0.0 };
        Fulfilled {
            is_touched: has,
            name_score: types * weights.type_synonym * self.type_idf,
            ..Fulfilled::default()
        }
    }
}

impl Index {
    fn occurrences(&self, term: usize) -> Result<Occurrences, IndexError> {
        let range = self.postings.range(term);
        let bytes = range.and_then(|range| self.sections.get(Section::Postings).get(range));
        let bytes = bytes.ok_or(IndexError::Damaged { what: "postings" })?;
        let chunks = self.chunks.chunks.len();
        let mut postings = Vec::with_capacity(bytes.len() / 2);
        let (mut names, mut containers, mut types) = (0, 0, 0);
        for posting in Postings::new(bytes, chunks as u32) {
            let posting = posting?;
            names += usize::from(posting.frequencies.has(Mark::Name));
            containers += usize::from(posting.frequencies.has(Mark::Container));
            types += usize::from(posting.frequencies.has(Mark::Signature));
            postings.push((posting.chunk, posting.frequencies));
        }
        let counts = [postings.len(), names, containers, types];
        let [idf, name_idf, container_idf, type_idf] = counts.map(|count| idf(chunks, count));
        Ok(Occurrences { postings, idf, name_idf, container_idf, type_idf })
    }

    /// Returns the score of a word in a chunk, without that of its rarity and of its name; below 1.
    fn term_score(&self, chunk: &ChunkRecord, frequencies: Frequencies, weights: &Weights) -> f32 {
        let flag = |mark, weight| if frequencies.has(mark) { weight } else { 0.0 };
        let normalised = |count: u8, words: u16, mean: f32, length: f32| {
            f32::from(count) / (1.0 - length + length * f32::from(words) / mean.max(1.0))
        };
        let body = normalised(
            frequencies.body,
            chunk.body_words,
            self.body_words_mean,
            weights.body_length,
        );
        let doc = match frequencies.doc() {
            0 => 0.0,
            doc => normalised(doc, chunk.doc_words, self.doc_words_mean, weights.doc_length),
        };
        let frequency = body
            + weights.doc * doc
            + flag(Mark::Container, weights.container)
            + flag(Mark::Path, weights.path)
            + flag(Mark::Signature, weights.signature);
        frequency / (weights.saturation + frequency)
    }
}

/// Returns how much a word counts that code does not contain although its documentation does: that
/// of Robertson and Sparck Jones, who add the logarithm of the odds.
fn reliable(idf: f32, wish: &Wish, weights: &Weights) -> f32 {
    let odds = |share: f32| (share / (1.0 - share)).ln();
    let loss = wish.reliability.map_or(0.0, |share| odds(share) - odds(RELIABILITY_MEAN));
    (idf + weights.reliability * loss).max(idf * RELIABLE_SHARE_MIN)
}

/// Returns how much a word counts that so many of all chunks contain.
fn idf(chunks: usize, containing: usize) -> f32 {
    let (chunks, containing) = (chunks as f32, containing as f32);
    (1.0 + (chunks - containing + 0.5) / (containing + 0.5)).ln()
}
