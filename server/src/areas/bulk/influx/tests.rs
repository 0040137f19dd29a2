//! Lines through the module's public functions: the outcome of each, and that lookups of known
//! series agree with full parsing.

use proptest::prelude::*;
use serde_json::{Value, json};
use telltale_engine::{Engine, Maintenance, Options, PointBatch, TimestampMs};

use super::line::{Field, Line, Scanner};
use super::lines::Lines;
use super::number::{boolean, number};
use super::series::{Series, field_key};
use super::{Precision, read_lines, resolve_lines};
use crate::areas::bulk::intake::testing::{check_lost, check_resumes};
use crate::areas::metrics::Measured;
use crate::http::BulkOutcome;

/// 2026-01-02T03:04:05.678Z.
const NOW: TimestampMs = TimestampMs(1_767_323_045_678);

fn to_json(outcome: &BulkOutcome) -> Value {
    serde_json::to_value(outcome).unwrap()
}

/// The samples of a body as strings, and its errors as `line code`.
fn read_as(precision: Precision, body: &[u8]) -> (Vec<String>, Vec<String>, Value) {
    let mut points = Vec::new();
    let outcome = read_lines(body, precision, NOW, |point| {
        let Measured::Number(value) = point.value else { panic!("a member of a set") };
        let tags: Vec<String> = point.tags.iter().map(|(k, v)| format!("{k}={v}")).collect();
        points.push(format!("{}{{{}}} {value} {}", point.name, tags.join(","), point.time.0));
    });
    let outcome = to_json(&outcome);
    let errors = outcome["errors"].as_array().into_iter().flatten();
    let errors = errors.map(|e| format!("{} {}", e["line"], e["code"].as_str().unwrap()));
    (points, errors.collect(), outcome)
}

#[track_caller]
fn check(body: impl AsRef<[u8]>, points: &[&str], errors: &[&str]) {
    let body = body.as_ref();
    let (read, refused, _) = read_as(Precision::Nanoseconds, body);
    let shown = String::from_utf8_lossy(body).into_owned();
    assert_eq!((read, refused), (owned(points), owned(errors)), "{shown}");
}

fn owned(strings: &[&str]) -> Vec<String> {
    strings.iter().map(|text| (*text).to_owned()).collect()
}

/// Checks the value of a field in a line of its own; `None` means it is rejected as
/// `invalid_value`.
#[track_caller]
fn check_value(text: &str, expected: Option<f64>) {
    let body = format!("m f={text} 1000000");
    match expected {
        Some(value) => check(body, &[&format!("m.f{{}} {value} 1")], &[]),
        None => check(body, &[], &["1 invalid_value"]),
    }
}

#[test]
fn lines_become_points() {
    check("cpu,host=a usage=1.5 1000000\n", &["cpu.usage{host=a} 1.5 1"], &[]);
    check("cpu value=1 1000000", &["cpu{} 1 1"], &[]);
    check(
        "cpu,b=2,a=1 x=1,value=2,z=-3 2000000",
        &["cpu.x{b=2,a=1} 1 2", "cpu{b=2,a=1} 2 2", "cpu.z{b=2,a=1} -3 2"],
        &[],
    );
    check("cpu f=1", &["cpu.f{} 1 1767323045678"], &[]);
    check("  \tcpu   f=1   7000000  ", &["cpu.f{} 1 7"], &[]);
    check("é,ü=ö ñ=1 7000000", &["é.ñ{ü=ö} 1 7"], &[]);
    check("cpu f=1,f=2 7000000", &["cpu.f{} 1 7", "cpu.f{} 2 7"], &[]);
}

#[test]
fn empty_lines_and_comments_are_ignored() {
    for body in ["", "\n", "\r\n", " \n\t\n\r\n", "#", "# a comment, with \"quotes\n", "#\n#\n\n"] {
        let (points, errors, outcome) = read_as(Precision::Nanoseconds, body.as_bytes());
        assert_eq!((points.len(), errors.len()), (0, 0), "{body:?}");
        assert_eq!(outcome, json!({"accepted": 0, "rejected": 0}), "{body:?}");
    }
    check("a f=1 0\r\n\r\n#x\r\n b f=2 0\r\n", &["a.f{} 1 0", "b.f{} 2 0"], &[]);
    check("a f=1\r\nb f=t\r", &["a.f{} 1 1767323045678", "b.f{} 1 1767323045678"], &[]);
}

#[test]
fn values_are_numbers_and_booleans() {
    for (text, value) in [
        ("0", 0.0),
        ("-0", 0.0),
        ("1.", 1.0),
        (".5", 0.5),
        ("-.5", -0.5),
        ("1e3", 1000.0),
        ("1E-3", 0.001),
        ("1.5e+3", 1500.0),
        ("0.1", 0.1),
        ("123456.789", 123_456.789),
        ("9007199254740993", 9_007_199_254_740_992.0),
        ("1i", 1.0),
        ("-12i", -12.0),
        ("9223372036854775807i", 9_223_372_036_854_775_807.0),
        ("-9223372036854775808i", -9_223_372_036_854_775_808.0),
        ("18446744073709551615u", 18_446_744_073_709_551_615.0),
        ("0000000000000000000000001.5", 1.5),
    ] {
        check_value(text, Some(value));
    }
    for text in ["t", "T", "true", "True", "TRUE"] {
        check_value(text, Some(1.0));
    }
    for text in ["f", "F", "false", "False", "FALSE"] {
        check_value(text, Some(0.0));
    }
    for text in [
        "NaN",
        "nan",
        "inf",
        "-inf",
        "Infinity",
        "+1",
        "1e400",
        "-1e999",
        "-",
        ".",
        "-.",
        "1e",
        "e1",
        "1x",
        "0x10",
        "1_000",
        "1.0i",
        "1ii",
        "-1u",
        "i",
        "-i",
        "9223372036854775808i",
        "18446744073709551616u",
        "tRUE",
        "truee",
        "yes",
        "1\"",
        "\"a\"b",
        "'a'",
        "\u{e9}",
    ] {
        check_value(text, None);
    }
}

#[test]
fn a_backslash_escapes_separators_only() {
    check(
        r"c\,p\ u,a\=b\,c\ d=e\=f\,g\ h x\=y\,z\ w=1 0",
        &["c,p u.x=y,z w{a=b,c d=e=f,g h} 1 0"],
        &[],
    );
    // An equals sign needs no backslash in a measurement, where a backslash before it is literal.
    check(r"a=b f=1 0", &["a=b.f{} 1 0"], &[]);
    check(r"a\=b f=1 0", &[r"a\=b.f{} 1 0"], &[]);
    check(r"a\b\\c,\t=\n\o f\g=1 0", &[r"a\b\\c.f\g{\t=\n\o} 1 0"], &[]);
    // The first backslash is literal, the second escapes the separator.
    check(r"a\\,b f=1 0", &[r"a\,b.f{} 1 0"], &[]);
    check("a\" f\"g=1 0", &["a\".f\"g{} 1 0"], &[]);
}

#[test]
fn string_fields_are_ignored_and_counted() {
    let body = concat!(
        "a s=\"x\" 1000000\n",
        "a s=\"x, y=1 \\\" z\\\\\",f=1,t=\"\" 1000000\n",
        "a s=\"two\nlines\",f=2 2000000\n",
        "a f=x\n",
    );
    let (points, errors, outcome) = read_as(Precision::Nanoseconds, body.as_bytes());
    assert_eq!(points, ["a.f{} 1 1", "a.f{} 2 2"]);
    assert_eq!(errors, ["5 invalid_value"]);
    assert_eq!(
        (&outcome["accepted"], &outcome["skipped"]),
        (&json!(3), &json!({"string_fields": 4}))
    );
}

#[test]
fn an_unterminated_string_rejects_only_the_line_it_starts_on() {
    check("a f=\"x\nb f=1 0\nc f=2 0", &["b.f{} 1 0", "c.f{} 2 0"], &["1 invalid_value"]);
    // A string terminated on a later line includes that line, but nothing after it.
    check("a f=\"x\nb f=\"y\" 0\nc f=2 0", &["c.f{} 2 0"], &["1 invalid_value"]);
    // The contents of a string are never parsed as lines, even if the string's line is rejected.
    check("a f=\"x\nb f=1 0\n\",g=no\nc f=2 0", &["c.f{} 2 0"], &["1 invalid_value"]);
    check("a f=\"x\nb f=1 0\n\" soon\nc f=2 0", &["c.f{} 2 0"], &["1 invalid_timestamp"]);
    check("=\"x\nb f=1 0", &["b.f{} 1 0"], &["1 missing_field"]);
}

#[test]
fn malformed_lines_report_a_specific_code() {
    for (line, code) in [
        (",host=a f=1", "missing_name"),
        ("cpu", "missing_field"),
        ("cpu ", "missing_field"),
        ("cpu,host=a", "missing_field"),
        ("cpu,host=a  \r", "missing_field"),
        ("cpu\\ f=1", "missing_field"),
        ("cpu, f=1", "invalid_tags"),
        ("cpu,host f=1", "invalid_tags"),
        ("cpu,host= f=1", "invalid_tags"),
        ("cpu,=a f=1", "invalid_tags"),
        ("cpu,host=a, f=1", "invalid_tags"),
        ("cpu,,host=a f=1", "invalid_tags"),
        ("cpu,host=a=b f=1", "invalid_tags"),
        ("cpu,host==a f=1", "invalid_tags"),
        ("cpu,a=1,a=2 f=1", "invalid_tags"),
        ("cpu,a=1,\\a=2,a=3 f=1", "invalid_tags"),
        ("cpu,a\u{1}=1 f=1", "invalid_tags"),
        ("cpu,host s=\"only text\"", "invalid_tags"),
        ("cpu f", "invalid_field"),
        ("cpu 1", "invalid_field"),
        ("cpu =1", "invalid_field"),
        ("cpu f=", "invalid_field"),
        ("cpu f= 1", "invalid_field"),
        ("cpu f=,g=1", "invalid_field"),
        ("cpu f=1,", "invalid_field"),
        ("cpu f=1,,g=2", "invalid_field"),
        ("cpu f=1, g=2", "invalid_field"),
        ("cpu f,g=1", "invalid_field"),
        ("cpu f=1,g", "invalid_field"),
        ("cpu =\"x\"", "invalid_field"),
        ("cpu f=x", "invalid_value"),
        ("cpu f=\"x", "invalid_value"),
        ("cpu f=1 g=2", "invalid_timestamp"),
        ("cpu f=1 x", "invalid_timestamp"),
        ("cpu f=1 -", "invalid_timestamp"),
        ("cpu f=1 1.5", "invalid_timestamp"),
        ("cpu f=1 1e9", "invalid_timestamp"),
        ("cpu f=1 1 1", "invalid_timestamp"),
        ("cpu f=1 1\r1", "invalid_timestamp"),
        ("cpu f=1 -1", "invalid_timestamp"),
        ("cpu f=1 99999999999999999999999999", "invalid_timestamp"),
        ("cpu f=1 9223372036854775807", "invalid_timestamp"),
    ] {
        // The lines around it are accepted.
        let body = format!("a f=1 0\n{line}\nb f=2 0\n");
        check(body, &["a.f{} 1 0", "b.f{} 2 0"], &[&format!("2 {code}")]);
    }
}

#[test]
fn invalid_utf8_rejects_only_its_line() {
    for line in [
        &b"c\xffpu f=1"[..],
        b"cpu,a\xff=1 f=1",
        b"cpu,a=\xff f=1",
        b"cpu f\xff=1",
        b"cpu f=\"\xff\"",
    ] {
        let body = [b"a f=1 0\n", line, b"\nb f=2 0\n"].concat();
        check(body, &["a.f{} 1 0", "b.f{} 2 0"], &["2 invalid_parameter"]);
    }
    check(b"# \xff\na f=1 0", &["a.f{} 1 0"], &[]);
}

#[test]
fn lines_over_the_length_limit_are_rejected() {
    let max = crate::limits::BULK_LINE_BYTES_MAX;
    let tags = |bytes: usize| format!("cpu,a={} f=1", "x".repeat(bytes));
    check(format!("{}\na f=1 0", tags(max)), &["a.f{} 1 0"], &["1 invalid_parameter"]);
    let many = "f=1,".repeat(max / 4);
    check(format!("m {many}g=1\na f=1 0"), &["a.f{} 1 0"], &["1 invalid_parameter"]);
    let text = "x\n".repeat(max / 2);
    check(format!("m s=\"{text}\"\na f=1 0"), &["a.f{} 1 0"], &["1 invalid_parameter"]);
}

#[test]
fn timestamps_are_integers_in_the_requested_unit() {
    let at = |precision, text: &str| {
        let (points, errors, _) = read_as(precision, format!("m value=1 {text}").as_bytes());
        points.first().or(errors.first()).cloned().unwrap_or_default()
    };
    for (unit, text, expected) in [
        ("n", "1767323045678999999", "m{} 1 1767323045678"),
        ("ns", "1767323045678999999", "m{} 1 1767323045678"),
        ("u", "1767323045678999", "m{} 1 1767323045678"),
        ("us", "1767323045678999", "m{} 1 1767323045678"),
        ("ms", "1767323045678", "m{} 1 1767323045678"),
        ("s", "1767323045", "m{} 1 1767323045000"),
        ("m", "29455384", "m{} 1 1767323040000"),
        ("h", "490923", "m{} 1 1767322800000"),
        ("ns", "0", "m{} 1 0"),
        ("ns", "-0", "m{} 1 0"),
        ("s", "12345678", "m{} 1 12345678000"),
        ("ms", "1767409445678", "m{} 1 1767409445678"),
        ("ms", "1767409445679", "1 invalid_timestamp"),
        ("ms", "-1", "1 invalid_timestamp"),
        ("h", "18446744073709551615", "1 invalid_timestamp"),
        ("s", "9999999999999999999", "1 invalid_timestamp"),
    ] {
        let precision = Precision::parse(unit).unwrap();
        assert_eq!(at(precision, text), expected, "{text} {unit}");
    }
    for unit in ["", "x", "N", "MS", "d", "sec"] {
        assert_eq!(Precision::parse(unit), None, "{unit}");
    }
    assert!(["n", "u", "m", "h"].iter().all(|unit| Precision::parse_v2(unit).is_none()));
}

fn engine(dir: &tempfile::TempDir) -> Engine {
    let options = Options { maintenance: Maintenance::Manual, ..Options::default() };
    Engine::open(&dir.path().join("data"), options).unwrap()
}

#[test]
fn lines_refused_by_the_engine_are_refused_every_time() {
    let dir = tempfile::tempdir().unwrap();
    let engine = engine(&dir);
    let long = "x".repeat(201);
    let many: String = (0..33).map(|i| format!(",t{i}=1")).collect();
    let body = format!(
        "good f=1\nb\u{7} f=1\n{long} f=1\n{long} s=\"\"\nm{many} f=1\ngood f=2,{long}=3\n"
    );
    for _ in 0..3 {
        let (points, outcome) = resolve_lines(&engine, body.as_bytes(), Precision::default(), NOW);
        let outcome = to_json(&outcome);
        let codes: Vec<&str> = outcome["errors"]
            .as_array()
            .unwrap()
            .iter()
            .map(|e| e["code"].as_str().unwrap())
            .collect();
        // String fields have no metric whose name could be too long.
        assert_eq!(codes, ["invalid_name", "invalid_name", "invalid_tags", "invalid_name"]);
        assert_eq!((points.len(), &outcome["accepted"]), (1, &json!(2)));
    }
}

#[test]
fn a_metric_of_another_type_rejects_the_line() {
    let dir = tempfile::tempdir().unwrap();
    let engine = engine(&dir);
    let mut batch = engine.batch();
    batch.series("cpu.hits", telltale_engine::MetricType::Counter, &[]).unwrap();
    let body = b"cpu hits=1,other=2\ncpu other=3\n";
    let (points, outcome) = resolve_lines(&engine, body, Precision::default(), NOW);
    assert_eq!((points.len(), outcome.accepted(), outcome.rejected()), (1, 1, 1));
    assert_eq!(to_json(&outcome)["errors"][0]["code"], "type_conflict");
}

/// Fragments of lines, valid and malformed.
fn pieces() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop::sample::select(vec![
        &b"cpu"[..],
        b"mem,host=a",
        b",host=b",
        b",a\\ b=c",
        b" ",
        b" f=1",
        b",g=2.5",
        b",value=3i",
        b" s=\"x\"",
        b"\"",
        b"\\",
        b"\n",
        b"\r\n",
        b"=",
        b",",
        b"1",
        b"t",
        b"#",
        b" 1767323045678000000",
        b" 5",
        b"\t",
        b"-",
        b".",
        b"e5",
        b"\xff",
        b"\xc3\xa9",
        b"cpu f=1 5\n",
        b"mem,host=a f=2 5\n",
        b"mem,host=a\\ b f=2 5\n",
        b"\ncpu,host=a f=1,s=\"a\nb\",g=f 6\n",
    ]);
    prop_oneof![
        prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat()),
        prop::collection::vec(any::<u8>(), 0..200),
    ]
}

/// Returns the samples that a body becomes, and the reported outcome.
fn resolved(engine: &Engine, body: &[u8]) -> (PointBatch, Value) {
    let (points, outcome) = resolve_lines(engine, body, Precision::default(), NOW);
    (points, to_json(&outcome))
}

/// Returns the lines of a body that are not rejected, with their fields.
fn scanned(body: &[u8]) -> Vec<(Line<'_>, Vec<Field<'_>>)> {
    let (mut scanner, mut fields) = (Scanner::new(body, (0, 0)), Vec::new());
    let mut lines = Vec::new();
    while let Some((_, line)) = scanner.next(&mut fields) {
        lines.extend(line.map(|line| (line, fields.clone())));
    }
    lines
}

proptest! {
    // Each case opens an engine.
    #![proptest_config(ProptestConfig::with_cases(16))]

    /// Names and tags are parsed the first time and found by key hash the second time.
    #[test]
    fn known_series_get_the_same_samples_as_new_ones(bodies in prop::collection::vec(pieces(), 1..200)) {
        let dir = tempfile::tempdir().unwrap();
        let engine = engine(&dir);
        for body in bodies {
            let first = resolved(&engine, &body);
            prop_assert_eq!(&resolved(&engine, &body), &first, "{}", String::from_utf8_lossy(&body));
            let (points, _, outcome) = read_as(Precision::default(), &body);
            // Only validation by the engine can differ, and the fragments violate its rule about
            // control characters.
            let refused = first.1["rejected"] != outcome["rejected"];
            prop_assert!(refused || points.len() == first.0.len());
            prop_assert!(first.1["accepted"].as_u64() <= outcome["accepted"].as_u64());
        }
    }
}

proptest! {
    /// Without strings, what is read of a line does not depend on the other lines: neither its
    /// parts, with their hashes, nor the outcome.
    #[test]
    fn lines_are_parsed_independently(body in pieces()) {
        let body: Vec<u8> = body.into_iter().filter(|byte| *byte != b'"').collect();
        let (points, errors, _) = read_as(Precision::default(), &body);
        let (mut each_points, mut each_errors) = (Vec::new(), 0);
        let mut each_lines = Vec::new();
        for line in body.split(|byte| *byte == b'\n') {
            let (points, errors, _) = read_as(Precision::default(), line);
            each_points.extend(points);
            each_errors += errors.len();
            each_lines.extend(scanned(line));
        }
        prop_assert_eq!((points, errors.len()), (each_points, each_errors));
        prop_assert_eq!(scanned(&body), each_lines);
    }

    #[test]
    fn escaped_strings_round_trip(
        measurement in "[a-c,= \\\\\"é]{1,8}", key in "[a-c,= \\\\\"é]{1,8}", value in "[a-c,= \\\\\"é]{1,8}"
    ) {
        // A trailing backslash would escape the separator after it; the protocol cannot express it.
        prop_assume!([&measurement, &key, &value].iter().all(|text| !text.ends_with('\\')));
        let escape = |text: &str, escaped: &str| -> String {
            text.chars().flat_map(|c| escaped.contains(c).then_some('\\').into_iter().chain([c])).collect()
        };
        let text = format!(
            "{},{}={}", escape(&measurement, ", "), escape(&key, ",= "), escape(&value, ",= ")
        );
        let series = Series::parse(text.as_bytes()).unwrap();
        prop_assert_eq!(&series.measurement, &unescaped(&escape(&measurement, ", "), ", "));
        prop_assert_eq!(&series.tags[0].0, &unescaped(&escape(&key, ",= "), ",= "));
        // A string that contains a backslash before a separator does not round-trip.
        let written = [&measurement, &key, &value].iter().all(|text| !text.contains('\\'));
        let read = (&*series.measurement, &*series.tags[0].0, &*series.tags[0].1);
        prop_assert!(!written || read == (&*measurement, &*key, &*value));
        let field = escape(&key, ",= ");
        prop_assert_eq!(field_key(field.as_bytes()).unwrap(), unescaped(&field, ",= "));
    }

    #[test]
    fn numbers_are_rounded_to_the_nearest_f64(text in "-?[0-9]{0,22}(\\.[0-9]{0,22})?([eE][+-]?[0-9]{1,3})?[,\n ]?") {
        prop_assume!(text.starts_with(|c: char| c.is_ascii_digit() || c == '-' || c == '.'));
        let token = text.trim_end_matches([',', '\n', ' ']);
        let expected = token.parse::<f64>().ok().filter(|value| value.is_finite());
        let read = number(text.as_bytes());
        prop_assert_eq!(read.map(|(value, _)| value.to_bits()), expected.map(f64::to_bits));
        prop_assert!(read.is_none_or(|(_, length)| length == token.len()));
    }

    #[test]
    fn short_decimals_are_rounded_to_the_nearest_f64(mantissa in 0_u64..1 << 54, decimals in 0_usize..20) {
        let digits = format!("{mantissa:0>20}");
        let (whole, fraction) = digits.split_at(20 - decimals);
        let text = format!("{}.{fraction}", whole.trim_start_matches('0'));
        let expected: f64 = text.parse().unwrap_or(f64::NAN);
        if expected.is_finite() {
            prop_assert_eq!(number(text.as_bytes()), Some((expected, text.len())));
        }
    }

    #[test]
    fn arbitrary_bytes_parse_to_a_finite_value_or_none(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
        for read in [number(&bytes), boolean(&bytes)] {
            prop_assert!(read.is_none_or(|(value, length)| value.is_finite() && length <= bytes.len()));
        }
    }
}

#[test]
fn a_repeated_request_resumes_in_the_middle_of_a_body() {
    let body = "cpu,host=a usage=1.5,idle=2\n# comment\n\ncpu value=1\nbad\n\
        cpu,host=b usage=1,text=\"a\nb\" 1000000\nm x=1,y=2,z=3\nm x=wrong\nm x=4";
    let dir = tempfile::tempdir().unwrap();
    let options = Options { maintenance: Maintenance::Manual, ..Options::default() };
    let engine = Engine::open(dir.path(), options).unwrap();
    for precision in [Precision::Nanoseconds, Precision::Seconds] {
        check_resumes(&engine, |attempt| {
            Lines::new(body, precision, TimestampMs(NOW.0 + 60_000 * attempt as i64))
        });
        let position = json!({"at": body.len() + 1, "lines": 1, "now_ms": 1});
        check_lost(&engine, Lines::new(body, precision, NOW), position);
    }
}

/// A naive unescape: drops each backslash before one of `escaped`, character by character.
fn unescaped(text: &str, escaped: &str) -> String {
    let mut plain = String::new();
    for c in text.chars() {
        if escaped.contains(c) && plain.ends_with('\\') {
            plain.pop();
        }
        plain.push(c);
    }
    plain
}
