//! What a block promises: decoding returns what was encoded, every query result equals that of a
//! scan of all rows, and corruption is an error.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use proptest::prelude::*;

use super::*;
use crate::clock::Clock;
use crate::codec::integers::Effort;
use crate::error::{Error, Result};
use crate::events::{EventSource, NO_CODE, Numbers, RowSet, StringNumbers};
use crate::model::{
    Event, EventField, EventGroupBy, EventId, EventRows, NameFilter, NewEvent, Properties,
    TagCondition, TagFilter, TimestampMs,
};
use crate::sketch::hash_member;

const DAY_MS: i64 = 86_400_000;
const DAY: u32 = 20_000;

/// A deterministic pseudo-random number generator.
pub(super) struct TestRandom(Cell<u64>);

impl TestRandom {
    pub(super) fn new(seed: u64) -> Self {
        Self(Cell::new(seed))
    }

    pub(super) fn below(&self, end: u64) -> u64 {
        let seed = self.0.get().wrapping_add(0x9e37_79b9_7f4a_7c15);
        self.0.set(seed);
        let mixed = (seed ^ (seed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % end.max(1)
    }

    fn one_in(&self, n: u64) -> bool {
        self.below(n) == 0
    }
}

/// Parameters of a random history of events.
#[derive(Clone, Debug)]
struct HistoryKind {
    seed: u64,
    rows: usize,
    sources: usize,
    names: u64,
    users: u64,
    tag_values: u64,
    rare_tags: u64,
    odd_properties: u64,
    values: u64,
}

fn kinds(rows: std::ops::Range<usize>) -> impl Strategy<Value = HistoryKind> {
    let pools = (1u64..400, 1u64..800, 1u64..600, 0u64..40, 1u64..6, 0u64..3);
    (any::<u64>(), rows, 1usize..4, pools).prop_map(
        |(seed, rows, sources, (names, users, tag_values, rare_tags, odd_properties, values))| {
            // Half of the histories have few distinct strings.
            let few = |n: u64| if seed % 2 == 0 { n.min(7) } else { n };
            let (names, users, tag_values) = (few(names), few(users), few(tag_values));
            HistoryKind {
                seed,
                rows,
                sources,
                names,
                users,
                tag_values,
                rare_tags,
                odd_properties,
                values,
            }
        },
    )
}

fn json(random: &TestRandom, depth: u64) -> String {
    let keys = ["a", "b", "a.b", "plan", "q\\\"", "é"];
    let key = || keys[random.below(6) as usize];
    match random.below(if depth > 3 { 8 } else { 11 }) {
        0 => random.below(100).to_string(),
        1 => format!("{}", random.below(1 << 62) as i64 - (1 << 61)),
        2 => format!("{:?}", random.below(100_000) as f64 / 100.0 - 300.0),
        3 => format!("{:?}", f64::from_bits(random.below(0x7fef_ffff_ffff_ffff))),
        4 => format!("\"t{}\\n\\\"é\"", random.below(30)),
        5 => ["true", "false", "null"][random.below(3) as usize].to_owned(),
        6 => ["18446744073709551615", "-0.0", "9223372036854775808", "0"][random.below(4) as usize]
            .to_owned(),
        7 => format!("\"{}\"", random.below(u64::MAX)),
        8 => {
            let items: Vec<String> =
                (0..random.below(4)).map(|_| json(random, depth + 1)).collect();
            format!("[{}]", items.join(","))
        }
        _ => {
            let items: Vec<String> = (0..random.below(4))
                .map(|_| format!("\"{}\":{}", key(), json(random, depth + 1)))
                .collect();
            format!("{{{}}}", items.join(","))
        }
    }
}

fn properties(random: &TestRandom, kind: &HistoryKind) -> Option<Properties> {
    let text = match random.below(8 + kind.odd_properties) {
        0 => return None,
        1..3 => format!(
            r#"{{"plan":"p{}","items":{},"total":{:?}}}"#,
            random.below(3),
            random.below(9),
            random.below(9999) as f64 / 100.0
        ),
        3 => format!(r#"{{"a":{{"b":{}}},"a.b":"{}"}}"#, random.below(1000), random.below(1 << 40)),
        4 => format!(r#"{{"a":{:?},"ok":{}}}"#, random.below(100) as f64 / 8.0, random.one_in(2)),
        5 => format!(r#"{{"list":[{}],"n":null,"o":{{}}}}"#, random.below(5)),
        6 => format!(r#"{{"a":{},"a":{}}}"#, random.below(50), json(random, 4)),
        7 => "{}".to_owned(),
        _ => format!("{{\"a\":{},\"b\":{}}}", json(random, 0), json(random, 0)),
    };
    Some(Properties::parse(&text).unwrap())
}

/// Returns a history: its sources, and the rows of all of them in block order.
fn history(kind: &HistoryKind) -> (Vec<EventRows>, Vec<(u32, u32)>) {
    let random = TestRandom::new(kind.seed);
    let mut sources = vec![EventRows::default(); kind.sources];
    let mut rows = Vec::new();
    for number in 0..kind.rows as u64 {
        let name = format!("n{}", random.below(kind.names));
        let user = (!random.one_in(5)).then(|| format!("user-{}", random.below(kind.users)));
        let value = (random.below(2) < kind.values && name != "n1")
            .then(|| random.below(10_000) as f64 / if random.one_in(40) { 7.0 } else { 100.0 });
        let mut tags = vec![("zone".to_owned(), format!("z{}", random.below(3)))];
        if !random.one_in(4) {
            tags.push(("page".to_owned(), format!("/p/{}", random.below(kind.tag_values))));
        }
        if kind.rare_tags > 0 && random.one_in(3) {
            tags.push((format!("rare{}", random.below(kind.rare_tags)), "x".to_owned()));
        }
        let properties = properties(&random, kind);
        let time = i64::from(DAY) * DAY_MS + random.below(5_000) as i64 * 17;
        let tags: Vec<(&str, &str)> = tags.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
        let source = random.below(kind.sources as u64) as usize;
        let received = TimestampMs(time + 5 + (number / 50) as i64);
        sources[source].push(
            EventId::new(received, number),
            &NewEvent {
                name: &name,
                time: TimestampMs(time),
                user: user.as_deref(),
                value,
                tags: &tags,
                properties: properties.as_ref(),
            },
        );
        rows.push((source as u32, sources[source].len() as u32 - 1));
    }
    let key = |(s, r): (u32, u32)| {
        let source = &sources[s as usize];
        (source.times()[r as usize], source.ids()[r as usize])
    };
    rows.sort_by_key(|row| key(*row));
    (sources, rows)
}

struct EncodedHistory {
    events: Vec<Event>,
    bytes: Vec<u8>,
    info: EventBlockInfo,
}

fn encode_history(kind: &HistoryKind, effort: Effort) -> EncodedHistory {
    let (sources, rows) = history(kind);
    let borrowed: Vec<&EventRows> = sources.iter().collect();
    let bytes = encode(&borrowed, &rows, effort).unwrap();
    let event =
        |(source, row): &(u32, u32)| sources[*source as usize].event(*row as usize).unwrap();
    let info = describe(EventBlockKey { day: DAY, sequence: 3 }, &bytes).unwrap();
    EncodedHistory { events: rows.iter().map(event).collect(), bytes, info }
}

fn positions(rows: RowSet, of: usize) -> Vec<u32> {
    if let RowSet::Some(rows) = &rows {
        assert!(rows.len() < of as u64, "a full set must be RowSet::All");
    }
    rows.to_bitmap(of as u32).iter().collect()
}

fn number_at(event: &Event, field: &EventField) -> Option<f64> {
    let path = match field {
        EventField::Value => return event.value,
        EventField::Property(path) => path,
    };
    let value: serde_json::Value = serde_json::from_str(event.properties.as_deref()?).unwrap();
    path.iter().try_fold(&value, |value, key| value.as_object()?.get(key))?.as_f64()
}

/// Returns the rows of matching events, by a scan.
fn matching(events: &[Event], matches: impl Fn(&Event) -> bool) -> Vec<u32> {
    (0..).zip(events).filter(|(_, event)| matches(event)).map(|(row, _)| row).collect()
}

fn tag<'e>(event: &'e Event, key: &str) -> Option<&'e str> {
    event.tags.iter().find(|(k, _)| k == key).map(|(_, value)| value.as_str())
}

fn check_source(encoded: &EncodedHistory, block: &EventBlock<'_>) {
    let events = &encoded.events;
    let all = events.len();
    assert_eq!(block.rows() as usize, all);
    assert_eq!(block.time_bounds(), (events[0].time.0, events[all - 1].time.0));
    assert!(block.times().unwrap().iter().eq(events.iter().map(|e| &e.time.0)));
    let some: Vec<u32> = (0..all as u32).rev().step_by(3).collect();
    let chosen: Vec<Event> = some.iter().map(|row| events[*row as usize].clone()).collect();
    assert_eq!(block.ids(&some).unwrap(), chosen.iter().map(|e| e.id).collect::<Vec<_>>());
    assert_eq!(block.events(&some).unwrap(), chosen);
    let hash = |e: &Event| e.user.as_deref().map_or(0, hash_member);
    assert!(block.user_hashes().unwrap().iter().copied().eq(events.iter().map(hash)));
    check_filters(events, block);
    for by in [
        EventGroupBy::Name,
        EventGroupBy::User,
        EventGroupBy::Tag("zone".into()),
        EventGroupBy::Tag("page".into()),
        EventGroupBy::Tag("rare0".into()),
        EventGroupBy::Tag("none".into()),
    ] {
        check_groups(events, block, &by);
        check_numbers(events, block, &by);
    }
    let paths: [&[&str]; 8] =
        [&["a"], &["b"], &["a", "b"], &["a.b"], &["items"], &["total"], &["a", "a"], &["list"]];
    let path = |keys: &[&str]| EventField::Property(keys.iter().map(|k| k.to_string()).collect());
    let of_name = block.with_name(&NameFilter::Exactly(events[0].name.clone())).unwrap();
    for field in paths.iter().map(|keys| path(keys)).chain([EventField::Value]) {
        for rows in [&RowSet::All, &of_name, &RowSet::none()] {
            let mut expected = Numbers::default();
            for row in rows.to_bitmap(all as u32) {
                if let Some(number) = number_at(&events[row as usize], &field) {
                    expected.positions.push(row);
                    expected.values.push(number);
                }
            }
            assert_eq!(block.numbers(&field, rows).unwrap(), expected, "{field:?}");
        }
    }
}

fn text_of<'e>(event: &'e Event, by: &EventGroupBy) -> Option<&'e str> {
    match by {
        EventGroupBy::Name => Some(&event.name),
        EventGroupBy::User => event.user.as_deref(),
        EventGroupBy::Tag(key) => tag(event, key),
    }
}

/// Checks that rows have the same number if they have the same string, whether there is room to
/// share the numbers of all strings or of few, for all rows and for few, the first time and again.
fn check_numbers(events: &[Event], block: &EventBlock<'_>, by: &EventGroupBy) {
    let few = RowSet::Some((0..block.rows()).step_by(7).collect());
    for bytes_max in [1 << 20, 600] {
        let numbers = StringNumbers::new(bytes_max, Clock::system());
        let in_use = numbers.of(by);
        let mut known = BTreeMap::new();
        for rows in [&few, &RowSet::All, &few, &RowSet::All] {
            let found = block.string_numbers(by, &in_use, rows).unwrap();
            for row in rows.to_bitmap(block.rows()) {
                let text = text_of(&events[row as usize], by);
                let number = found.as_ref().map_or(NO_CODE, |found| found.numbers[row as usize]);
                assert_eq!(text.is_some(), number != NO_CODE, "{by:?}, row {row}");
                let first = *known.entry(text).or_insert(number);
                assert_eq!(first, number, "{by:?}, row {row}");
            }
        }
        let different: std::collections::BTreeSet<u32> = known.values().copied().collect();
        assert_eq!(different.len(), known.len(), "{by:?}");
    }
}

fn check_filters(events: &[Event], block: &EventBlock<'_>) {
    let all = events.len();
    for name in ["n0", "n1", "n399", "none", "n", ""] {
        let rows = block.with_name(&NameFilter::Exactly(name.into())).unwrap();
        assert_eq!(positions(rows, all), matching(events, |e| e.name == name));
    }
    for prefix in ["n1", "n", "", "n25", "x", "\u{10ffff}"] {
        let rows = block.with_name(&NameFilter::Prefix(prefix.into())).unwrap();
        assert_eq!(positions(rows, all), matching(events, |e| e.name.starts_with(prefix)));
    }
    assert_eq!(block.with_name(&NameFilter::Any).unwrap(), RowSet::All);
    for user in ["user-0", "user-1", "user-77", "user-", "", "zz"] {
        let rows = block.with_user(user).unwrap();
        assert_eq!(positions(rows, all), matching(events, |e| e.user.as_deref() == Some(user)));
    }
    for key in ["zone", "page", "rare0", "none"] {
        let filter = |condition| TagFilter { key: key.into(), condition };
        for values in [
            vec![],
            vec!["z0", "z1", "z2"],
            vec!["/p/0", "/p/11", "/p/11"],
            vec!["x", "z1"],
            vec!["z1", "", "x", "z1"],
            vec![""],
        ] {
            check_values(events, block, key, &values);
        }
        for prefix in ["", "z", "/p/1", "/p/55", "{"] {
            let rows = block.with_tag(&filter(TagCondition::Prefix(prefix.into()))).unwrap();
            let is = |e: &Event| tag(e, key).is_some_and(|value| value.starts_with(prefix));
            assert_eq!(positions(rows, all), matching(events, is));
        }
    }
}

/// Checks the rows with one of these values of a tag, and the rows with other values. A missing tag
/// is the empty value.
fn check_values(events: &[Event], block: &EventBlock<'_>, key: &str, values: &[&str]) {
    let all = events.len();
    let owned: Vec<String> = values.iter().map(|v| (*v).to_owned()).collect();
    let filter = |condition| TagFilter { key: key.into(), condition };
    let any = block.with_tag(&filter(TagCondition::AnyOf(owned.clone().into()))).unwrap();
    let is = |e: &Event| values.contains(&tag(e, key).unwrap_or(""));
    assert_eq!(positions(any, all), matching(events, is));
    let none = block.with_tag(&filter(TagCondition::NoneOf(owned.into()))).unwrap();
    assert_eq!(positions(none, all), matching(events, |e| !is(e)));
}

fn check_groups(events: &[Event], block: &EventBlock<'_>, by: &EventGroupBy) {
    let text = |event: &Event| text_of(event, by).map(str::to_owned);
    let groups = block.groups(by).unwrap();
    let found = groups.codes.iter().map(|code| match *code {
        NO_CODE => None,
        code => Some(groups.strings[code as usize].to_string()),
    });
    assert!(found.eq(events.iter().map(text)));
    let mut expected: BTreeMap<String, Vec<u32>> = BTreeMap::new();
    for (row, text) in (0..).zip(events.iter().map(text)) {
        if let Some(text) = text {
            expected.entry(text).or_default().push(row);
        }
    }
    assert!(groups.strings.iter().map(|t| &**t).eq(expected.keys()), "distinct strings, sorted");
    assert_eq!(groups.rows.is_some(), expected.len() <= crate::limits::EVENT_LISTED_STRINGS_MAX);
    let counts = block.counts(by).unwrap();
    assert_eq!(counts.is_some(), groups.rows.is_some());
    for (bitmap, rows) in groups.rows.iter().flatten().zip(expected.values()) {
        assert!(bitmap.iter().eq(rows.iter().copied()));
    }
    let expected_counts =
        expected.iter().map(|(text, rows)| (Box::from(text.as_str()), rows.len() as u32));
    assert!(counts.is_none_or(|counts| counts.into_iter().eq(expected_counts)));
}

fn check_all(kind: &HistoryKind, effort: Effort) {
    let encoded = encode_history(kind, effort);
    assert!(read_checked(&encoded.info, &encoded.bytes).is_ok());
    let again = decode(&encoded.bytes).unwrap();
    assert_eq!(again.len(), encoded.events.len());
    for (row, event) in encoded.events.iter().enumerate() {
        assert_eq!(again.event(row).as_ref(), Some(event));
    }
    let order: Vec<(u32, u32)> = (0..again.len() as u32).map(|row| (0, row)).collect();
    assert!(
        encode(&[&again], &order, effort).unwrap() == encoded.bytes,
        "encoding is deterministic"
    );
    let cache = PartsCache::new(64 << 20);
    let reads = AtomicUsize::new(0);
    let fetch = || {
        reads.fetch_add(1, Ordering::Relaxed);
        Ok(encoded.bytes.as_slice())
    };
    for opened in 1..=2 {
        let block = EventBlock::open(&encoded.info, &cache, fetch).unwrap();
        check_source(&encoded, &block);
        assert_eq!(reads.load(Ordering::Relaxed), 1, "opened {opened} times, read once");
    }
    let tiny = PartsCache::new(2_000);
    let block = EventBlock::open(&encoded.info, &tiny, fetch).unwrap();
    check_source(&encoded, &block);
    // Unsorted, and more than the column has, so that the strings of the column are scanned.
    let many: Vec<String> = (0..900).rev().step_by(2).map(|n| format!("/p/{n}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    ["page", "zone", "none"]
        .iter()
        .for_each(|key| check_values(&encoded.events, &block, key, &many));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]
    #[test]
    fn query_results_equal_those_of_a_scan(kind in kinds(1..700), effort in 0usize..3) {
        check_all(&kind, [Effort::Seal, Effort::Merge, Effort::Plain][effort]);
    }

    #[test]
    fn any_difference_between_a_block_and_its_rows_is_detected(kind in kinds(1..200), row in any::<prop::sample::Index>()) {
        let (sources, rows) = history(&kind);
        let block = encode_history(&kind, Effort::Seal).bytes;
        let same = |sources: &[EventRows], rows: &[(u32, u32)]| {
            compare::compare(&sources.iter().collect::<Vec<_>>(), rows, &block).is_ok()
        };
        prop_assert!(same(&sources, &rows));
        prop_assert!(!same(&sources, &rows[1..]));
        let (source, at) = rows[row.index(rows.len())];
        let event = sources[source as usize].event(at as usize).unwrap();
        for change in 0..=CHANGES {
            let changed = changed(event.clone(), change);
            let mut others = sources.clone();
            others.push(EventRows::default());
            others[kind.sources].append(&as_row(&changed));
            let mut places = rows.clone();
            places[row.index(rows.len())] = (kind.sources as u32, 0);
            prop_assert_eq!(same(&others, &places), changed == event, "change {}", change);
        }
    }

    #[test]
    fn a_changed_byte_is_detected(kind in kinds(1..60), at in any::<prop::sample::Index>(), to in 1u8..=255) {
        let encoded = encode_history(&kind, Effort::Seal);
        let mut bytes = encoded.bytes.clone();
        let at = at.index(bytes.len());
        bytes[at] ^= to;
        prop_assert!(read_checked(&encoded.info, &bytes).is_err());
        prop_assert!(decode(&bytes).is_err());
        let cache = PartsCache::new(1 << 20);
        let opened = EventBlock::open(&encoded.info, &cache, || Ok(bytes.as_slice()));
        // A query result is correct or an error.
        if let Ok(block) = opened {
            assert_correct_or_corrupt(block.times().map(|t| t.to_vec()), encoded.events.iter().map(|e| e.time.0).collect());
            assert_correct_or_corrupt(block.events(&[0]), vec![encoded.events[0].clone()]);
            let values = block.numbers(&EventField::Value, &RowSet::All).map(|n| n.values);
            assert_correct_or_corrupt(values, encoded.events.iter().filter_map(|e| e.value).collect());
        }
    }

    #[test]
    fn truncated_blocks_and_random_bytes_are_an_error(kind in kinds(1..40), at in any::<prop::sample::Index>(), any in proptest::collection::vec(any::<u8>(), 0..200)) {
        let bytes = encode_history(&kind, Effort::Seal).bytes;
        prop_assert!(decode(&bytes[..at.index(bytes.len())]).is_err());
        prop_assert!(decode(&any).is_err());
    }
}

/// The number of changes of [`changed`].
const CHANGES: usize = 14;

/// Returns an event with one thing changed if it has it. Change 0 is none.
fn changed(mut event: Event, change: usize) -> Event {
    match change {
        0 => {}
        1 => event.name.push('x'),
        2 => event.user = Some(event.user.map_or_else(|| "u".into(), |user| user + "x")),
        3 => event.user = None,
        4 => event.value = Some(event.value.map_or(0.0, |value| value + 1.0)),
        5 => event.value = None,
        6 => event.tags.push(("zzz".into(), "x".into())),
        7 => drop(event.tags.pop()),
        8 => event.tags.iter_mut().take(1).for_each(|(_, value)| value.push('x')),
        9 => event.tags.iter_mut().take(1).for_each(|(key, _)| key.insert(0, '!')),
        10 => event.properties = Some(r#"{"never":[1]}"#.into()),
        11 => event.properties = None,
        12 => event.properties = event.properties.map(|text| with_other_digit(&text)),
        13 => event.time.0 += 1,
        _ => event.id = EventId::new(event.id.received(), event.id.number() + 1_000_000),
    }
    event
}

/// Returns a text in which the first digit is another one, if it has any.
fn with_other_digit(text: &str) -> String {
    let digit = text.chars().find(char::is_ascii_digit).unwrap_or(' ');
    let other = if digit == '1' { "2" } else { "1" };
    if digit == ' ' { text.to_owned() } else { text.replacen(digit, other, 1) }
}

/// Returns an event as the only row.
fn as_row(event: &Event) -> EventRows {
    let tags: Vec<(&str, &str)> =
        event.tags.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
    let properties = event.properties.as_deref().map(|text| Properties::parse(text).unwrap());
    let new = NewEvent {
        name: &event.name,
        time: event.time,
        user: event.user.as_deref(),
        value: event.value,
        tags: &tags,
        properties: properties.as_ref(),
    };
    let mut rows = EventRows::default();
    rows.push(event.id, &new);
    rows
}

fn assert_correct_or_corrupt<T: PartialEq + std::fmt::Debug>(answer: Result<T>, expected: T) {
    match answer {
        Ok(answer) => assert_eq!(answer, expected),
        Err(error) => assert!(matches!(error, Error::Corrupt(_)), "{error}"),
    }
}

#[test]
fn large_blocks_have_many_pages() {
    let kind = HistoryKind {
        seed: 1,
        rows: 20_000,
        sources: 2,
        names: 30,
        users: 9_000,
        tag_values: 3_000,
        rare_tags: 300,
        odd_properties: 1,
        values: 1,
    };
    check_all(&kind, Effort::Seal);
    check_all(&HistoryKind { names: 5_000, seed: 2, ..kind }, Effort::Merge);
}

#[test]
fn properties_of_the_largest_size_round_trip() {
    let text = format!("{{\"a\":\"{}\"}}", "x".repeat(crate::limits::PROPERTIES_BYTES_MAX - 8));
    let properties = Properties::parse(&text).unwrap();
    let mut rows = EventRows::default();
    for number in 0..5 {
        let time = TimestampMs(i64::from(DAY) * DAY_MS);
        let properties = Some(&properties);
        let event = NewEvent { name: "n", time, user: None, value: None, tags: &[], properties };
        rows.push(EventId::new(time, number), &event);
    }
    let order: Vec<(u32, u32)> = (0..5).map(|row| (0, row)).collect();
    let again = decode(&encode(&[&rows], &order, Effort::Merge).unwrap()).unwrap();
    assert_eq!(again.properties(4), text);
}

#[test]
fn rows_that_cannot_form_a_block_are_refused() {
    let kind = HistoryKind {
        seed: 5,
        rows: 3,
        sources: 1,
        names: 2,
        users: 2,
        tag_values: 2,
        rare_tags: 0,
        odd_properties: 1,
        values: 1,
    };
    let (sources, rows) = history(&kind);
    let encoded = |rows: &[(u32, u32)]| encode(&[&sources[0]], rows, Effort::Seal);
    assert!(encoded(&rows).is_ok());
    assert!(encoded(&[rows[1], rows[0]]).is_err());
    assert!(encoded(&[]).is_err());
    assert!(encoded(&[(0, 3)]).is_err());
    assert!(encoded(&[(1, 0)]).is_err());
    let bytes = encoded(&rows).unwrap();
    assert!(describe(EventBlockKey { day: DAY + 1, sequence: 3 }, &bytes).is_err());
    let info = describe(EventBlockKey { day: DAY, sequence: 3 }, &bytes).unwrap();
    assert!(read_checked(&EventBlockInfo { rows: 4, ..info }, &bytes).is_err());
    let cache = PartsCache::new(1 << 20);
    let other = EventBlockInfo { bytes: info.bytes + 1, ..info };
    assert!(EventBlock::open(&other, &cache, || Ok(bytes.as_slice())).is_err());
}
