//! Numbers in properties: looks up a path of keys in the text of [`crate::Properties`] without
//! building a tree.
//!
//! Canonical JSON contains no white space and encodes every key in exactly one way, so keys are
//! compared as bytes. For duplicate keys the last one counts, as in any JSON tree built from the
//! text. Only JSON numbers are numbers. Text that is not canonical yields no number or a wrong one,
//! but never a panic.

use crate::model::PropertiesWriter;

/// A path of keys, each as encoded in canonical JSON: quoted, with the colon.
#[derive(Debug)]
pub(crate) struct PropertyPath {
    keys: Vec<String>,
}

impl PropertyPath {
    /// Returns the path of these keys, or `None` if one is longer than properties can contain.
    pub(crate) fn new(keys: &[String]) -> Option<Self> {
        Some(Self { keys: keys.iter().map(|key| canonical(key)).collect::<Option<_>>()? })
    }

    /// Returns the number at this path of `properties`.
    pub(crate) fn number(&self, properties: &str) -> Option<f64> {
        let mut keys = self.keys.iter();
        let mut text = value_of(properties, keys.next()?)?;
        for key in keys {
            text = value_of(text, key)?;
        }
        let first = *text.as_bytes().first()?;
        if !(first == b'-' || first.is_ascii_digit()) {
            return None;
        }
        // The text is a JSON number, which always parses; one beyond all doubles is not counted.
        // Adding 0.0 turns -0.0 into 0.0.
        text.parse().ok().filter(|number: &f64| number.is_finite()).map(|number| number + 0.0)
    }
}

/// Returns a key with its quotes and colon, as [`PropertiesWriter`] writes it.
fn canonical(key: &str) -> Option<String> {
    let mut writer = PropertiesWriter::default();
    writer.begin_object();
    writer.key(key);
    writer.null();
    writer.end_object();
    // Properties with a key beyond the limits cannot be stored, so none has it.
    let object = writer.finish().ok()?;
    Some(object.as_str().strip_prefix('{')?.strip_suffix("null}")?.to_owned())
}

/// Returns the text of the value of `key` in an object.
fn value_of<'a>(object: &'a str, key: &str) -> Option<&'a str> {
    let bytes = object.as_bytes();
    if bytes.first() != Some(&b'{') {
        return None;
    }
    let mut found = None;
    let mut at = 1;
    while bytes.get(at) == Some(&b'"') {
        let value = end_of_string(bytes, at) + 1;
        let end = end_of_value(bytes, value);
        if bytes.get(at..value) == Some(key.as_bytes()) {
            found = object.get(value..end);
        }
        at = end + 1;
    }
    found
}

/// Returns the position after the string that starts at `at`.
fn end_of_string(bytes: &[u8], at: usize) -> usize {
    let mut at = at + 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// Returns the position after the value that starts at `at`: that of the following comma or
/// bracket.
fn end_of_value(bytes: &[u8], at: usize) -> usize {
    let mut at = at;
    let mut open = 0_usize;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => {
                at = end_of_string(bytes, at);
                continue;
            }
            b'{' | b'[' => open += 1,
            b'}' | b']' if open == 0 => return at,
            b'}' | b']' => open -= 1,
            b',' if open == 0 => return at,
            _ => {}
        }
        at += 1;
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Properties;
    use proptest::prelude::*;

    #[track_caller]
    fn check(properties: &str, path: &[&str], expected: Option<f64>) {
        let keys: Vec<String> = path.iter().map(|key| (*key).to_owned()).collect();
        let properties = Properties::parse(properties).unwrap();
        let number = PropertyPath::new(&keys).unwrap().number(properties.as_str());
        assert_eq!(number.map(f64::to_bits), expected.map(f64::to_bits), "{properties:?} {path:?}");
    }

    #[test]
    fn numbers_are_found_by_their_path() {
        let text = r#"{"a":1,"b":{"a":-2.5e3,"}\"":{"é\n":18446744073709551615}},"c":[{"a":3}],"":{"":-0.0}}"#;
        check(text, &["a"], Some(1.0));
        check(text, &["b", "a"], Some(-2500.0));
        check(text, &["b", "}\"", "é\n"], Some(u64::MAX as f64));
        check(text, &["", ""], Some(0.0));
        check(text, &["c", "a"], None);
        check(text, &["c"], None);
        check(text, &["b"], None);
        check(text, &["a", "a"], None);
        check(text, &["d"], None);
        check(text, &[], None);
        check("{}", &["a"], None);
    }

    #[test]
    fn only_json_numbers_count() {
        check(r#"{"a":"1","b":true,"c":null}"#, &["a"], None);
        check(r#"{"a":"1","b":true,"c":null}"#, &["b"], None);
        check(r#"{"a":"1","b":true,"c":null}"#, &["c"], None);
    }

    #[test]
    fn the_last_of_equal_keys_counts() {
        // Blocks of older versions contain duplicate keys.
        let path = PropertyPath::new(&["a".into()]).unwrap();
        assert_eq!(path.number(r#"{"a":1,"a":2}"#), Some(2.0));
        check(r#"{"a":1,"a":2}"#, &["a"], Some(2.0));
        check(r#"{"a":1,"a":"x"}"#, &["a"], None);
        check(r#"{"a":{"b":1},"a":{"c":2}}"#, &["a", "b"], None);
    }

    #[test]
    fn text_that_is_not_canonical_does_not_panic() {
        let path = PropertyPath::new(&["a".into(), "b".into()]).unwrap();
        for text in ["", "{", "{\"", "{\"a", "{\"a\"", "{\"a\":", "{\"a\":{\"b\":\\", "}", "{\"\\"]
        {
            assert_eq!(path.number(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn the_number_equals_that_of_a_parsed_tree(
            pairs in proptest::collection::vec(
                ("[ab\"\\\\é]{0,2}", "(-?(0|[1-9][0-9]{0,3})(\\.[0-9]{1,3})?|\"[1,}\\]]*\"|null|\\[1,\\{\"a\":2\\}\\]|\\{\"b\":3,\"a\":4\\})"),
                0..6,
            ),
            path in proptest::collection::vec("[ab\"\\\\é]{0,2}", 1..3),
        ) {
            let fields: Vec<String> =
                pairs.iter().map(|(k, v)| format!("{}:{v}", serde_json::to_string(k).unwrap())).collect();
            let text = format!("{{{}}}", fields.join(","));
            let tree: serde_json::Value = serde_json::from_str(&text).unwrap();
            let leaf = path.iter().try_fold(&tree, |at, key| at.as_object()?.get(key));
            let expected = leaf.and_then(serde_json::Value::as_f64);
            let canonical = Properties::parse(&text).unwrap();
            prop_assert_eq!(PropertyPath::new(&path).unwrap().number(canonical.as_str()), expected);
        }
    }
}
