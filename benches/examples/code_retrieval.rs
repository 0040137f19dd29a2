//! Measures how well searches find functions by what their documentation says.
//!
//! The first sentence of the documentation of a function is removed from the indexed text, and is
//! the question. With `--folds` the sentences are removed from only every Nth function at
//! a time.
//!
//! `cargo run --release -p telltale-benches --example code_retrieval -- <directory>... [--folds N]
//! [--fit] [--misses]`
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    clippy::string_slice,
    clippy::needless_range_loop,
    clippy::too_many_lines,
    clippy::disallowed_methods,
    missing_docs,
    reason = "a measurement that fails loudly and prints what it measured"
)]

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use telltale_server::areas::repositories::ObjectId;
use telltale_server::areas::repositories::index::{Index, IndexBuilder, SourceFile, Weights};
use telltale_server::areas::repositories::source::{LineRange, SymbolKind, outline};

const EXTENSIONS: [&str; 10] = ["rs", "py", "js", "ts", "go", "rb", "java", "c", "h", "cpp"];
const WORDS_MIN: usize = 4;
const TOP: usize = 5;
/// Of so many questions one is asked while the weights are fitted.
const FIT_STEP: usize = 2;

/// A function, and the sentence that asks for it.
#[derive(Debug)]
struct Question {
    file: usize,
    name: String,
    sentence: String,
    /// The lines of the function and its documentation after the sentences were removed.
    lines: LineRange,
}

struct Corpus {
    index: Index,
    paths: Vec<String>,
    questions: Vec<Question>,
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let folds = arguments.iter().position(|argument| argument == "--folds");
    let folds = folds.map_or(1, |at| arguments[at + 1].parse().unwrap());
    let has = |flag: &str| arguments.iter().any(|argument| argument == flag);
    let directories = arguments.iter().take_while(|argument| !argument.starts_with("--"));
    let corpora: Vec<Corpus> = directories
        .flat_map(|directory| {
            let files = read(Path::new(directory));
            (0..folds).map(|fold| corpus(&files, fold, folds)).collect::<Vec<_>>()
        })
        .collect();
    let count: usize = corpora.iter().map(|corpus| corpus.questions.len()).sum();
    println!("{}: {count} questions", arguments[0]);
    let mut weights = Weights::default();
    if has("--fit") {
        weights = fit(&corpora, weights);
        println!("{weights:#?}");
    }
    let (recall, rank) = recall(&corpora, &weights, 1, has("--misses"));
    println!("recall of the first {TOP}  {recall:.3}, mean reciprocal rank {rank:.3}");
    println!("plain BM25              {:.3}", plain_recall(&corpora));
    if has("--coverage") {
        coverage(&corpora);
    }
}

/// Returns the share of questions whose function is found, and the mean of 1 / rank.
fn recall(corpora: &[Corpus], weights: &Weights, step: usize, prints: bool) -> (f64, f64) {
    let mut found = 0;
    let mut reciprocal = 0.0;
    let mut count = 0;
    for corpus in corpora {
        let ranks: Vec<Option<usize>> = corpus
            .questions
            .par_iter()
            .step_by(step)
            .map(|question| {
                let hits =
                    corpus.index.search_weighted(&question.sentence, 20, weights).unwrap().hits;
                let file = corpus.index.find(&corpus.paths[question.file]).unwrap();
                hits.iter().position(|hit| hit.file == file && overlap(hit.lines, question.lines))
            })
            .collect();
        for (rank, question) in ranks.iter().zip(corpus.questions.iter().step_by(step)) {
            count += 1;
            found += usize::from(rank.is_some_and(|rank| rank < TOP));
            reciprocal += rank.map_or(0.0, |rank| 1.0 / (rank + 1) as f64);
            if prints && rank.is_none_or(|rank| rank >= TOP) {
                println!("{:?} {} <- {}", rank, question.name, question.sentence);
                let hits =
                    corpus.index.search_weighted(&question.sentence, 3, weights).unwrap().hits;
                for hit in hits {
                    let entry = corpus.index.entry(hit.file).unwrap();
                    let name = hit.symbol.map(|symbol| {
                        corpus
                            .index
                            .outline(hit.file)
                            .unwrap()
                            .symbols
                            .swap_remove(symbol.position as usize)
                            .name
                    });
                    println!(
                        "      {:.1} {:.2} {}:{:?} {:?}",
                        hit.score, hit.coverage, entry.path, hit.lines, name
                    );
                }
            }
        }
    }
    (f64::from(u32::try_from(found).unwrap()) / count as f64, reciprocal / count as f64)
}

fn overlap(left: LineRange, right: LineRange) -> bool {
    left.start() <= right.end() && right.start() <= left.end()
}

/// Returns the recall of BM25 over the same chunks, without anything else.
fn plain_recall(corpora: &[Corpus]) -> f64 {
    let (mut found, mut count) = (0, 0);
    for corpus in corpora {
        let mut chunks = Vec::new();
        for file in corpus.index.files() {
            for lines in corpus.index.chunks(file.id) {
                let text = corpus.index.snippet(file.id, lines).unwrap().unwrap();
                chunks.push((file.path.to_owned(), lines, counts(&text)));
            }
        }
        let mut documents: HashMap<&str, Vec<(usize, f64)>> = HashMap::new();
        let length = |counts: &HashMap<String, f64>| counts.values().sum::<f64>();
        let mean =
            chunks.iter().map(|(.., counts)| length(counts)).sum::<f64>() / chunks.len() as f64;
        for (number, (.., counts)) in chunks.iter().enumerate() {
            for (word, count) in counts {
                documents.entry(word).or_default().push((number, *count));
            }
        }
        found += corpus
            .questions
            .par_iter()
            .filter(|question| {
                let mut scores: HashMap<usize, f64> = HashMap::new();
                for word in counts(&question.sentence).keys() {
                    let Some(containing) = documents.get(word.as_str()) else { continue };
                    let df = containing.len() as f64;
                    let idf = (1.0 + (chunks.len() as f64 - df + 0.5) / (df + 0.5)).ln();
                    for (number, count) in containing {
                        let norm = 1.2 * (0.25 + 0.75 * length(&chunks[*number].2) / mean);
                        *scores.entry(*number).or_default() += idf * count * 2.2 / (count + norm);
                    }
                }
                let mut scores: Vec<(usize, f64)> = scores.into_iter().collect();
                scores.sort_by(|left, right| right.1.total_cmp(&left.1).then(left.0.cmp(&right.0)));
                scores.iter().take(TOP).any(|(number, _)| {
                    let (path, lines, _) = &chunks[*number];
                    *path == corpus.paths[question.file] && overlap(*lines, question.lines)
                })
            })
            .count();
        count += corpus.questions.len();
    }
    found as f64 / count as f64
}

fn counts(text: &str) -> HashMap<String, f64> {
    let mut counts = HashMap::new();
    for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        *counts.entry(word.to_lowercase()).or_default() += 1.0;
    }
    counts
}

/// Fits the weights one after the other, as long as anything is gained.
fn fit(corpora: &[Corpus], mut weights: Weights) -> Weights {
    let value = |weights: &Weights| {
        let (recall, rank) = recall(corpora, weights, FIT_STEP, false);
        recall + 0.3 * rank
    };
    let mut best = value(&weights);
    let count = fields(&mut weights).len();
    for round in 0..2 {
        let before = best;
        for field in 0..count {
            for factor in [0.5, 0.75, 1.3, 1.8] {
                let mut other = weights.clone();
                *fields(&mut other)[field] *= factor;
                let value = value(&other);
                if value > best + 1e-4 {
                    (best, weights) = (value, other);
                }
            }
        }
        println!("round {round}: {best:.4} {weights:?}");
        if best < before + 1e-3 {
            break;
        }
    }
    weights
}

fn fields(weights: &mut Weights) -> Vec<&mut f32> {
    let Weights {
        saturation,
        body_length,
        doc_length,
        name,
        name_word,
        container_name,
        reliability,
        container,
        path,
        signature,
        doc,
        synonym,
        type_synonym,
        pair,
        coverage,
        name_share,
        uses,
        rank,
        public,
        test,
        later_piece,
        types,
        no_symbol,
        same_name,
        duplicate,
    } = weights;
    vec![
        saturation,
        body_length,
        doc_length,
        name,
        name_word,
        container_name,
        reliability,
        container,
        path,
        signature,
        doc,
        synonym,
        type_synonym,
        pair,
        coverage,
        name_share,
        uses,
        rank,
        public,
        test,
        later_piece,
        types,
        no_symbol,
        same_name,
        duplicate,
    ]
}

/// Prints the coverage of questions about the corpus and about something else.
fn coverage(corpora: &[Corpus]) {
    let others = [
        "How does the Kubernetes operator reconcile pods?",
        "Where is the OAuth token refreshed?",
        "How are shaders compiled for the GPU?",
        "Which database migrations create the users table?",
        "How is the shopping cart total computed with tax?",
        "Where are websocket frames masked?",
        "How does the garbage collector mark live objects?",
        "How are JPEG images resized to thumbnails?",
        "What happens when a payment is declined by Stripe?",
        "How is the neural network trained with backpropagation?",
        "Where are emails sent to newsletter subscribers?",
        "How does leader election work in the Raft cluster?",
        "Which physics engine detects collisions of rigid bodies?",
        "How is the invoice rendered as PDF?",
        "Where is the Bluetooth device paired?",
        "How are tweets ranked in the timeline?",
    ];
    let print = |what: &str, mut all: Vec<f64>| {
        all.sort_by(f64::total_cmp);
        let at = |share: f64| all[((all.len() - 1) as f64 * share) as usize];
        println!(
            "coverage of {what}: p5 {:.2}, p25 {:.2}, p50 {:.2}, p75 {:.2}, p95 {:.2}, max {:.2}",
            at(0.05),
            at(0.25),
            at(0.5),
            at(0.75),
            at(0.95),
            at(1.0)
        );
    };
    let index = &corpora[0].index;
    let of = |question: &str| index.search(question, 5).unwrap().coverage;
    print(
        "own questions  ",
        corpora[0].questions.iter().map(|question| of(&question.sentence)).collect(),
    );
    print("other questions", others.iter().map(|question| of(question)).collect());
}

/// Builds an index without the sentences of every `folds`th function.
fn corpus(files: &[(String, String)], fold: usize, folds: usize) -> Corpus {
    let mut number = 0;
    let mut questions = Vec::new();
    let mut builder = IndexBuilder::new();
    for (at, (path, text)) in files.iter().enumerate() {
        let mut lines: Vec<Option<&str>> = text.split_inclusive('\n').map(Some).collect();
        let mut own = Vec::new();
        let mut replaced: HashMap<usize, String> = HashMap::new();
        for symbol in outline(path, text).symbols {
            if !matches!(symbol.kind, SymbolKind::Function | SymbolKind::Method) || symbol.is_test {
                continue;
            }
            let Some(doc) = &symbol.doc else { continue };
            let sentence = first_sentence(doc);
            if sentence.split_whitespace().count() < WORDS_MIN {
                continue;
            }
            number += 1;
            if number % folds == fold && remove(&mut lines, &mut replaced, symbol.lines, &sentence)
            {
                own.push((symbol.name.clone(), sentence, symbol.lines));
            }
        }
        let mut new_text = String::new();
        let mut new_lines = vec![0; lines.len() + 2];
        let mut line = 0;
        for (old, content) in lines.iter().enumerate() {
            let content = replaced.get(&old).map(String::as_str).or(*content);
            if let Some(content) = content {
                new_text.push_str(content);
                line += 1;
            }
            new_lines[old + 1] = line.max(1);
        }
        for (name, sentence, old) in own {
            let [start, end] = [old.start(), old.end()].map(|line| new_lines[line as usize]);
            let lines = LineRange::new(start, end.max(start)).unwrap();
            questions.push(Question { file: at, name, sentence, lines });
        }
        builder
            .add(SourceFile {
                outline: outline(path, &new_text),
                blob: ObjectId::from_bytes(&[0; 20]).unwrap(),
                path: path.clone(),
                text: new_text,
            })
            .unwrap();
    }
    let index = Index::open(builder.finish().unwrap().bytes).unwrap();
    Corpus { index, paths: files.iter().map(|(path, _)| path.clone()).collect(), questions }
}

/// Removes a sentence from the lines of a function. Returns false if it is not there.
fn remove(
    lines: &mut [Option<&str>],
    replaced: &mut HashMap<usize, String>,
    range: LineRange,
    sentence: &str,
) -> bool {
    let mut rest: Vec<&str> = sentence.split_whitespace().collect();
    for at in range.start() as usize - 1..range.end() as usize {
        let Some(line) = lines[at] else { continue };
        if rest.is_empty() {
            break;
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        let marks = ["///", "/**", "*", "\"\"\"", "#", "//", "r\"\"\""];
        let mut skip = words.iter().take_while(|word| marks.contains(word)).count();
        let mut first = words.get(skip).copied().unwrap_or("");
        for mark in ["r\"\"\"", "\"\"\"", "///", "'''"] {
            first = first.strip_prefix(mark).unwrap_or(first);
        }
        if first != rest[0] {
            // A sentence that ends in the middle of its line, or closing quotes.
            if first.trim_end_matches(['"', '\'']) != rest[0] {
                if rest.len() < sentence.split_whitespace().count() { break } else { continue }
            }
        }
        skip += 1;
        let mut count = 1;
        while count < rest.len()
            && words.get(skip).is_some_and(|word| {
                word.trim_end_matches(['"', '\'']) == rest[count] || *word == rest[count]
            })
        {
            skip += 1;
            count += 1;
        }
        rest.drain(..count);
        let remaining = words[skip..].join(" ");
        let mark = if line.trim_start().starts_with("///") {
            "///"
        } else if line.contains("\"\"\"")
            && !words[..skip].last().is_some_and(|w| w.ends_with("\"\"\""))
        {
            "\"\"\""
        } else if words[..skip].last().is_some_and(|w| w.ends_with("\"\"\"")) {
            if line.matches("\"\"\"").count() == 2 { "\"\"\"\"\"\"" } else { "\"\"\"" }
        } else {
            ""
        };
        let indent: String = line.chars().take_while(|c| c.is_whitespace()).collect();
        replaced.insert(at, format!("{indent}{mark} {remaining}\n"));
        lines[at] = Some("");
    }
    rest.is_empty()
}

fn first_sentence(doc: &str) -> String {
    let paragraph = doc.split("\n\n").next().unwrap_or("");
    let words: Vec<&str> = paragraph.split_whitespace().collect();
    let mut sentence: Vec<&str> = Vec::new();
    for (at, word) in words.iter().enumerate() {
        sentence.push(word);
        let ends = word.ends_with('.') && !matches!(*word, "e.g." | "i.e." | "etc.");
        let next_is_upper = words
            .get(at + 1)
            .is_none_or(|next| next.chars().any(char::is_uppercase) || next.starts_with('`'));
        if ends && next_is_upper {
            break;
        }
    }
    sentence.join(" ")
}

fn read(root: &Path) -> Vec<(String, String)> {
    let mut files = Vec::new();
    let mut open = vec![root.to_owned()];
    while let Some(directory) = open.pop() {
        let mut entries: Vec<PathBuf> =
            std::fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap().path()).collect();
        entries.sort();
        for path in entries {
            let is_source = path
                .extension()
                .is_some_and(|extension| EXTENSIONS.iter().any(|known| extension == *known));
            if path.is_dir() {
                open.push(path);
            } else if is_source && let Ok(text) = std::fs::read_to_string(&path) {
                let relative = path.strip_prefix(root).unwrap().to_string_lossy().into_owned();
                files.push((relative, text));
            }
        }
    }
    files.sort();
    files
}
