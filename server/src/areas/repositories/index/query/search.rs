//! Finds the parts of files that fit a question.

use hashbrown::{HashMap, HashSet};

use super::super::super::source::SymbolKind;
use super::super::error::IndexError;
use super::super::format::ChunkRecord;
use super::super::limits::{CANDIDATES_MAX, HITS_MAX};
use super::super::model::{Hit, SearchResult, SymbolRef};
use super::super::open::Index;
use super::candidates::Candidates;
use super::question::Question;
use super::weights::Weights;

/// Hits whose coverage counts for the whole search: a reader looks at these.
const BEST_HITS: usize = 3;

/// A chunk and its score.
#[derive(Clone, Copy, Debug)]
struct Scored<'a> {
    chunk: &'a ChunkRecord,
    number: u32,
    score: f32,
}

impl Index {
    /// Finds the parts of files that fit a question in words or names best, at most `limit`. Of the
    /// pieces of one symbol only the best is found.
    pub fn search(&self, question: &str, limit: usize) -> Result<SearchResult, IndexError> {
        self.search_weighted(question, limit, &Weights::default())
    }

    /// Finds like [`Self::search`], with other weights.
    pub fn search_weighted(
        &self,
        question: &str,
        limit: usize,
        weights: &Weights,
    ) -> Result<SearchResult, IndexError> {
        let question = Question::parse(question);
        let candidates = Candidates::of(self, &question, weights)?;
        let best = self.best(&candidates, &question, weights);
        let best = self.without_repetitions(best, weights);
        let hits: Vec<Hit> = best
            .into_iter()
            .take(limit.min(HITS_MAX))
            .map(|Scored { chunk, number, score }| Hit {
                file: chunk.file,
                lines: chunk.lines,
                symbol: chunk.symbol.map(|(position, _)| SymbolRef { file: chunk.file, position }),
                score: f64::from(score),
                coverage: f64::from(candidates.coverage(number)),
            })
            .collect();
        let coverage = hits.iter().take(BEST_HITS).map(|hit| hit.coverage).fold(0.0, f64::max);
        let Candidates { unknown_words, rarities, .. } = candidates;
        Ok(SearchResult { hits, coverage, unknown_words, rarities })
    }

    /// Returns the best chunks, the best first; equal ones in the order of the files.
    fn best(
        &self,
        candidates: &Candidates,
        question: &Question,
        weights: &Weights,
    ) -> Vec<Scored<'_>> {
        let scored = candidates.chunks.iter().filter_map(|number| {
            let chunk = self.chunks.chunks.get(*number as usize)?;
            let score = self.score(chunk, *number, candidates, question, weights);
            Some(Scored { chunk, number: *number, score })
        });
        let mut scored: Vec<Scored<'_>> = scored.collect();
        let order = |left: &Scored<'_>, right: &Scored<'_>| {
            right.score.total_cmp(&left.score).then(left.number.cmp(&right.number))
        };
        if scored.len() > CANDIDATES_MAX {
            scored.select_nth_unstable_by(CANDIDATES_MAX, order);
            scored.truncate(CANDIDATES_MAX);
        }
        scored.sort_unstable_by(order);
        scored
    }

    fn score(
        &self,
        chunk: &ChunkRecord,
        number: u32,
        candidates: &Candidates,
        question: &Question,
        weights: &Weights,
    ) -> f32 {
        let found = candidates.found(number);
        let mut score = found.score * (1.0 + weights.coverage * candidates.coverage(number));
        if chunk.name_words > 0 {
            let share = (found.name_words / f32::from(chunk.name_words)).min(1.0);
            score *= 1.0 + weights.name_share * share * share;
        }
        score *= 1.0 + weights.uses * f32::from(chunk.uses).ln_1p();
        let rank = self.graph.ranks.get(chunk.file.0 as usize).copied().unwrap_or(1.0);
        score *= 1.0 + weights.rank * rank.max(0.0).ln_1p();
        if chunk.is_public {
            score *= 1.0 + weights.public;
        }
        if chunk.is_test && !question.asks_for_tests {
            score *= weights.test;
        }
        if chunk.is_later_piece {
            score *= weights.later_piece;
        }
        score
            * match chunk.symbol {
                None => weights.no_symbol,
                Some((_, SymbolKind::Function | SymbolKind::Method | SymbolKind::Macro)) => 1.0,
                Some(_) => weights.types,
            }
    }

    /// Keeps the best piece of each symbol, and moves down what has the name of a better hit or is
    /// nearly equal to one.
    fn without_repetitions<'a>(&self, best: Vec<Scored<'a>>, weights: &Weights) -> Vec<Scored<'a>> {
        let mut symbols = HashSet::new();
        let mut sketches = HashSet::new();
        let mut names = HashMap::new();
        let mut kept = Vec::with_capacity(best.len());
        for mut scored in best {
            let chunk = scored.chunk;
            if let Some((position, _)) = chunk.symbol {
                if !symbols.insert((chunk.file, position)) {
                    continue;
                }
                let file = self.files.files.get(chunk.file.0 as usize);
                let name = file.and_then(|file| self.symbols.name_of(file, position));
                let earlier: &mut i32 = names.entry(name).or_default();
                scored.score *= weights.same_name.powi(*earlier);
                *earlier += 1;
            }
            if !sketches.insert((chunk.sketch, chunk.body_words)) {
                scored.score *= weights.duplicate;
            }
            kept.push(scored);
        }
        kept.sort_by(|left, right| right.score.total_cmp(&left.score));
        kept
    }
}
