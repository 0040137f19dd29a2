//! The result of a query as columns, for charts: every time is written once, and every number
//! without its name.
//!
//! `{"name","type","interval","aggregations":["avg"],"meta":{"groups","shown"},"times":[ms…],
//! "groups":[{"tags":{"host":"a"},"values":{"avg":[1,null,…]}}]}`. `times` are all buckets of the
//! range, in milliseconds since 1970; every list of values has the same length. Without `group_by`
//! there is exactly one group, with empty tags.

use telltale_engine::{Group, QueryResult, TimestampMs};

use super::super::model::{Fill, GroupCounts, ParsedQuery};
use super::bucket_starts::BucketStarts;
use super::response::write_meta;
use crate::platform::json;

/// Approximate bytes of a value, for reserving memory: a float with all of its digits.
pub(super) const VALUE_BYTES: usize = 20;

pub(super) fn write(
    out: &mut Vec<u8>,
    parsed: &ParsedQuery,
    counts: GroupCounts,
    result: &QueryResult,
) {
    out.extend_from_slice(br#"{"name":"#);
    json::string(out, parsed.query.metric.as_str());
    out.extend_from_slice(br#","type":"#);
    json::string(out, result.kind.as_str());
    out.extend_from_slice(br#","interval":"#);
    json::string(out, &parsed.width.to_string());
    out.extend_from_slice(br#","aggregations":"#);
    list(out, b"[]", &parsed.query.aggregations, |out, one| json::string(out, one.as_str()));
    let is_grouped = !parsed.query.group_by.is_empty();
    let counts = if is_grouped { counts } else { GroupCounts { groups: 1, shown: 1 } };
    write_meta(out, parsed, Some(counts), &result.coarse);
    let times: Vec<TimestampMs> = BucketStarts::new(parsed, result).iter().collect();
    out.extend_from_slice(br#","times":"#);
    list(out, b"[]", &times, |out, time| json::number(out, time.0 as f64));
    out.extend_from_slice(br#","groups":"#);
    let none = [Group { key: Vec::new(), starts: Vec::new(), columns: Vec::new() }];
    let groups = match result.groups.as_slice() {
        [] if !is_grouped => &none,
        groups => groups,
    };
    list(out, b"[]", groups, |out, group| write_group(out, parsed, &times, group));
    out.push(b'}');
}

fn write_group(out: &mut Vec<u8>, parsed: &ParsedQuery, times: &[TimestampMs], group: &Group) {
    out.extend_from_slice(br#"{"tags":"#);
    let tags = parsed.query.group_by.iter().zip(&group.key);
    list(out, b"{}", tags, |out, (key, value)| {
        json::string(out, key);
        out.push(b':');
        json::string(out, value);
    });
    out.extend_from_slice(br#","values":"#);
    let aggregations = parsed.query.aggregations.iter().enumerate();
    list(out, b"{}", aggregations, |out, (column, aggregation)| {
        json::string(out, aggregation.as_str());
        out.push(b':');
        let values = group.columns.get(column).map_or(&[][..], Vec::as_slice);
        write_values(out, parsed.fill, times, group.starts.iter().zip(values));
    });
    out.push(b'}');
}

/// Writes one value for each of `times`, from the rows that have one.
fn write_values<'r>(
    out: &mut Vec<u8>,
    fill: Fill,
    times: &[TimestampMs],
    rows: impl Iterator<Item = (&'r TimestampMs, &'r f64)>,
) {
    let mut rows = rows.peekable();
    let mut previous = None;
    list(out, b"[]", times, |out, time| {
        let value = rows.next_if(|(start, _)| *start == time).map(|(_, value)| *value);
        previous = value.or(previous);
        let shown = match fill {
            Fill::None | Fill::Null => value,
            Fill::Zero => value.or(Some(0.0)),
            Fill::Previous => previous,
        };
        match shown {
            Some(number) => json::number(out, number),
            None => out.extend_from_slice(b"null"),
        }
    });
}

/// Writes items between two brackets, separated by commas.
fn list<T>(
    out: &mut Vec<u8>,
    brackets: &[u8; 2],
    items: impl IntoIterator<Item = T>,
    mut write: impl FnMut(&mut Vec<u8>, T),
) {
    let [open, close] = *brackets;
    out.push(open);
    for (i, item) in items.into_iter().enumerate() {
        if i > 0 {
            out.push(b',');
        }
        write(out, item);
    }
    out.push(close);
}
