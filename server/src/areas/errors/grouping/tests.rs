//! Tests of which events share a group, and of hashes that must never change.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::super::model::GroupHashes;
use super::super::sentry::with_event;
use super::hashes_of;

fn hash(event: &Value) -> String {
    hashes(event).current.format()
}

fn hashes(event: &Value) -> GroupHashes {
    with_event(event.to_string().as_bytes(), |occurrence| hashes_of(&occurrence)).unwrap()
}

fn frame(function: &str, line: u32) -> Value {
    json!({"filename": "app/views.py", "function": function, "lineno": line, "in_app": true})
}

fn raised(kind: &str, value: &str, frames: &[Value]) -> Value {
    json!({"exception": {"values": [{"type": kind, "value": value, "stacktrace": {"frames": frames}}]}})
}

/// Asserts that the events of each list share a group, and that no two lists share one.
#[track_caller]
fn groups(lists: &[&[Value]]) {
    let hashes: Vec<Vec<String>> =
        lists.iter().map(|list| list.iter().map(hash).collect()).collect();
    for list in &hashes {
        assert!(list.windows(2).all(|pair| pair[0] == pair[1]), "{hashes:?}");
    }
    let mut firsts: Vec<&String> = hashes.iter().filter_map(|list| list.first()).collect();
    firsts.sort_unstable();
    firsts.dedup();
    assert_eq!(firsts.len(), lists.len(), "{hashes:?}");
}

#[test]
fn line_numbers_and_messages_do_not_split_a_group_but_functions_do() {
    groups(&[
        &[
            raised("ValueError", "bad 1", &[frame("main", 1), frame("load", 10)]),
            raised("ValueError", "bad 2", &[frame("main", 3), frame("load", 99)]),
            raised("ValueError", "other", &[frame("main", 3), frame("load", 9), frame("load", 9)]),
        ],
        &[raised("ValueError", "bad 1", &[frame("main", 1), frame("save", 10)])],
        &[raised("KeyError", "bad 1", &[frame("main", 1), frame("load", 10)])],
        &[raised("ValueError", "bad 1", &[]), raised("ValueError", "bad 22", &[])],
        &[raised("ValueError", "worse 1", &[])],
    ]);
}

#[test]
fn package_frames_do_not_split_a_group() {
    let package =
        |name: &str| json!({"abs_path": format!("/x/site-packages/{name}"), "function": name});
    groups(&[&[
        raised("E", "", &[frame("main", 1), package("a")]),
        raised("E", "", &[package("b"), frame("main", 1), package("c")]),
    ]]);
}

#[test]
fn a_group_is_determined_by_the_whole_exception_chain() {
    let link = |kind: &str| json!({"type": kind, "stacktrace": {"frames": [frame(kind, 1)]}});
    groups(&[
        &[
            json!({"exception": {"values": [link("A"), link("B")]}}),
            json!({"exception": [link("A"), link("B")]}),
        ],
        &[json!({"exception": {"values": [link("B"), link("A")]}})],
        &[json!({"exception": {"values": [link("B")]}}), json!({"exception": link("B")})],
    ]);
}

#[test]
fn a_fingerprint_splits_and_joins_groups() {
    let with = |fingerprint: Value, kind: &str| {
        let mut event = raised(kind, "x", &[frame("main", 1)]);
        event["fingerprint"] = fingerprint;
        event
    };
    groups(&[
        &[
            raised("E", "x", &[frame("main", 1)]),
            with(json!([]), "E"),
            with(Value::Null, "E"),
            with(json!(["{{ default }}"]), "E"),
            with(json!(["{{default}}"]), "E"),
            with(json!("text"), "E"),
        ],
        &[with(json!(["{{ default }}", "tenant-a"]), "E")],
        &[with(json!(["{{ default }}", "tenant-b"]), "E")],
        &[with(json!(["{{ default }}", "tenant-a"]), "F")],
        &[with(json!(["mine"]), "E"), with(json!(["mine"]), "F")],
        &[with(json!(["mi", "ne"]), "E")],
    ]);
}

#[test]
fn messages_are_grouped_by_their_template() {
    groups(&[
        &[
            json!({"message": "user 5 not found"}),
            json!({"logentry": {"formatted": "user 77 not found"}}),
        ],
        &[
            json!({"logentry": {"message": "user %s not found", "formatted": "user 5 not found"}}),
            json!({"logentry": {"message": "user %s not found", "formatted": "user x not found"}}),
        ],
        &[json!({"message": "order 5 not found"})],
        &[json!({}), json!({"message": null, "exception": null}), json!([1])],
        &[json!({"transaction": "GET /"})],
    ]);
}

#[test]
fn the_stack_of_a_single_thread_determines_the_group() {
    let thread = |function: &str| json!({"stacktrace": {"frames": [frame(function, 1)]}});
    groups(&[
        &[
            json!({"threads": {"values": [thread("a")]}}),
            json!({"threads": [thread("a")], "message": "m"}),
        ],
        &[json!({"threads": {"values": [thread("b")]}})],
        &[
            json!({"threads": {"values": [thread("a"), thread("b")]}, "message": "m"}),
            json!({"message": "m"}),
        ],
    ]);
}

#[test]
fn hashes_are_stable_across_releases() {
    let events = [
        raised("ValueError", "bad", &[frame("main", 1)]),
        json!({"message": "user 5 not found"}),
        json!({"fingerprint": ["a", "{{ default }}"], "message": "m"}),
        json!({}),
    ];
    assert_eq!(
        events.each_ref().map(|event| hashes(event).earlier.format()),
        [
            "7a4a2783050706e1d78ec3b38d6b7b41",
            "598aff33e9539b92363025155e389669",
            "48d06ef5d2caadfc8a675f6425b2b2af",
            "74b984ca9c369c44070555bee09dcbf9"
        ]
    );
    assert_eq!(
        events.each_ref().map(hash),
        [
            "f9f08a34ecdd012eb30195356ad86fbf",
            "3d52d2d3204ffe4d1a2926a63adf2799",
            "6d69987f455268117080a512a0df1a0b",
            "053890405bfbe068408956caffe023e5"
        ]
    );
}

proptest! {
    #[test]
    fn any_input_has_a_stable_group(kind in "\\PC{0,20}", value in "\\PC{0,50}", function in "\\PC{0,20}") {
        let event = raised(&kind, &value, &[frame(&function, 1)]);
        prop_assert_eq!(hash(&event), hash(&event));
    }
}
