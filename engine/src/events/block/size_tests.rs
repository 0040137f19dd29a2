//! The size of events on disk, and the exact bytes of a small block.

use super::header::Header;
use super::tests::TestRandom;
use super::*;
use crate::codec::integers::Effort;
use crate::limits::EVENT_BLOCK_ROWS_MAX;
use crate::model::{EventId, EventRows, NewEvent, Properties, TimestampMs};

const DAY_START: i64 = 20_000 * 86_400_000;
/// Maximum bytes per event of [`ordinary_block`]: a documented promise of the project.
const EVENT_BYTES_MAX: usize = 22;

/// Returns a full block out of a day of five million events: 20 names, 100 000 users, values with
/// two decimals, three tags, small properties.
fn ordinary_block() -> EventRows {
    let random = TestRandom::new(1);
    let mut rows = EventRows::default();
    let mut time = DAY_START as f64;
    for number in 0..EVENT_BLOCK_ROWS_MAX as u64 {
        time -= 17.28 * (1.0 - random.below(1 << 30) as f64 / (1u64 << 30) as f64).ln();
        let user = format!("user-{}", random.below(100_000));
        let (page, country, plan) = (random.below(50), random.below(5), random.below(3));
        let strings = [format!("page-{page}"), format!("c{country}"), format!("device-{plan}")];
        let total = random.below(20_000) as f64 / 100.0;
        let plan = ["free", "pro", "team"][random.below(3) as usize];
        let text =
            format!(r#"{{"plan":"{plan}","items":{},"total":{total:?}}}"#, random.below(9) + 1);
        let event = NewEvent {
            name: &format!("name.of.event-{}", random.below(20)),
            time: TimestampMs(time as i64),
            user: Some(&user),
            value: Some(random.below(50_000) as f64 / 100.0),
            tags: &[("country", &strings[1]), ("device", &strings[2]), ("page", &strings[0])],
            properties: Some(&Properties::parse(&text).unwrap()),
        };
        let received = TimestampMs(time as i64 / 1000 * 1000 + 1000);
        rows.push(EventId::new(received, 1_000_000 + number), &event);
    }
    rows
}

#[test]
fn an_ordinary_event_takes_few_bytes() {
    let rows = ordinary_block();
    let order: Vec<(u32, u32)> = (0..rows.len() as u32).map(|row| (0, row)).collect();
    for effort in [Effort::Seal, Effort::Merge] {
        let bytes = encode(&[&rows], &order, effort).unwrap();
        let header = Header::read(&bytes).unwrap();
        for section in header.sections() {
            let per_event = section.length() as f64 / rows.len() as f64;
            println!("{effort:?} {:?} {}: {per_event:.3} bytes", section.kind, section.number);
        }
        println!("{effort:?}: {:.3} bytes per event", bytes.len() as f64 / rows.len() as f64);
        assert!(bytes.len() <= rows.len() * EVENT_BYTES_MAX, "{} bytes", bytes.len());
    }
}

#[test]
fn the_stored_format_does_not_change() {
    let mut rows = EventRows::default();
    let properties = Properties::parse(r#"{"n":7}"#).unwrap();
    let event = NewEvent {
        name: "b",
        time: TimestampMs(DAY_START + 5),
        user: Some("u"),
        value: Some(2.5),
        tags: &[("k", "v")],
        properties: Some(&properties),
    };
    rows.push(EventId::new(TimestampMs(DAY_START + 9), 3), &event);
    let plain =
        NewEvent { name: "a", user: None, value: None, tags: &[], properties: None, ..event };
    rows.push(EventId::new(TimestampMs(DAY_START + 9), 4), &plain);
    let bytes = encode(&[&rows], &[(0, 0), (0, 1)], Effort::Merge).unwrap();
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let stored = [
        "7100000009016fc1c8b9ed2bd677", // length of the header, frame
        "028a809ccdca64000c",           // rows, first time, last less first, bytes of strings
        "03000002016101016201000001017501016b0001017601", // columns
        "0a",                           // sections
        "010003040e8115",               // times
        "02000dba5260f8",               // ids
        "0300062e8e5351",               // codes
        "030106bd680fc4",               // codes
        "030206bd680fc4",               // codes
        "050003784d55a8",               // rows with a value
        "0600070d0194e3",               // values
        "07000ee786e669",               // shapes
        "080005ce3cd8f8",               // shape of each row
        "0900036e81df8e",               // column of properties
        "010000",                       // times
        "03010002030092809ccdca6400",   // ids
        "000201020101",                 // codes
        "000201000101",                 // codes
        "000201000101",                 // codes
        "020002",                       // rows with a value
        "00011900010002",               // values
        "000101010808077b226e223a017d", // shapes
        "0201000208",                   // shape of each row
        "01000e",                       // column of properties
    ];
    assert_eq!(hex, stored.concat());
}
