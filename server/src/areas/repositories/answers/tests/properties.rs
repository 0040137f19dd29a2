//! What is true of every answer, whatever is asked.

use proptest::prelude::*;

use super::fixture::{FILES, ask, parcel};
use crate::areas::repositories::answers::{
    Answer, FOUND_CONFIDENCE_MIN, Turn, TurnReference, answer, grounding, prompt,
};
use crate::areas::repositories::source::LineRange;

/// Checks an answer against the texts of the files.
fn check(answer: &Answer, files: &[(&str, &str)]) {
    assert!((0.0..=1.0).contains(&answer.confidence));
    let lacks = answer.references.is_empty() || answer.text.contains("not defined in the index. ");
    assert_eq!(lacks, answer.confidence < FOUND_CONFIDENCE_MIN, "{answer:?}");
    assert!(answer.references.len() <= 8);
    for (position, reference) in answer.references.iter().enumerate() {
        let (_, text) = files.iter().find(|(path, _)| *path == reference.path).unwrap();
        let lines = text.split('\n').skip(reference.lines.start() as usize - 1);
        let expected: Vec<&str> = lines.take(reference.lines.count() as usize).collect();
        assert_eq!(reference.snippet, expected.join("\n"));
        assert!(reference.lines.count() <= 40);
        let marker = format!("[{}]", position + 1);
        assert!(answer.text.contains(&marker), "{marker} is not in {}", answer.text);
        assert!(!answer.references[..position].contains(reference));
    }
    for part in answer.text.split('[').skip(1) {
        let Some((number, _)) = part.split_once(']') else { continue };
        if let Ok(number) = number.parse::<usize>() {
            assert!((1..=answer.references.len()).contains(&number), "{number} in {}", answer.text);
        }
    }
}

fn words() -> impl Strategy<Value = String> {
    let words = [
        "where",
        "is",
        "what",
        "does",
        "who",
        "calls",
        "why",
        "how",
        "list",
        "functions",
        "it",
        "in",
        "`Store`",
        "open_folder",
        "replay_log",
        "Storage",
        "parcels",
        "log",
        "password",
        "hashed",
        "src/store.rs",
        "src/store.rs:20-90",
        "report.py",
        "scripts",
        "retry",
        "routes",
        "errors",
        "settings",
        "Python",
        "and",
        "about",
        "quark",
        "DEPLOY_TOKEN",
        "backup",
        "[1]",
        "`",
        "[9]",
    ];
    prop::collection::vec(prop::sample::select(words.to_vec()), 0..7)
        .prop_map(|words| words.join(" ") + "?")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn every_reference_is_true(question in words(), earlier in words()) {
        let index = parcel();
        check(&ask(index, &[&earlier]), FILES);
        check(&ask(index, &[&earlier, &question]), FILES);
    }

    #[test]
    fn any_question_has_an_answer(question in ".{0,60}") {
        check(&ask(parcel(), &[&question]), FILES);
    }
}

#[test]
fn passages_are_numbered_and_begin_with_the_references() {
    let index = parcel();
    let found = grounding(index, "How are passwords hashed?", &[]).unwrap();
    for (position, passage) in found.passages.iter().enumerate() {
        assert_eq!(passage.number, position + 1);
    }
    for (reference, passage) in found.extractive.references.iter().zip(&found.passages) {
        assert_eq!((&reference.path, &reference.snippet), (&passage.path, &passage.snippet));
    }
    assert!(prompt("q", &found.passages, &[]).last().unwrap().content.contains("pbkdf2_hmac"));
    let none = grounding(index, "How does the Kubernetes operator reconcile pods?", &[]).unwrap();
    assert!(none.passages.is_empty());
}

#[test]
fn turns_may_refer_to_what_is_no_longer_there() {
    let index = parcel();
    let earlier = Turn {
        question: "Where is `Gone` defined?".to_owned(),
        references: vec![TurnReference {
            path: "gone.rs".to_owned(),
            lines: LineRange::new(1, 9).unwrap(),
        }],
        symbols: vec!["Gone".to_owned(), String::new(), "::".to_owned()],
    };
    check(&answer(index, "who calls it?", &[earlier]).unwrap(), FILES);
}
