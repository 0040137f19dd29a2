//! What the labels of a series mean: one is the name of the metric, the others are its tags. Read only when their bytes
//! are not known.

use smallvec::SmallVec;
use telltale_engine::{InvalidTags, Refusal, limits};

use super::error::WriteError;
use crate::areas::bulk::protobuf::Fields;
use crate::limits::REMOTE_WRITE_LABELS_MAX;

/// Tags of a series that need no allocation; series with more are rare.
const TAGS_INLINE: usize = 16;
/// The label that is the name of the metric.
const NAME: &str = "__name__";

/// A label as it was sent: name and value.
pub(super) type Label<'b> = (&'b [u8], &'b [u8]);

/// A name and its tags, in the order they were sent. What the engine says of them is not asked yet.
#[derive(Debug)]
pub(super) struct Labels<'b> {
    pub(super) name: &'b str,
    pub(super) tags: SmallVec<[(&'b str, &'b str); TAGS_INLINE]>,
}

impl<'b> Labels<'b> {
    /// Sorts out labels. One with an empty value is none: that is how Prometheus says that a label is not there.
    pub(super) fn sort(
        labels: impl Iterator<Item = Result<Label<'b>, WriteError>>,
    ) -> Result<Self, WriteError> {
        let (mut name, mut tags) = (None, SmallVec::new());
        for (at, label) in labels.enumerate() {
            if at >= REMOTE_WRITE_LABELS_MAX {
                return Err(WriteError::TooManyLabels);
            }
            let (key, value) = label?;
            let (key, value) = (text(key)?, text(value)?);
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

fn text(bytes: &[u8]) -> Result<&str, WriteError> {
    std::str::from_utf8(bytes).map_err(|_| WriteError::NotUtf8)
}

/// A label of version 1, which is a message.
pub(super) fn read_label(message: &[u8]) -> Result<Label<'_>, WriteError> {
    let (mut name, mut value): Label<'_> = (&[], &[]);
    for field in Fields::of(message) {
        match field? {
            (1, text) => name = text.bytes()?,
            (2, text) => value = text.bytes()?,
            _ => {}
        }
    }
    Ok((name, value))
}
