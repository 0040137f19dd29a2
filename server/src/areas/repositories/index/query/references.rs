//! Finds the uses of a name.

use std::cmp::Reverse;

use super::super::super::source::ReferenceKind;
use super::super::error::IndexError;
use super::super::format::{ByteReader, ReferenceKinds, Section};
use super::super::limits::HITS_MAX;
use super::super::model::{FileId, ReferenceHit, SymbolRef};
use super::super::open::Index;
use super::symbol_name::SymbolName;

/// A file that uses a name.
#[derive(Clone, Copy, Debug)]
struct UsingFile {
    file: FileId,
    /// How often.
    count: u32,
    /// As what.
    kinds: ReferenceKinds,
}

impl Index {
    /// Finds uses of a name, at most `limit`: first in the files that use it most, then in the
    /// order of the lines. Of `Container::name` only the name counts.
    pub fn references(&self, name: &str, limit: usize) -> Result<Vec<ReferenceHit>, IndexError> {
        self.references_where(name, None, limit)
    }

    /// Finds uses of a name of one kind, as [`Index::references`] does: those of other kinds do not
    /// count towards `limit`.
    pub fn references_of_kind(
        &self,
        name: &str,
        kind: ReferenceKind,
        limit: usize,
    ) -> Result<Vec<ReferenceHit>, IndexError> {
        self.references_where(name, Some(kind), limit)
    }

    fn references_where(
        &self,
        name: &str,
        kind: Option<ReferenceKind>,
        limit: usize,
    ) -> Result<Vec<ReferenceHit>, IndexError> {
        let limit = limit.min(HITS_MAX);
        let name = SymbolName::parse(name).name;
        let mut hits = Vec::new();
        let Some(number) = self.name_number(name) else { return Ok(hits) };
        let mut files = self.files_that_use(number)?;
        // Every file that is read has a use, so no more files are read than uses are returned.
        files.retain(|file| kind.is_none_or(|kind| file.kinds.contains(kind)));
        files.sort_unstable_by_key(|file| (Reverse(file.count), file.file));
        for UsingFile { file, .. } in files {
            if hits.len() >= limit {
                break;
            }
            self.check_stop()?;
            let outline = self.outline(file)?;
            let wanted = outline
                .references
                .iter()
                .filter(|reference| kind.is_none_or(|kind| reference.kind == kind));
            hits.extend(wanted.filter(|reference| reference.name == name).map(|reference| {
                ReferenceHit {
                    file,
                    line: reference.line,
                    kind: reference.kind,
                    within: reference.within.map(|position| SymbolRef { file, position }),
                }
            }));
        }
        hits.truncate(limit);
        Ok(hits)
    }

    /// Returns the number of a name. The names are sorted without regard to case first.
    pub(super) fn name_number(&self, name: &str) -> Option<usize> {
        let key = (name.to_lowercase(), name);
        let at = self.names.first(|other| (other.to_lowercase(), other).cmp(&key));
        (self.names.get(at) == Some(name)).then_some(at)
    }

    /// Returns the files that use the name of a number.
    fn files_that_use(&self, number: usize) -> Result<Vec<UsingFile>, IndexError> {
        let range = self.references.range(number);
        let bytes = range.and_then(|range| self.sections.get(Section::References).get(range));
        let mut reader = ByteReader::new(bytes.unwrap_or_default(), "references");
        let mut files = Vec::new();
        let mut file = 0_u32;
        while !reader.is_empty() {
            file = file.checked_add(reader.narrow()?).ok_or(reader.damaged())?;
            let (count, kinds) = (reader.narrow()?, ReferenceKinds(reader.byte()?));
            files.push(UsingFile { file: FileId(file), count, kinds });
        }
        Ok(files)
    }
}
