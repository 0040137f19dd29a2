//! An opened index, and what it contains file by file.

use std::ops::Range;

use super::super::ObjectId;
use super::super::source::{FileOutline, LineRange};
use super::error::IndexError;
use super::format::{
    ChunkTable, FileRecord, FileTable, GraphTable, Lists, Section, Sections, StringTable,
    SymbolTable, decode_outline, decompress,
};
use super::lines::lines_of;
use super::model::{Dependency, FileEntry, FileId, IndexCounts};
use super::recent::RecentBlocks;

/// An opened index. It is immutable: any number of threads may use it.
#[derive(Debug)]
pub struct Index {
    pub(super) sections: Sections,
    pub(super) files: FileTable,
    pub(super) chunks: ChunkTable,
    pub(super) terms: StringTable,
    pub(super) postings: Lists,
    pub(super) names: StringTable,
    pub(super) symbols: SymbolTable,
    pub(super) references: Lists,
    pub(super) graph: GraphTable,
    /// All files, sorted by the ids of their contents.
    by_blob: Vec<FileId>,
    counts: IndexCounts,
    recent: RecentBlocks,
    is_stopped: fn() -> bool,
    /// The averages over all chunks.
    pub(super) body_words_mean: f32,
    pub(super) doc_words_mean: f32,
}

impl Index {
    /// Opens an index, and verifies that it is whole.
    pub fn open(bytes: Vec<u8>) -> Result<Self, IndexError> {
        let sections = Sections::open(bytes)?;
        let get = |section| sections.get(section);
        let files = FileTable::decode(get(Section::Files), get(Section::Blocks).len())?;
        let chunks = ChunkTable::decode(get(Section::Chunks), &files.files)?;
        let terms = StringTable::decode(get(Section::Terms), "words")?;
        let postings = Lists::decode(get(Section::Postings), terms.len(), "postings")?;
        let names = StringTable::decode(get(Section::Names), "names")?;
        let symbols = SymbolTable::decode(get(Section::Symbols), names.len(), &files.files)?;
        let references = Lists::decode(get(Section::References), names.len(), "references")?;
        let graph = GraphTable::decode(get(Section::Graph), files.files.len())?;
        let mut by_blob: Vec<(ObjectId, FileId)> =
            files.files.iter().zip(0..).map(|(file, number)| (file.blob, FileId(number))).collect();
        by_blob.sort_unstable();
        let sum = |count: fn(&FileRecord) -> u32| {
            files.files.iter().map(count).map(u64::from).sum::<u64>()
        };
        let counts = IndexCounts {
            files: files.files.len() as u64,
            chunks: chunks.chunks.len() as u64,
            symbols: symbols.len() as u64,
            lines: sum(|file| file.lines),
            text_bytes: sum(|file| file.bytes),
        };
        let chunk_count = chunks.chunks.len().max(1) as f32;
        let body_words = chunks.chunks.iter().map(|chunk| f32::from(chunk.body_words));
        let doc_words = chunks.chunks.iter().map(|chunk| f32::from(chunk.doc_words));
        Ok(Self {
            body_words_mean: body_words.sum::<f32>() / chunk_count,
            doc_words_mean: doc_words.sum::<f32>() / chunk_count,
            by_blob: by_blob.into_iter().map(|(_, file)| file).collect(),
            sections,
            files,
            chunks,
            terms,
            postings,
            names,
            symbols,
            references,
            graph,
            counts,
            recent: RecentBlocks::default(),
            is_stopped: || false,
        })
    }

    /// Returns the index, whose files are read only as long as `is_stopped` returns false.
    /// A request may read all of them, and its client may have gone.
    #[must_use]
    pub fn with_stop(self, is_stopped: fn() -> bool) -> Self {
        Self { is_stopped, ..self }
    }

    /// Refuses to go on if nobody waits for what is read any more. Work between two files asks too:
    /// the lines of one can take long.
    pub fn check_stop(&self) -> Result<(), IndexError> {
        match (self.is_stopped)() {
            true => Err(IndexError::Stopped),
            false => Ok(()),
        }
    }

    /// Returns how much is in it.
    pub fn counts(&self) -> IndexCounts {
        self.counts
    }

    /// Returns roughly how much memory it takes, in bytes.
    pub fn memory_bytes(&self) -> u64 {
        let bytes = self.sections.len()
            + self.files.memory_bytes()
            + self.chunks.memory_bytes()
            + self.terms.memory_bytes()
            + self.postings.memory_bytes()
            + self.names.memory_bytes()
            + self.symbols.memory_bytes()
            + self.references.memory_bytes()
            + self.graph.memory_bytes()
            + self.by_blob.capacity() * size_of::<FileId>()
            + RecentBlocks::memory_bytes(self.files.blocks.iter().map(|block| block.bytes));
        bytes as u64
    }

    /// Returns all files, sorted by path.
    pub fn files(&self) -> impl Iterator<Item = FileEntry<'_>> {
        (0..).map_while(|number| self.entry(FileId(number)))
    }

    /// Returns the file of a path.
    pub fn find(&self, path: &str) -> Option<FileId> {
        self.files.paths.find(path)?.try_into().ok().map(FileId)
    }

    /// Returns the entry of a file; `None` if the index has no such file.
    pub fn entry(&self, file: FileId) -> Option<FileEntry<'_>> {
        let record = self.files.files.get(file.0 as usize)?;
        Some(FileEntry {
            id: file,
            path: self.files.paths.get(file.0 as usize)?,
            blob: record.blob,
            language: record.language,
            is_complete: record.is_complete,
            lines: record.lines,
            bytes: record.bytes,
        })
    }

    /// Returns the text of a file, exactly as it was added.
    pub fn text(&self, file: FileId) -> Result<String, IndexError> {
        let damaged = IndexError::Damaged { what: "text" };
        let bytes = self.stored(file, FileRecord::text)?;
        String::from_utf8(bytes).map_err(|_| damaged)
    }

    /// Returns the text of lines, exactly as it was added but for the line end of the last one.
    /// `None` if the file has no such lines.
    pub fn snippet(&self, file: FileId, lines: LineRange) -> Result<Option<String>, IndexError> {
        let record = self.files.files.get(file.0 as usize).ok_or(IndexError::UnknownFile)?;
        if lines.end() > record.lines {
            return Ok(None);
        }
        let text = self.text(file)?;
        Ok(lines_of(&text, lines).map(str::to_owned))
    }

    /// Returns the outline of a file, exactly as it was added.
    pub fn outline(&self, file: FileId) -> Result<FileOutline, IndexError> {
        decode_outline(&self.stored(file, FileRecord::outline)?)
    }

    /// Returns the lines of the parts of a file that searches find, in their order.
    pub fn chunks(&self, file: FileId) -> impl Iterator<Item = LineRange> {
        let record = self.files.files.get(file.0 as usize);
        let range = record.map_or(0..0, |record| record.chunks.clone());
        let chunks = self.chunks.chunks.get(range.start as usize..range.end as usize);
        chunks.unwrap_or_default().iter().map(|chunk| chunk.lines)
    }

    /// Returns which file uses which, from imports and references, sorted by `from` and `to`.
    pub fn dependencies(&self) -> &[Dependency] {
        &self.graph.dependencies
    }

    /// Returns how central a file is in the graph of dependencies: the average is 1; 0 for a file
    /// of another index.
    pub fn rank(&self, file: FileId) -> f64 {
        self.graph.ranks.get(file.0 as usize).copied().map_or(0.0, f64::from)
    }

    /// Returns the first file with this content. The same content has the same text. It has the
    /// same outline if path and language are the same, too; what an outline says of tests depends
    /// on the path.
    pub fn reuse(&self, blob: ObjectId) -> Option<FileId> {
        let blob_of = |file: &FileId| self.files.files.get(file.0 as usize).map(|file| file.blob);
        let first = self.by_blob.partition_point(|file| blob_of(file) < Some(blob));
        self.by_blob.get(first).copied().filter(|file| blob_of(file) == Some(blob))
    }

    /// Returns a range of bytes of the block of a file.
    fn stored(
        &self,
        file: FileId,
        range: impl Fn(&FileRecord) -> Range<usize>,
    ) -> Result<Vec<u8>, IndexError> {
        self.check_stop()?;
        let record = self.files.files.get(file.0 as usize).ok_or(IndexError::UnknownFile)?;
        let damaged = IndexError::Damaged { what: "block" };
        let block = self.files.blocks.get(record.block as usize).ok_or(damaged.clone())?;
        let compressed = self.sections.get(Section::Blocks).get(block.range.clone());
        let compressed = compressed.ok_or(damaged.clone())?;
        let open = || decompress(compressed, block.bytes, "block");
        let bytes = self.recent.get(record.block, open)?;
        Ok(bytes.get(range(record)).ok_or(damaged)?.to_vec())
    }
}
