//! Finds the uses of a name.

use std::cmp::Reverse;

use super::super::super::source::{FileOutline, Reference, ReferenceKind};
use super::super::error::IndexError;
use super::super::format::{ByteReader, ReferenceKinds, Section};
use super::super::limits::{FILES_TOGETHER, HITS_MAX};
use super::super::model::{FileId, FoundReferences, ReferenceHit, SymbolRef};
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
        self.found_references(name, None, limit)
    }

    /// Finds uses of a name of one kind, as [`Index::references`] does: those of other kinds do not
    /// count towards `limit`.
    pub fn references_of_kind(
        &self,
        name: &str,
        kind: ReferenceKind,
        limit: usize,
    ) -> Result<Vec<ReferenceHit>, IndexError> {
        self.found_references(name, Some(kind), limit)
    }

    fn found_references(
        &self,
        name: &str,
        kind: Option<ReferenceKind>,
        limit: usize,
    ) -> Result<Vec<ReferenceHit>, IndexError> {
        let read = |file, visit: &mut dyn FnMut(&FileOutline)| {
            self.check_stop()?;
            visit(&self.outline(file)?);
            Ok(())
        };
        Ok(self.references_read_by(name, kind, limit, read)?.hits)
    }

    /// Finds uses of a name, of one kind or of all, as [`Index::references`] does, with outlines
    /// that `read` passes on. Every file that is read has a use, so that no more files are read
    /// than `limit`, or [`HITS_MAX`], however many use the name; and many are read in the order in
    /// which they are stored.
    pub fn references_read_by(
        &self,
        name: &str,
        kind: Option<ReferenceKind>,
        limit: usize,
        mut read: impl FnMut(FileId, &mut dyn FnMut(&FileOutline)) -> Result<(), IndexError>,
    ) -> Result<FoundReferences, IndexError> {
        let limit = limit.min(HITS_MAX);
        let name = SymbolName::parse(name).name;
        let mut found = FoundReferences::default();
        let Some(number) = self.name_number(name) else { return Ok(found) };
        let mut files = self.files_that_use(number)?;
        files.retain(|file| kind.is_none_or(|kind| file.kinds.contains(kind)));
        files.sort_unstable_by_key(|file| (Reverse(file.count), file.file));
        let mut rest = files.as_slice();
        while found.hits.len() < limit
            && let (next @ [_, ..], after) =
                rest.split_at(files_for(rest, kind, limit - found.hits.len()))
        {
            let mut order: Vec<usize> = (0..next.len()).collect();
            order.sort_unstable_by_key(|at| next.get(*at).map(|file| file.file));
            let mut of_files: Vec<Vec<ReferenceHit>> = vec![Vec::new(); next.len()];
            for at in order {
                let Some((using, hits)) = next.get(at).zip(of_files.get_mut(at)) else { continue };
                read(using.file, &mut |outline| {
                    hits.extend(hits_in(outline, using.file, name, kind).take(limit + 1));
                })?;
            }
            found.hits.extend(of_files.into_iter().flatten());
            rest = after;
        }
        found.is_cut = !rest.is_empty() || found.hits.len() > limit;
        found.hits.truncate(limit);
        Ok(found)
    }

    /// Returns whether a file uses exactly this name so. Reads no file.
    pub fn has_references_of_kind(
        &self,
        name: &str,
        kind: ReferenceKind,
    ) -> Result<bool, IndexError> {
        let Some(number) = self.name_number(name) else { return Ok(false) };
        Ok(self.files_that_use(number)?.iter().any(|file| file.kinds.contains(kind)))
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

/// Returns how many of the next files are read together, for so many uses: of all kinds it is known
/// how many there are.
fn files_for(files: &[UsingFile], kind: Option<ReferenceKind>, uses: usize) -> usize {
    if kind.is_some() {
        return files.len().min(uses).min(FILES_TOGETHER);
    }
    let sums = files.iter().scan(0_usize, |sum, file| {
        *sum = sum.saturating_add(file.count.max(1) as usize);
        Some(*sum)
    });
    (sums.take_while(|sum| *sum < uses).count() + 1).min(files.len())
}

/// Returns the uses of a name in a file.
fn hits_in(
    outline: &FileOutline,
    file: FileId,
    name: &str,
    kind: Option<ReferenceKind>,
) -> impl Iterator<Item = ReferenceHit> {
    let of_kind = move |found: &&Reference| kind.is_none_or(|kind| found.kind == kind);
    let of_name = move |found: &&Reference| found.name == name;
    outline.references.iter().filter(of_kind).filter(of_name).map(move |reference| ReferenceHit {
        file,
        line: reference.line,
        kind: reference.kind,
        within: reference.within.map(|position| SymbolRef { file, position }),
    })
}
