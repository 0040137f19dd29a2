//! Questions about something else: what they ask about has to be in the lines that are shown.

use super::fixture::ask;
use crate::areas::repositories::index::Index;
use crate::areas::repositories::wiki::test_index::index_of;

fn server() -> Index {
    index_of(&[
        ("README.md", "# Ferry\n\nFerry carries requests.\n"),
        (
            "src/read.rs",
            "/// Tries to read from the provided reader which is supported.\n\
             pub fn poll_read_to_end() {}\n",
        ),
        (
            "src/cancel.rs",
            "/// Cancels an in-flight request, which happens when it is dropped.\n\
             pub fn cancel_request() {}\n",
        ),
        ("src/date.rs", "/// Encodes a date as JSON.\npub fn encode_json_date(date: u64) {}\n"),
        (
            "src/pay.rs",
            "/// The voucher reduces the price of the shipping.\npub fn use_voucher() {}\n",
        ),
        ("src/win.rs", "/// One of the callers wins.\npub fn rate(win: u8) {}\n"),
    ])
}

#[test]
fn what_is_asked_about_is_in_the_lines() {
    let index = server();
    for question in [
        "Which payment providers are supported?",
        "What happens when a flight is cancelled?",
        "How is the wine rated?",
        "How are images encoded?",
        "Who wrote this code?",
        "When was ferry 1.0 released?",
    ] {
        let answer = ask(&index, &[question]);
        assert!(answer.references.is_empty(), "{question} {}", answer.text);
    }
}

#[test]
fn other_forms_and_other_verbs_are_the_same_thing() {
    let index = server();
    for (question, name) in [
        ("How are JSON dates serialised?", "`encode_json_date`"),
        ("What happens when a request is cancelled?", "`cancel_request`"),
        ("How are requests cancelled?", "`cancel_request`"),
        ("Is the voucher applied to the shipping?", "`use_voucher`"),
    ] {
        let answer = ask(&index, &[question]).text;
        assert!(answer.contains(name), "{question} {answer}");
    }
    let overview = ask(&index, &["What is ferry?"]).text;
    assert!(overview.contains("“Ferry carries requests.”"), "{overview}");
}

#[test]
fn whole_lists_need_no_earlier_question() {
    let index = server();
    for (question, text) in [
        ("list all functions", "`poll_read_to_end`"),
        ("How many files are there?", "`src/date.rs`"),
    ] {
        let answer = ask(&index, &[question]).text;
        assert!(answer.contains(text), "{question} {answer}");
    }
}
