//! The scores of searches beside those of a naive implementation of BM25F.

use std::collections::{BTreeMap, BTreeSet};

use proptest::collection::vec;
use proptest::prelude::*;

use super::super::super::source::{Language, Parameter, SymbolKind};
use super::super::words::terms;
use super::super::{SourceFile, Weights};
use super::generated::{text, word};
use super::sample::{open, plain, symbol};

/// Weights without all that is not BM25F.
fn plain_weights() -> Weights {
    Weights {
        synonym: 0.0,
        type_synonym: 0.0,
        name: 0.0,
        name_word: 0.0,
        container_name: 0.0,
        reliability: 0.0,
        pair: 0.0,
        coverage: 0.0,
        name_share: 0.0,
        uses: 0.0,
        rank: 0.0,
        public: 0.0,
        test: 1.0,
        later_piece: 1.0,
        types: 1.0,
        no_symbol: 1.0,
        same_name: 1.0,
        duplicate: 1.0,
        ..Weights::default()
    }
}

/// A document of the naive implementation: a file that is one chunk.
#[derive(Debug)]
struct Document {
    body: Vec<String>,
    doc: Vec<String>,
    fields: [BTreeSet<String>; 4],
    body_words: usize,
}

fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    for run in super::super::words::runs(text) {
        terms(run, |term| words.push(term.to_owned()));
    }
    words
}

fn document(file: &SourceFile) -> Option<Document> {
    let body_words = super::super::words::runs(&file.text)
        .filter(|run| {
            let mut count = 0;
            terms(run, |_| count += 1);
            count > 0
        })
        .count();
    let set = |text: &str| words(text).into_iter().collect();
    let mut fields = [const { BTreeSet::new() }; 4];
    fields[2] = file.path.split(['/', '.']).filter(|part| *part != "rs").flat_map(words).collect();
    let mut doc = Vec::new();
    if let [symbol] = file.outline.symbols.as_slice() {
        fields[0] = set(&symbol.name);
        fields[1] = set(symbol.container.as_deref().unwrap_or(""));
        for parameter in &symbol.parameters {
            fields[3].extend(words(&parameter.name));
            fields[3].extend(words(parameter.type_name.as_deref().unwrap_or("")));
        }
        fields[3].extend(words(symbol.returns.as_deref().unwrap_or("")));
        doc = words(symbol.doc.as_deref().unwrap_or(""));
    }
    (body_words > 0).then(|| Document { body: words(&file.text), doc, fields, body_words })
}

/// Returns the score of each file for the words of a question.
fn naive(files: &[SourceFile], question: &[String], weights: &Weights) -> BTreeMap<String, f64> {
    let documents: Vec<(&str, Document)> =
        files.iter().filter_map(|file| Some((file.path.as_str(), document(file)?))).collect();
    let count = documents.len() as f64;
    let mean = |words: fn(&Document) -> usize| {
        let sum: usize = documents.iter().map(|(_, document)| words(document)).sum();
        (sum as f64 / count).max(1.0)
    };
    let body_mean = mean(|document| document.body_words);
    let doc_mean = mean(|document| document.doc.len());
    let contains = |document: &Document, term: &String| {
        document.body.contains(term)
            || document.doc.contains(term)
            || document.fields.iter().any(|field| field.contains(term))
    };
    let mut scores = BTreeMap::new();
    for term in question.iter().collect::<BTreeSet<_>>() {
        let containing = documents.iter().filter(|(_, document)| contains(document, term)).count();
        let idf = (1.0 + (count - containing as f64 + 0.5) / (containing as f64 + 0.5)).ln();
        for (path, document) in &documents {
            let occurrences = |words: &[String]| words.iter().filter(|word| *word == term).count();
            let normal = |occurrences: usize, words: usize, mean: f64, length: f32| {
                let length = f64::from(length);
                occurrences as f64 / (1.0 - length + length * words as f64 / mean)
            };
            let body = occurrences(&document.body).min(255);
            let body = normal(body, document.body_words, body_mean, weights.body_length);
            let doc = occurrences(&document.doc).min(15);
            let doc = normal(doc, document.doc.len(), doc_mean, weights.doc_length);
            let of_fields = [weights.container, weights.path, weights.signature];
            let of_fields = of_fields.iter().zip(&document.fields[1..]);
            let of_fields = of_fields.filter(|(_, field)| field.contains(term));
            let marks: f64 = of_fields.map(|(weight, _)| f64::from(*weight)).sum();
            let frequency = body + f64::from(weights.doc) * doc + marks;
            if frequency > 0.0 {
                let score = idf * frequency / (f64::from(weights.saturation) + frequency);
                *scores.entry((*path).to_owned()).or_insert(0.0) += score;
            }
        }
    }
    scores
}

fn one_function() -> impl Strategy<Value = SourceFile> {
    (text(), (word(), word(), word()), text(), vec((word(), word()), 0..3)).prop_map(
        |(text, (name, container, returns), doc, parameters)| {
            let text = format!("{text}\nfn");
            let lines = super::super::lines::line_count(&text);
            let mut file = plain("", &text);
            let mut symbol = symbol(&name, SymbolKind::Function, 1, lines);
            symbol.container = Some(container);
            symbol.doc = Some(doc);
            symbol.returns = Some(returns);
            symbol.parameters = parameters
                .into_iter()
                .map(|(name, type_name)| Parameter {
                    name,
                    type_name: Some(type_name),
                    default: None,
                })
                .collect();
            file.outline.language = Some(Language::Rust);
            file.outline.symbols = vec![symbol];
            file
        },
    )
}

fn one_window() -> impl Strategy<Value = SourceFile> {
    text().prop_map(|text| plain("", &text))
}

proptest! {
    #[test]
    fn scores_are_those_of_bm25f(
        files in vec(prop_oneof![one_function(), one_window()], 1..8),
        names in vec(word(), 8),
        question in vec(prop::sample::select(vec![
            "parse", "args", "cache", "utf8", "server", "evict", "42", "größe", "unknown",
        ]), 1..5),
    ) {
        let files: Vec<SourceFile> = files
            .into_iter()
            .zip(names)
            .enumerate()
            .map(|(number, (file, name))| SourceFile {
                path: format!("{name}/f{number}.rs"),
                ..file
            })
            .collect();
        let weights = plain_weights();
        let asked: Vec<String> = question.iter().flat_map(|word| words(word)).collect();
        let expected = naive(&files, &asked, &weights);
        let index = open(files);
        let result = index.search_weighted(&question.join(" "), 200, &weights).unwrap();
        let found: BTreeMap<String, f64> = result
            .hits
            .iter()
            .map(|hit| (index.entry(hit.file).unwrap().path.to_owned(), hit.score))
            .collect();
        prop_assert_eq!(found.len(), result.hits.len());
        let paths = |scores: &BTreeMap<String, f64>| scores.keys().cloned().collect::<Vec<_>>();
        prop_assert_eq!(paths(&found), paths(&expected));
        for (path, score) in found {
            let expected = expected[&path];
            prop_assert!((score - expected).abs() < 1e-4 * expected, "{path}: {score} {expected}");
        }
        prop_assert!(result.hits.is_sorted_by(|left, right| left.score >= right.score));
    }
}
