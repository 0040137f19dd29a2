//! Lists in request bodies with an upper bound.
//!
//! An item can take far more memory than its JSON (`{}` may become a struct of a kilobyte), so a
//! list that is decoded before it is counted can take many times the size of its body. These types
//! enforce the bound during decoding: items beyond it are counted and skipped.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// The first `MAX` items of a list, and the number of items sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AtMost<T, const MAX: usize> {
    kept: Vec<T>,
    sent: usize,
}

impl<T, const MAX: usize> AtMost<T, MAX> {
    /// Returns all items, or the number of items sent if it exceeds `MAX`.
    pub fn all(self) -> Result<Vec<T>, usize> {
        if self.sent > MAX { Err(self.sent) } else { Ok(self.kept) }
    }

    /// Returns the first `MAX` items.
    pub fn first(self) -> Vec<T> {
        self.kept
    }
}

impl<'de, T: Deserialize<'de>, const MAX: usize> Deserialize<'de> for AtMost<T, MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(Items(PhantomData))
    }
}

impl<T: JsonSchema, const MAX: usize> JsonSchema for AtMost<T, MAX> {
    fn inline_schema() -> bool {
        Vec::<T>::inline_schema()
    }

    fn schema_name() -> Cow<'static, str> {
        Vec::<T>::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Vec::<T>::json_schema(generator)
    }
}

/// The first `MAX` members of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FirstMembers<V, const MAX: usize>(pub BTreeMap<String, V>);

impl<'de, V: Deserialize<'de>, const MAX: usize> Deserialize<'de> for FirstMembers<V, MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Members(PhantomData))
    }
}

/// Visitor of the members of an object.
struct Members<V, const MAX: usize>(PhantomData<V>);

impl<'de, V: Deserialize<'de>, const MAX: usize> Visitor<'de> for Members<V, MAX> {
    type Value = FirstMembers<V, MAX>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self::Value, A::Error> {
        let mut kept = BTreeMap::new();
        while kept.len() < MAX {
            match members.next_entry()? {
                Some((key, value)) => drop(kept.insert(key, value)),
                None => return Ok(FirstMembers(kept)),
            }
        }
        while members.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(FirstMembers(kept))
    }
}

/// Visitor of the items of a list.
struct Items<T, const MAX: usize>(PhantomData<T>);

impl<'de, T: Deserialize<'de>, const MAX: usize> Visitor<'de> for Items<T, MAX> {
    type Value = AtMost<T, MAX>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a sequence")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let mut kept = Vec::new();
        while kept.len() < MAX {
            match items.next_element()? {
                Some(item) => kept.push(item),
                None => return Ok(AtMost { sent: kept.len(), kept }),
            }
        }
        let mut sent = kept.len();
        while items.next_element::<IgnoredAny>()?.is_some() {
            sent += 1;
        }
        Ok(AtMost { kept, sent })
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    thread_local! {
        static MADE: Cell<usize> = const { Cell::new(0) };
    }

    /// An item that counts how often it was decoded.
    #[derive(Debug, PartialEq)]
    struct Counted(u32);

    impl<'de> Deserialize<'de> for Counted {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            MADE.set(MADE.get() + 1);
            u32::deserialize(deserializer).map(Self)
        }
    }

    fn read(text: &str) -> Result<AtMost<Counted, 3>, String> {
        serde_json::from_str(text).map_err(|error| error.to_string())
    }

    #[test]
    fn a_list_up_to_the_limit_is_read_whole() {
        for (text, expected) in
            [("[]", vec![]), ("[1,2,3]", vec![Counted(1), Counted(2), Counted(3)])]
        {
            assert_eq!(read(text).unwrap().all(), Ok(expected), "{text}");
        }
        assert_eq!(
            read("{}").unwrap_err(),
            "invalid type: map, expected a sequence at line 1 column 0"
        );
        assert!(read("[1,\"a\"]").is_err());
    }

    #[test]
    fn members_beyond_the_limit_are_not_kept() {
        let read = |text| serde_json::from_str::<FirstMembers<u32, 2>>(text);
        let keys = |text| read(text).unwrap().0.into_keys().collect::<Vec<_>>();
        assert_eq!(keys("{}"), [""; 0]);
        assert_eq!(keys(r#"{"b":1,"a":2}"#), ["a", "b"]);
        assert_eq!(keys(r#"{"b":1,"c":2,"a":[]}"#), ["b", "c"]);
        assert!(read(r#"{"a":"x"}"#).is_err() && read("[]").is_err());
    }

    #[test]
    fn what_is_beyond_the_limit_is_counted_and_never_made() {
        MADE.set(0);
        let text = format!("[{}\"a\"]", "1,".repeat(10_000));
        let list = read(&text).unwrap();
        assert_eq!(MADE.get(), 3);
        assert_eq!(list.all(), Err(10_001));
        assert_eq!(read("[1,2,3,4]").unwrap().first(), [Counted(1), Counted(2), Counted(3)]);
    }
}
