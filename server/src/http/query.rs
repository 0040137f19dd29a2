//! Query strings: `application/x-www-form-urlencoded`, decoded once, in the order sent.
//!
//! Keys may contain brackets (`tags[host]`), raw or percent-encoded. Strings that are not UTF-8 are
//! refused, and so are duplicate keys if one value is expected: the client cannot know which one is
//! used.

use std::borrow::Cow;
use std::fmt;

use percent_encoding::percent_decode;
use telltale_engine::TimestampMs;

use super::error::{ApiError, ApiResult, ErrorCode};
use super::response::Meta;
use crate::limits;
use crate::platform::telemetry::query_params;
use crate::platform::time::Moment;

/// The decoded pairs of a query string.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    pairs: Vec<(String, String)>,
}

/// The requested part of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Paging {
    /// Maximum number of items of the page, at least 1.
    pub limit: usize,
    /// Number of items before the page.
    pub offset: usize,
}

impl Paging {
    /// Returns the page's metadata for the response.
    pub fn meta(self, total: usize) -> Meta {
        Meta { total, limit: self.limit, offset: self.offset }
    }
}

impl Query {
    /// Decodes the part of a request target after the `?`.
    pub fn parse(text: &str) -> ApiResult<Self> {
        let mut pairs = Vec::new();
        for pair in text.split('&').filter(|pair| !pair.is_empty()) {
            if pairs.len() == limits::QUERY_PAIRS_MAX {
                let max = limits::QUERY_PAIRS_MAX;
                let message = format!("the query string may have at most {max} parameters");
                return Err(ApiError::new(ErrorCode::InvalidParameter, message).field("query"));
            }
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            let key = decode(key).ok_or_else(|| not_utf8("a parameter name"))?;
            let value = decode(value).ok_or_else(|| not_utf8(&key))?;
            pairs.push((key, value));
        }
        Ok(Self { pairs })
    }

    /// Returns the value of `key`. Fails if the key is given more than once.
    pub fn one(&self, key: &'static str) -> ApiResult<Option<&str>> {
        let mut values = self.all(key);
        match (values.next(), values.next()) {
            (_, Some(_)) => Err(ApiError::parameter(key, "must be given only once")),
            (first, None) => Ok(first),
        }
    }

    /// Returns the values of `key`, in the order sent.
    pub fn all<'a>(&'a self, key: &'a str) -> impl Iterator<Item = &'a str> {
        self.pairs.iter().filter(move |(k, _)| k == key).map(|(_, v)| v.as_str())
    }

    /// Returns the value of `key` as a boolean: `true` or `false`.
    pub fn flag(&self, key: &'static str) -> ApiResult<Option<bool>> {
        match self.one(key)? {
            None => Ok(None),
            Some("true") => Ok(Some(true)),
            Some("false") => Ok(Some(false)),
            Some(_) => Err(ApiError::parameter(key, "must be true or false")),
        }
    }

    /// Returns the value of `key`, which is one of these.
    pub fn one_of(
        &self,
        key: &'static str,
        all: &[&'static str],
    ) -> ApiResult<Option<&'static str>> {
        let expected = || format!("must be one of {}", all.join(", "));
        self.parsed(key, expected, |text| all.iter().find(|one| **one == text).copied())
    }

    /// Returns what `parse` makes of the value of `key`. `expected` says what it must be.
    pub fn parsed<T, E: fmt::Display>(
        &self,
        key: &'static str,
        expected: impl FnOnce() -> E,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> ApiResult<Option<T>> {
        let invalid = || ApiError::parameter(key, expected());
        self.one(key)?.map(|text| parse(text).ok_or_else(invalid)).transpose()
    }

    /// Returns the value of `key` as a time, in any of the forms of query parameters.
    pub fn moment(&self, key: &'static str, now: TimestampMs) -> ApiResult<Option<Moment>> {
        Ok(self.one(key)?.map(|text| query_params::moment(key, text, now)).transpose()?)
    }

    /// Returns `limit` and `offset`. Reduces a limit over `max` to `max`; fails for one below 1.
    pub fn paging(&self, default: usize, max: usize) -> ApiResult<Paging> {
        let limit = self.limit("limit", max)?.unwrap_or(default);
        Ok(Paging { limit, offset: self.integer("offset", 0)?.unwrap_or(0) })
    }

    /// Returns the value of `key` as a page size. Reduces a value over `max` to `max`; fails for
    /// one below 1.
    pub fn limit(&self, key: &'static str, max: usize) -> ApiResult<Option<usize>> {
        Ok(self.integer(key, 1)?.map(|limit| limit.min(max)))
    }

    /// Returns the pairs `name[key]=value` as `(key, value)`, in the order sent.
    pub fn bracketed<'a>(&'a self, name: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.pairs.iter().filter_map(move |(key, value)| {
            let inner = key.strip_prefix(name)?.strip_prefix('[')?.strip_suffix(']')?;
            Some((inner, value.as_str()))
        })
    }

    /// Returns all pairs, in the order sent.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.pairs.iter().map(|(k, v)| (k.as_str(), v.as_str()))
    }

    /// Returns the value of `key` as an integer of at least `min`. A value too large for `usize` is
    /// read as its maximum.
    pub fn integer(&self, key: &'static str, min: usize) -> ApiResult<Option<usize>> {
        let Some(text) = self.one(key)? else { return Ok(None) };
        let is_integer = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        let integer = is_integer.then(|| text.parse().unwrap_or(usize::MAX));
        let refused =
            || ApiError::parameter(key, format_args!("must be an integer of at least {min}"));
        integer.filter(|integer| *integer >= min).map(Some).ok_or_else(refused)
    }
}

fn decode(text: &str) -> Option<String> {
    let spaced: Cow<'_, str> =
        if text.contains('+') { text.replace('+', " ").into() } else { text.into() };
    percent_decode(spaced.as_bytes()).decode_utf8().ok().map(Cow::into_owned)
}

fn not_utf8(field: &str) -> ApiError {
    ApiError::parameter(field.to_owned(), "must be UTF-8")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(text: &str) -> Vec<(String, String)> {
        let query = Query::parse(text).unwrap();
        query.iter().map(|(k, v)| (k.to_owned(), v.to_owned())).collect()
    }

    #[track_caller]
    fn check(text: &str, expected: &[(&str, &str)]) {
        let expected: Vec<_> =
            expected.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        assert_eq!(pairs(text), expected, "{text}");
    }

    #[test]
    fn pairs_are_decoded_in_the_order_sent() {
        check("", &[]);
        check("&&", &[]);
        check("a=1&b=2&a=3", &[("a", "1"), ("b", "2"), ("a", "3")]);
        check("a&b=&=c", &[("a", ""), ("b", ""), ("", "c")]);
        check("a=b=c", &[("a", "b=c")]);
        check("a=1+2%2B3%20", &[("a", "1 2+3 ")]);
        check("a=%C3%A9&b=é", &[("a", "é"), ("b", "é")]);
        check("a=100%&b=%4&c=%zz", &[("a", "100%"), ("b", "%4"), ("c", "%zz")]);
        check("a=%26%3D", &[("a", "&=")]);
    }

    #[test]
    fn bracketed_keys_are_found_raw_and_percent_encoded() {
        let query = Query::parse(
            "tags[host]=a&tags%5Bregion%5D=eu,us&tag[x]=1&tags[]=e&tags[a[b]]=n&tags=t",
        )
        .unwrap();
        let tags: Vec<_> = query.bracketed("tags").collect();
        assert_eq!(tags, [("host", "a"), ("region", "eu,us"), ("", "e"), ("a[b]", "n")]);
    }

    #[test]
    fn a_parameter_that_is_not_utf8_is_refused_by_name() {
        for (text, field) in [("a=%FF", "a"), ("%FF=a", "a parameter name"), ("x=1&y=%C3", "y")] {
            let error = Query::parse(text).unwrap_err();
            assert_eq!(error.code(), ErrorCode::InvalidParameter, "{text}");
            assert_eq!(error.details().and_then(|d| d.field.as_deref()), Some(field), "{text}");
        }
    }

    #[test]
    fn the_number_of_parameters_is_bounded() {
        let many = |n: usize| vec!["a=1"; n].join("&");
        assert_eq!(pairs(&many(limits::QUERY_PAIRS_MAX)).len(), limits::QUERY_PAIRS_MAX);
        Query::parse(&many(limits::QUERY_PAIRS_MAX + 1)).unwrap_err();
    }

    #[test]
    fn a_duplicate_key_is_refused_if_one_value_is_expected() {
        let query = Query::parse("a=1&a=1&b=2").unwrap();
        query.one("a").unwrap_err();
        assert_eq!(query.one("b").unwrap(), Some("2"));
        assert_eq!(query.one("c").unwrap(), None);
        assert_eq!(query.all("a").collect::<Vec<_>>(), ["1", "1"]);
    }

    #[test]
    fn paging_reduces_a_large_limit_to_the_maximum() {
        let paging = |text: &str| Query::parse(text).unwrap().paging(100, 1_000);
        assert_eq!(paging("").unwrap(), Paging { limit: 100, offset: 0 });
        assert_eq!(paging("limit=5&offset=7").unwrap(), Paging { limit: 5, offset: 7 });
        assert_eq!(paging("limit=99999999999999999999999").unwrap().limit, 1_000);
        assert_eq!(paging("offset=99999999999999999999999").unwrap().offset, usize::MAX);
        for wrong in [
            "limit=0",
            "limit=-1",
            "limit=",
            "limit=1.5",
            "limit=+1",
            "limit=x",
            "offset=-1",
            "limit=1&limit=2",
        ] {
            assert_eq!(paging(wrong).unwrap_err().code(), ErrorCode::InvalidParameter, "{wrong}");
        }
    }

    #[test]
    fn flags_are_true_or_false() {
        let query = Query::parse("a=true&b=false&c=1").unwrap();
        assert_eq!((query.flag("a").unwrap(), query.flag("b").unwrap()), (Some(true), Some(false)));
        assert_eq!(query.flag("d").unwrap(), None);
        query.flag("c").unwrap_err();
    }
}
