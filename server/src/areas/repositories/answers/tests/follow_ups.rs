//! Questions that can only be understood after earlier ones.

use super::fixture::{ask, parcel, turn};
use crate::areas::repositories::answers::{Turn, answer};

#[test]
fn a_pronoun_is_the_symbol_of_the_earlier_answer() {
    let index = parcel();
    for (questions, text) in [
        (
            &["Where is `replay_log` defined?", "who calls it?"][..],
            "`Store::open_folder` (src/store.rs:27)",
        ),
        (
            &["How are passwords hashed?", "Who uses it?"],
            "`DailyReport.login_user` (scripts/report.py:18)",
        ),
        (&["What is `StoreError`?", "where is it defined?"], "defined in src/error.rs:4"),
        (
            &[
                "What does `Store::open_folder` do?",
                "Where is that function?",
                "and what does it call?",
            ],
            "`Store::open_folder` calls `replay_log`",
        ),
        (&["Who calls `replay_log`?", "Why?"], "because the first pass"),
        (
            &["What is `Storage`?", "What about `HttpClient`?"],
            "`HttpClient` is a class in web/client.ts:7",
        ),
        (
            &["Where is `Storage` defined?", "What is this repository?", "what implements it?"],
            "`MemoryStore`",
        ),
    ] {
        let answer = ask(index, questions);
        assert!(answer.text.contains(text), "{questions:?}\n{}", answer.text);
    }
}

#[test]
fn a_language_restricts_the_earlier_question() {
    let index = parcel();
    let answer = ask(index, &["How does a failed call retry?", "and in TypeScript?"]);
    assert!(answer.references.iter().all(|found| found.path.ends_with(".ts")), "{answer:?}");
    assert!(answer.text.contains("`retryTwice`"), "{}", answer.text);
    let none = ask(index, &["How are passwords hashed?", "and in Go?"]);
    assert!(none.references.is_empty(), "{none:?}");
}

#[test]
fn without_an_earlier_question_nothing_is_guessed() {
    let index = parcel();
    for question in ["who calls it?", "Why?", "and in Python?", "where is it defined?"] {
        let answer = ask(index, &[question]);
        assert!(answer.references.is_empty() && answer.confidence < 0.2, "{question} {answer:?}");
    }
}

#[test]
fn turns_without_symbols_are_understood_by_their_references() {
    let index = parcel();
    let first = answer(index, "How are passwords hashed?", &[]).unwrap();
    let earlier =
        Turn { symbols: Vec::new(), question: "passwords?".to_owned(), ..turn("", &first) };
    let second = answer(index, "who calls it?", &[earlier]).unwrap();
    assert!(second.text.contains("`DailyReport.login_user`"), "{}", second.text);
}

#[test]
fn only_the_last_turns_count() {
    let index = parcel();
    let mut questions = vec!["Where is `replay_log` defined?"];
    questions.extend(["What is the meaning of quarks?"; 3]);
    questions.push("who calls it?");
    assert!(ask(index, &questions).references.is_empty());
}
