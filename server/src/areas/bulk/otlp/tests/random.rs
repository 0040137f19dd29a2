//! Random requests give the same samples in both encodings, and arbitrary bytes never panic.

use proptest::prelude::*;
use serde_json::json;

use super::super::Encoding;
use super::messages::*;

fn any_value() -> impl Strategy<Value = Msg> {
    let leaf = prop_oneof![
        "[a-cé\"\\\\\u{1}]{0,6}".prop_map(|text| string(&text)),
        any::<i64>().prop_map(|n| msg().varint("intValue", 3, n as u64, n.to_string())),
        any::<bool>().prop_map(|b| msg().varint("boolValue", 2, b.into(), b)),
        (-1e9_f64..1e9).prop_map(|value| msg().double("doubleValue", 4, value)),
        Just(msg()),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3)
                .prop_map(|items| { msg().child("arrayValue", 5, msg().list("values", 1, items)) }),
            prop::collection::vec(("[a-c]{0,2}", inner), 0..3).prop_map(|items| {
                let items = items.into_iter().map(|(key, value)| pair(&key, value));
                msg().child("kvlistValue", 6, msg().list("values", 1, items))
            }),
        ]
    })
}

fn attributes(number: u32) -> impl Strategy<Value = Msg> {
    prop::collection::vec(("[a-c]{0,2}", any_value()), 0..4).prop_map(move |pairs| {
        let pairs = pairs.into_iter().map(|(key, value)| pair(&key, value));
        msg().list("attributes", number, pairs)
    })
}

fn time() -> impl Strategy<Value = u64> {
    prop_oneof![Just(0), Just(THEN_NS), Just(THEN_NS - 7_000_000_000), any::<u64>()]
}

fn number_point() -> impl Strategy<Value = Msg> {
    let value = prop_oneof![Just(2.5), Just(f64::NAN), Just(f64::NEG_INFINITY), Just(-0.0)];
    (attributes(7), time(), time(), value, 0_u64..3).prop_map(
        |(point, start, time, value, flags)| {
            let flags = u64::from(flags == 2);
            point
                .fixed("startTimeUnixNano", 2, start)
                .fixed("timeUnixNano", 3, time)
                .double("asDouble", 4, value)
                .varint("flags", 8, flags, flags)
        },
    )
}

fn histogram_point() -> impl Strategy<Value = Msg> {
    (attributes(9), prop::collection::vec(0_u64..5, 0..5), time()).prop_map(
        |(point, counts, time)| {
            let bounds: Vec<f64> = (1..counts.len()).map(|bound| bound as f64).collect();
            let bits: Vec<u64> = bounds.iter().map(|bound| bound.to_bits()).collect();
            point
                .fixed("startTimeUnixNano", 2, time)
                .fixed("timeUnixNano", 3, THEN_NS)
                .fixed("count", 4, counts.iter().sum())
                .packed("bucketCounts", 6, &counts, json!(counts))
                .packed("explicitBounds", 7, &bits, json!(bounds))
        },
    )
}

fn metric() -> impl Strategy<Value = Msg> {
    prop_oneof![
        number_point().prop_map(gauge),
        (0_u64..3, any::<bool>(), number_point()).prop_map(|(t, is, point)| sum(t, is, point)),
        (0_u64..3, histogram_point()).prop_map(|(t, point)| explicit(t, point)),
        (0_u64..3).prop_map(|t| exponential(t, spans())),
    ]
    .prop_flat_map(|metric| "[ab]{0,2}".prop_map(move |name| metric.clone().text("name", 1, &name)))
}

proptest! {
    // Each case opens engines.
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// The same request in either encoding, first with new and then with known series.
    #[test]
    fn both_encodings_give_the_same_samples(
        requests in prop::collection::vec(prop::collection::vec(metric(), 0..8), 1..20)
    ) {
        let (fixture, other) = (Fixture::open(), Fixture::open());
        for metrics in requests {
            let request = request(metrics);
            let first = fixture.both(&request);
            prop_assert_eq!(&fixture.both(&request), &first);
            let json = other.read(&request.in_json(), Encoding::Json).unwrap();
            prop_assert_eq!((json.0, serde_json::to_value(json.1).unwrap()), first);
        }
    }

    #[test]
    fn arbitrary_bytes_never_panic(
        bodies in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..200), 1..200),
        metrics in prop::collection::vec(metric(), 1..4),
        flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..200),
    ) {
        let fixture = Fixture::open();
        let (wire, json) = { let request = request(metrics); (request.wire.clone(), request.in_json()) };
        for body in bodies {
            for encoding in [Encoding::Protobuf, Encoding::Json] {
                drop(fixture.read(&body, encoding));
            }
        }
        for (at, byte) in flips {
            for (body, encoding) in [(&wire, Encoding::Protobuf), (&json, Encoding::Json)] {
                let mut body = body.clone();
                let at = at.index(body.len());
                body[at] = byte;
                drop(fixture.read(&body, encoding));
            }
        }
    }
}
