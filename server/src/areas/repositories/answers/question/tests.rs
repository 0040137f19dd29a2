//! What questions are understood as.

use super::model::{Listed, Mention, Needs, Question, QuestionKind};
use crate::areas::repositories::source::{Language, LineRange, SymbolKind};

fn name(parts: &[&str]) -> Mention {
    Mention::Name(parts.iter().map(|part| (*part).to_owned()).collect())
}

fn path(path: &str, lines: Option<(u32, u32)>) -> Mention {
    let lines = lines.and_then(|(start, end)| LineRange::new(start, end));
    Mention::Path { path: path.to_owned(), lines }
}

#[test]
fn questions_have_kinds() {
    use QuestionKind::*;
    for (text, kind) in [
        ("Where is `parse` defined?", Definition),
        ("where is HttpServer implemented", Definition),
        ("Find parse_config", Definition),
        ("Where are passwords hashed?", Definition),
        ("What does Store::open do?", Description),
        ("What is a lease?", Description),
        ("Explain src/store.rs", Description),
        ("What is the purpose of the sweep?", Description),
        ("How does `Store` work?", Description),
        ("What is `Store` used for?", Description),
        ("How does the sync work?", Topic),
        ("How are passwords hashed?", Topic),
        ("Who calls parse_config?", Callers),
        ("Where is parse_config used?", Callers),
        ("What uses `Store`?", Callers),
        ("which functions call open?", Callers),
        ("What depends on the store module?", Callers),
        ("What does `main` call?", Dependencies),
        ("What does src/store.rs depend on?", Dependencies),
        ("Which functions does `run` call?", Dependencies),
        ("What implements Storage?", Implementations),
        ("Which classes extend `Shape`?", Implementations),
        (
            "List the functions in src/store.rs",
            List(Listed::Symbols(&[SymbolKind::Function, SymbolKind::Method])),
        ),
        ("Which routes are there?", List(Listed::Routes)),
        ("What are the available settings?", List(Listed::Settings)),
        ("Which errors can it return?", List(Listed::Errors)),
        ("What is this repository?", Overview),
        ("what does this project do", Overview),
        ("Give me an overview", Overview),
        ("How is the code organised?", Overview),
        ("Why is the lock taken twice?", Reason),
        ("And why?", Reason),
    ] {
        assert_eq!(Question::parse(text).kind, kind, "{text}");
    }
}

#[test]
fn names_and_paths_are_found() {
    for (text, mentions) in [
        ("Where is `parse` defined?", vec![name(&["parse"])]),
        ("What does Store::open() do?", vec![name(&["Store", "open"])]),
        ("who calls os.path.join?", vec![name(&["os", "path", "join"])]),
        ("What is HttpServer's job?", vec![name(&["HttpServer"])]),
        ("explain src/x.rs:10-20", vec![path("src/x.rs", Some((10, 20)))]),
        ("explain main.py:7", vec![path("main.py", Some((7, 7)))]),
        ("what is in ./src/areas/?", vec![path("src/areas", None)]),
        ("How do GitHub and JavaScript work together, e.g. with URLs?", vec![]),
        ("What does max_retries mean?", vec![name(&["max_retries"])]),
    ] {
        assert_eq!(Question::parse(text).mentions, mentions, "{text}");
    }
}

#[test]
fn follow_ups_are_found() {
    for (text, needs) in [
        ("who calls it?", Needs::Subject),
        ("where is it defined?", Needs::Subject),
        ("Why?", Needs::Subject),
        ("And what does that function return?", Needs::Subject),
        ("what are its callers", Needs::Subject),
        ("and in Python?", Needs::EarlierQuestion),
        ("what about `close`?", Needs::EarlierQuestion),
        ("who calls `open`?", Needs::Nothing),
        ("What is this repository?", Needs::Nothing),
        ("How does this server store passwords and sessions on disk?", Needs::Nothing),
    ] {
        assert_eq!(Question::parse(text).needs, needs, "{text}");
    }
}

#[test]
fn topics_have_no_filler() {
    for (text, topic, language) in [
        (
            "How are passwords hashed in Python?",
            &["passwords", "hashed"][..],
            Some(Language::Python),
        ),
        (
            "How does the Kubernetes operator reconcile pods?",
            &["kubernetes", "operator", "reconcile", "pods"],
            None,
        ),
        ("What does `parseHeader` do?", &["parseheader", "parse", "header"], None),
    ] {
        let question = Question::parse(text);
        assert_eq!(
            (question.topic.as_slice(), question.language),
            (&topic.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>()[..], language),
            "{text}"
        );
    }
}

#[test]
fn any_text_is_a_question() {
    for text in
        ["", "?", "`", "```", "` `", "::", "a::", "….", "x:99999999999", "#L", "日本語は?", "\u{0}"]
    {
        Question::parse(text);
    }
}
