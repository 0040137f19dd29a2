//! From the files of a commit to a new index and the pages made of it. Blocks.

use std::collections::BTreeSet;

use telltale_engine::{MemoryShare, PinnedFile};
use tokio::sync::mpsc;

use super::model::{SkippedFiles, SyncStats};
use super::outcome::SyncError;
use super::select;
use crate::app::App;
use crate::areas::repositories::git::TreeFile;
use crate::areas::repositories::index::{
    self, BuiltIndex, Index, IndexBuilder, IndexCounts, SourceFile,
};
use crate::areas::repositories::limits;
use crate::areas::repositories::object_id::ObjectId;
use crate::areas::repositories::pages::{self, StoredPages};
use crate::areas::repositories::repository::{RepositoryFiles, StoredFile};
use crate::areas::repositories::source::{self, FileOutline};

/// The version of what is made of files: of the index, and of the pages.
pub(super) const VERSION: u32 = index::FORMAT_VERSION << 8 | pages::VERSION;

/// A file that was read.
#[derive(Debug)]
pub(super) struct SelectedFile {
    pub(super) path: String,
    pub(super) blob: ObjectId,
    pub(super) contents: Vec<u8>,
}

/// An index that is not stored yet.
#[derive(Debug)]
pub(super) struct NewFiles {
    built: BuiltIndex,
    index: Index,
    stats: SyncStats,
    /// Released with the rest.
    _memory: MemoryShare,
}

/// What is stored, but not named by a document yet.
#[derive(Debug)]
pub(super) struct StoredFiles {
    pub(super) files: RepositoryFiles,
    pub(super) counts: IndexCounts,
    pub(super) stats: SyncStats,
    pub(super) wiki_pages: u64,
    pub(super) diagrams: u64,
    pub(super) pins: [PinnedFile; 2],
}

/// Returns whether an index has a file with the same path and contents.
pub(super) fn is_unchanged(index: &Index, file: &TreeFile) -> bool {
    let entry = index.find(&file.path).and_then(|id| index.entry(id));
    entry.is_some_and(|entry| entry.blob == file.blob)
}

/// Makes an index of the files that are as before and of those that are received.
pub(super) fn index(
    before: Option<&Index>,
    unchanged: Vec<TreeFile>,
    mut received: mpsc::Receiver<SelectedFile>,
    skipped: SkippedFiles,
    mut memory: MemoryShare,
) -> Result<NewFiles, SyncError> {
    let mut builder = IndexBuilder::new();
    let mut stats = SyncStats { skipped, ..SyncStats::default() };
    for file in unchanged {
        let Some((before, id)) = before.and_then(|index| Some((index, index.find(&file.path)?)))
        else {
            return Err(SyncError::Differs(file.path));
        };
        let (text, outline) = (before.text(id)?, before.outline(id)?);
        memory.grow(outline_memory(&outline))?;
        builder.add(SourceFile { path: file.path, blob: file.blob, text, outline })?;
        stats.files_unchanged += 1;
    }
    let mut read = BTreeSet::new();
    while let Some(file) = received.blocking_recv() {
        let SelectedFile { path, blob, contents } = file;
        match select::text(contents) {
            Err(why) => stats.skipped.count(why),
            Ok(text) => {
                let outline = source::outline(&path, &text);
                memory.grow(outline_memory(&outline))?;
                read.insert(path.clone());
                builder.add(SourceFile { path, blob, text, outline })?;
                stats.files_processed += 1;
            }
        }
    }
    let built = builder.finish()?;
    let index = Index::open(built.bytes.clone())?;
    verify(&index)?;
    let new = index.files().filter(|file| read.contains(file.path));
    stats.chunks_created = new.map(|file| index.chunks(file.id).count() as u64).sum();
    if let Some(before) = before {
        let is_gone = |path: &str| index.find(path).is_none();
        stats.files_removed = before.files().filter(|file| is_gone(file.path)).count() as u64;
    }
    Ok(NewFiles { built, index, stats, _memory: memory })
}

/// Returns the memory that the definitions and references of a file take until the index is done.
fn outline_memory(outline: &FileOutline) -> u64 {
    let of_symbols = outline.symbols.len() as u64 * limits::SYNC_MEMORY_PER_SYMBOL;
    of_symbols + outline.references.len() as u64 * limits::SYNC_MEMORY_PER_REFERENCE
}

impl NewFiles {
    /// Fails if the index takes more memory than so many bytes when it is asked.
    pub(super) fn check_size(&self, max: u64) -> Result<(), SyncError> {
        match self.index.memory_bytes() {
            bytes if bytes > max => Err(SyncError::IndexTooLarge { bytes, max }),
            _ => Ok(()),
        }
    }
}

/// Compares the text of all files with what git names them.
fn verify(index: &Index) -> Result<(), SyncError> {
    for file in index.files() {
        let text = index.text(file.id)?;
        if !file.blob.is_of_blob(text.as_bytes()) {
            return Err(SyncError::Differs(file.path.to_owned()));
        }
    }
    Ok(())
}

/// Stores an index and the pages made of it.
pub(super) fn store(app: &App, new: NewFiles) -> Result<StoredFiles, SyncError> {
    let NewFiles { built, index, mut stats, _memory } = new;
    let made = StoredPages::of(&index)?;
    let contents = made.to_bytes().map_err(SyncError::Wiki)?;
    let (wiki_pages, diagrams) = (made.pages().len() as u64, made.diagrams().len() as u64);
    stats.pages_generated = wiki_pages + diagrams;
    let files = app.engine().files();
    let (of_index, of_wiki) = match (files.put(&built.bytes), files.put(&contents)) {
        (Ok(index), Ok(wiki)) => (index, wiki),
        (Err(error), _) | (_, Err(error)) => {
            // A failed write may leave a file.
            app.file_waste().set();
            return Err(error.into());
        }
    };
    let stored = |file: &PinnedFile, contents: &[u8], memory_bytes| StoredFile {
        digest: file.digest(),
        bytes: contents.len() as u64,
        memory_bytes,
    };
    let of_pages = (contents.len() as u64).saturating_mul(limits::PAGES_MEMORY_PER_BYTE);
    let files = RepositoryFiles {
        index: stored(&of_index, &built.bytes, index.memory_bytes()),
        wiki: stored(&of_wiki, &contents, of_pages),
    };
    app.repositories().indexes().keep(of_index.digest(), index);
    let pins = [of_index, of_wiki];
    Ok(StoredFiles { files, counts: built.counts, stats, wiki_pages, diagrams, pins })
}

#[cfg(test)]
mod tests {
    use telltale_engine::{Memory, MemoryOwner};

    use super::*;

    #[test]
    fn definitions_take_memory_of_the_account() {
        let made = |lines: usize| {
            let memory = Memory::new(4 << 20).take(MemoryOwner::Syncs, 1 << 20).unwrap();
            let (sender, receiver) = mpsc::channel(1);
            let contents = "def a():0\n".repeat(lines).into_bytes();
            // Not that of the contents, which is found when the index is done.
            let blob = ObjectId::parse(&"1".repeat(40)).unwrap();
            let file = SelectedFile { path: "a.py".to_owned(), blob, contents };
            sender.try_send(file).unwrap();
            drop(sender);
            index(None, Vec::new(), receiver, SkippedFiles::default(), memory)
        };
        assert!(matches!(made(100), Err(SyncError::Differs(_))));
        // What a million bytes define takes more than the rest.
        assert!(matches!(made(100_000), Err(SyncError::Memory(_))));
    }
}
