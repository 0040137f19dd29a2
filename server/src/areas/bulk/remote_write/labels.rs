//! The labels of a series: one is the name of the metric, the others are its tags. They are parsed
//! only if the series is not known by its key hash.

use smallvec::SmallVec;
use telltale_engine::{InvalidTags, Refusal, limits};

use super::error::WriteError;
use crate::areas::bulk::protobuf::Fields;
use crate::limits::REMOTE_WRITE_LABELS_MAX;

/// The number of tags that need no heap allocation; few series have more.
const TAGS_INLINE: usize = 16;
/// The label that contains the metric name.
const NAME: &str = "__name__";

/// The name and value of a label, as sent.
pub(super) type Label<'b> = (&'b [u8], &'b [u8]);

/// A metric name and its tags, in the order sent, not yet validated by the engine.
#[derive(Debug)]
pub(super) struct Labels<'b> {
    pub(super) name: &'b str,
    pub(super) tags: SmallVec<[(&'b str, &'b str); TAGS_INLINE]>,
}

impl<'b> Labels<'b> {
    /// Separates the metric name from the tags. A label with an empty value is absent by the rules
    /// of Prometheus.
    pub(super) fn sort(
        labels: impl Iterator<Item = Result<Label<'b>, WriteError>>,
    ) -> Result<Self, WriteError> {
        let (mut name, mut tags) = (None, SmallVec::new());
        for (at, label) in labels.enumerate() {
            if at >= REMOTE_WRITE_LABELS_MAX {
                return Err(WriteError::TooManyLabels);
            }
            let (key, value) = label?;
            let (key, value) = (utf8(key)?, utf8(value)?);
            if value.is_empty() {
                continue;
            }
            if key == NAME {
                if name.replace(value).is_some() {
                    return Err(WriteError::NameTwice);
                }
            } else if tags.len() < limits::TAGS_MAX {
                tags.push((key, value));
            } else {
                return Err(Refusal::from(InvalidTags::TooMany).into());
            }
        }
        Ok(Self { name: name.ok_or(WriteError::NameMissing)?, tags })
    }
}

fn utf8(bytes: &[u8]) -> Result<&str, WriteError> {
    std::str::from_utf8(bytes).map_err(|_| WriteError::NotUtf8)
}

/// Parses a label message of version 1.
pub(super) fn read_label(message: &[u8]) -> Result<Label<'_>, WriteError> {
    let (mut name, mut value): Label<'_> = (&[], &[]);
    for field in Fields::of(message) {
        match field? {
            (1, string) => name = string.bytes()?,
            (2, string) => value = string.bytes()?,
            _ => {}
        }
    }
    Ok((name, value))
}
