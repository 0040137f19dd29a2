//! Bodies that no agent sends: malformed messages, and excessive labels and symbols.

use std::sync::LazyLock;

use proptest::prelude::*;
use prost::Message;
use telltale_engine::MetricType;
use telltale_tests::remote_write::{RequestV2, WriteRequest, labels, sample, series};

use super::fixture::{Fixture, T0};
use super::random::{request_v1, request_v2};
use crate::areas::bulk::protobuf::Malformed;
use crate::areas::bulk::remote_write::{Version, WriteError};
use crate::limits::{
    REMOTE_WRITE_LABEL_BYTES_MAX, REMOTE_WRITE_LABELS_MAX, REMOTE_WRITE_RESOLVED_BYTES_MAX,
    REMOTE_WRITE_SYMBOLS_MAX,
};

const BOTH: [Version; 2] = [Version::V1, Version::V2];

#[test]
fn a_malformed_request_is_rejected_as_a_whole() {
    let fixture = Fixture::new();
    let request = WriteRequest {
        timeseries: vec![series(&[("__name__", "up")], &[(T0, 1.0)]); 3],
        metadata: Vec::new(),
    };
    let good = request.encode_to_vec();
    let series = good.len() / 3;
    for bad in [
        &good[..good.len() - 1],
        &good[..2 * series + 1],
        &[&good, &b"\x0a"[..]].concat(),
        &[&good, &b"\x0a\x05abcd"[..]].concat(),
        // A group, a field number of 0, one that is too large, lengths out of range.
        &[&good, &b"\x0b\x0c"[..]].concat(),
        &[&good, &b"\x02\x00"[..]].concat(),
        &[&good, &b"\xff\xff\xff\xff\xff\x00\x00"[..]].concat(),
        &[&good, &b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"[..]].concat(),
        &[&good, &b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"[..]].concat(),
        // A series or metadata encoded as a number.
        &[&good, &b"\x08\x01"[..]].concat(),
        &[&good, &b"\x18\x01"[..]].concat(),
        &[&good, &b"\x1a\x02\x0a\x00"[..]].concat(),
        b"{\"metrics\": []}",
    ] {
        let refused = fixture.write_once(Version::V1, bad);
        assert_eq!(refused, Err(WriteError::Malformed(Malformed)), "{bad:?}");
    }
    assert_eq!(fixture.kind("up"), None, "nothing of a truncated body is stored");
}

#[test]
fn a_malformed_series_is_rejected_alone() {
    let fixture = Fixture::new();
    let good = series(&[("__name__", "up")], &[(T0, 1.0)]).encode_to_vec();
    let field = |bytes: &[u8]| {
        let mut field = vec![0x0a, u8::try_from(bytes.len()).unwrap()];
        field.extend(bytes);
        field
    };
    for (bad, code) in [
        (&good[..good.len() - 1], "invalid_parameter"),
        (&[&good, &b"\x12\x02\x09\x00"[..]].concat(), "invalid_parameter"),
        (&[&good, &b"\x12"[..]].concat(), "invalid_parameter"),
        (&[&good, &b"\x10\x01"[..]].concat(), "invalid_parameter"),
        // A label that is truncated, one that is a number, and two that are not UTF-8.
        (&[&b"\x0a\x03\x0a\x05a"[..], &good].concat(), "invalid_parameter"),
        (&[&b"\x0a\x02\x08\x01"[..], &good].concat(), "invalid_parameter"),
        (&[&b"\x0a\x06\x0a\x01k\x12\x01\xff"[..], &good].concat(), "invalid_tags"),
        (&[&b"\x0a\x06\x0a\x01\xc3\x12\x01v"[..], &good].concat(), "invalid_tags"),
    ] {
        let body = [field(&good), field(bad), field(&good)].concat();
        let result = fixture.write(Version::V1, &body);
        let listed: Vec<(u64, &str)> =
            result.errors.iter().map(|(i, c)| (*i, c.as_str())).collect();
        assert_eq!(listed, [(1, code)], "{bad:?}");
        assert_eq!(result.rejected, 1);
        assert!(result.accepted >= 2, "{result:?}");
    }
    assert_eq!(fixture.engine.stats().series, 1);
    assert_eq!(fixture.gauge("up", &[]), [(0, 1.0)]);
}

#[test]
fn a_series_with_a_million_labels_is_rejected_alone() {
    let fixture = Fixture::new();
    let million = vec![("", ""); 1_000_000];
    let request = WriteRequest {
        timeseries: vec![
            series(&million, &[(T0, 1.0)]),
            series(&[("__name__", "up")], &[(T0, 1.0)]),
        ],
        metadata: Vec::new(),
    };
    fixture.write(Version::V1, &request.encode_to_vec()).partly(1, &[(0, "invalid_tags")]);
    let mut request = RequestV2::new();
    request.series(&[]).labels_refs = vec![0; 2_000_000];
    request.timeseries[0].samples = vec![sample(T0, 1.0)];
    request.series(&[("__name__", "up")]).samples = vec![sample(T0, 1.0)];
    fixture.v2(&request).partly(1, &[(0, "invalid_tags")]);
}

#[test]
fn labels_without_values_count_towards_the_limit() {
    let fixture = Fixture::new();
    let mut pairs = vec![("__name__", "up")];
    pairs.resize(REMOTE_WRITE_LABELS_MAX, ("k", ""));
    fixture.v1(&[series(&pairs, &[(T0, 1.0)])]).all(1, 0);
    pairs.push(("k", ""));
    fixture.v1(&[series(&pairs, &[(T0, 1.0)])]).partly(0, &[(0, "invalid_tags")]);
}

#[test]
fn references_must_be_pairs_within_the_symbol_table() {
    let fixture = Fixture::new();
    let refs = |refs: &[u32]| {
        let mut request = RequestV2::new();
        request.series(&[("__name__", "up"), ("host", "a")]).samples = vec![sample(T0, 1.0)];
        request.timeseries[0].labels_refs = refs.to_vec();
        fixture.v2(&request)
    };
    refs(&[1, 2, 3, 4]).all(1, 0);
    refs(&[1, 2, 3]).partly(0, &[(0, "invalid_parameter")]);
    refs(&[1, 2, 3, 5]).partly(0, &[(0, "invalid_parameter")]);
    refs(&[1, u32::MAX]).partly(0, &[(0, "invalid_parameter")]);
    refs(&[]).partly(0, &[(0, "missing_name")]);
    assert_eq!(fixture.engine.stats().series, 1);
}

#[test]
fn the_number_of_symbols_and_the_bytes_they_resolve_to_are_limited() {
    let fixture = Fixture::new();
    let many = vec![String::new(); REMOTE_WRITE_SYMBOLS_MAX + 1];
    let request = RequestV2 { symbols: many, timeseries: Vec::new() };
    let refused = fixture.write_once(Version::V2, &request.encode_to_vec());
    assert_eq!(refused, Err(WriteError::TooManySymbols));

    let mut request = RequestV2::new();
    let long = "x".repeat(REMOTE_WRITE_LABEL_BYTES_MAX);
    request.series(&[("__name__", &long)]).samples = vec![sample(T0, 1.0)];
    fixture.v2(&request).partly(0, &[(0, "invalid_tags")]);

    // Few bytes that resolve to many: beyond the limit the remaining series are rejected unparsed.
    let mut request = RequestV2::new();
    let long = "x".repeat(REMOTE_WRITE_LABEL_BYTES_MAX - 100);
    request.series(&[("k", &long)]).samples = vec![sample(T0, 1.0)];
    let repeats = REMOTE_WRITE_RESOLVED_BYTES_MAX / long.len() + 10;
    request.timeseries = vec![request.timeseries[0].clone(); repeats];
    let result = fixture.write_once(Version::V2, &request.encode_to_vec()).unwrap();
    assert_eq!((result.accepted, result.rejected), (0, repeats));
    assert_eq!(result.errors[0].1, "missing_name");
}

#[test]
fn a_request_of_one_version_is_empty_in_the_other() {
    let fixture = Fixture::new();
    let v1 = WriteRequest {
        timeseries: vec![series(&[("__name__", "up")], &[(T0, 1.0)])],
        metadata: Vec::new(),
    };
    let mut v2 = RequestV2::new();
    v2.series(&[("__name__", "up")]).samples = vec![sample(T0, 1.0)];
    fixture.write(Version::V2, &v1.encode_to_vec()).all(0, 0);
    fixture.write(Version::V1, &v2.encode_to_vec()).all(0, 0);
    assert_eq!(fixture.kind("up"), None);
}

#[test]
fn two_series_never_have_the_same_key() {
    let fixture = Fixture::new();
    for (pairs, value) in [
        (&[("__name__", "m"), ("a", "b")][..], 1.0),
        (&[("__name__", "m"), ("ab", "c")], 2.0),
        (&[("__name__", "m"), ("a", "bc")], 3.0),
        (&[("__name__", "m"), ("a", "b"), ("c", "d")], 4.0),
        (&[("__name__", "m"), ("a", "b\u{1}c")], 5.0),
    ] {
        fixture.v1(&[series(pairs, &[(T0, value)])]).all(1, 0);
        let mut request = RequestV2::new();
        request.series(pairs).samples = vec![sample(T0 + 60_000, value + 10.0)];
        fixture.v2(&request).all(1, 0);
    }
    assert_eq!(fixture.engine.stats().series, 5);
    assert_eq!(labels(&[("a", "b")]).len(), 1);
    assert_eq!(fixture.kind("m"), Some(MetricType::Gauge));
}

/// Shared by all cases: a malformed body must not leave any state behind that affects the next one.
static SHARED: LazyLock<Fixture> = LazyLock::new(Fixture::new);

// Parsing any body terminates and is repeatable.
proptest! {
    #[test]
    fn arbitrary_bytes_get_a_repeatable_result(body in prop::collection::vec(any::<u8>(), 0..300)) {
        for version in BOTH {
            let first = SHARED.write_once(version, &body);
            prop_assert_eq!(first, SHARED.write_once(version, &body));
        }
    }

    #[test]
    fn corrupted_requests_get_a_repeatable_result(
        (v1, v2) in (request_v1(), request_v2()),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        cut in any::<prop::sample::Index>(),
    ) {
        for (version, mut body) in
            [(Version::V1, v1.encode_to_vec()), (Version::V2, v2.encode_to_vec())]
        {
            if body.is_empty() {
                continue;
            }
            body.truncate(cut.index(body.len()) + 1);
            for (at, byte) in &damage {
                let at = at.index(body.len());
                body[at] = *byte;
            }
            let first = SHARED.write_once(version, &body);
            prop_assert_eq!(first, SHARED.write_once(version, &body));
        }
    }
}
