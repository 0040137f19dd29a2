//! Joins analysed files to an index. What is written depends on the files only, not on their order.

use std::mem;

use rayon::prelude::*;

use super::super::super::ObjectId;
use super::super::super::source::{Import, Language};
use super::super::error::IndexError;
use super::super::format::{
    ByteWriter, ChunkRecord, ChunkTable, FileTable, NewFile, Posting, StringTable, SymbolRecord,
    SymbolTable, encode_lists, encode_postings, join,
};
use super::super::limits::{BLOCK_BYTES, COMPRESSION_LEVEL};
use super::super::model::{BuiltIndex, FileId, IndexCounts, SymbolRef};
use super::analysis::{AnalysedFile, NameUse};
use super::graph::{GraphFile, graph, uses_of_names};
use super::interner::Interner;
use super::tally::FilePosting;

/// All analysed files.
#[derive(Debug, Default)]
pub(super) struct Assembly {
    terms: Interner,
    names: Interner,
    files: Vec<AssembledFile>,
}

/// An analysed file, whose words and names have the numbers of the assembly.
#[derive(Debug)]
struct AssembledFile {
    path: String,
    blob: ObjectId,
    language: Option<Language>,
    is_complete: bool,
    lines: u32,
    text: String,
    outline: Vec<u8>,
    imports: Vec<Import>,
    /// Sorted by their positions; their file is not known yet.
    symbols: Vec<SymbolRecord>,
    uses: Vec<NameUse<u32>>,
    chunks: Vec<ChunkRecord>,
    postings: Vec<FilePosting>,
}

impl Assembly {
    /// Adds a file.
    pub(super) fn add(&mut self, file: AnalysedFile) {
        let terms: Vec<u32> = (0..file.terms.len() as u32)
            .map(|term| self.terms.number(file.terms.get(term)))
            .collect();
        let mut postings = file.postings;
        for posting in &mut postings {
            posting.term = terms.get(posting.term as usize).copied().unwrap_or(posting.term);
        }
        postings.shrink_to_fit();
        let symbols = (0..).zip(&file.symbols).map(|(position, symbol)| SymbolRecord {
            name: self.names.number(&symbol.name),
            container: symbol.container.as_deref().map(|name| self.names.number(name)),
            symbol: SymbolRef { file: FileId(0), position },
            lines: symbol.lines,
            kind: symbol.kind,
            is_public: symbol.is_public,
            is_test: symbol.is_test,
            is_test_case: symbol.is_test_case,
        });
        let symbols = symbols.collect();
        let uses = file.uses.iter().map(|NameUse { name, count, kinds }| NameUse {
            name: self.names.number(name),
            count: *count,
            kinds: *kinds,
        });
        self.files.push(AssembledFile {
            uses: uses.collect(),
            path: file.path,
            blob: file.blob,
            language: file.language,
            is_complete: file.is_complete,
            lines: file.lines,
            text: file.text,
            outline: file.outline,
            imports: file.imports,
            symbols,
            chunks: file.chunks,
            postings,
        });
    }

    /// Returns the index.
    pub(super) fn finish(mut self) -> Result<BuiltIndex, IndexError> {
        self.files.sort_unstable_by(|left, right| left.path.cmp(&right.path));
        let (terms, postings) = self.postings()?;
        let (files, blocks) = self.blocks()?;
        let counts = self.counts();
        let (name_order, name_positions) = self.names.sorted(|name| (name.to_lowercase(), name));
        self.renumber_names(&name_positions);
        let names = StringTable::encode(name_order.iter().map(|name| self.names.get(*name)))?;
        drop((name_order, name_positions));
        let mut symbols: Vec<SymbolRecord> =
            self.files.iter().flat_map(|file| file.symbols.iter().copied()).collect();
        symbols.sort_unstable_by_key(|symbol| (symbol.name, symbol.symbol));
        let name_count = self.names.len() as u32;
        let symbol_table = SymbolTable::encode(&symbols, name_count)?;
        let graph_files: Vec<GraphFile<'_>> = self.files.iter().map(GraphFile::from).collect();
        let uses = uses_of_names(&graph_files, &symbols, name_count as usize);
        let graph = graph(&graph_files, &symbols).encode()?;
        drop((graph_files, symbols));
        let chunks = self.chunks(&uses)?;
        let references = self.references(name_count as usize)?;
        let bytes =
            join([files, blocks, chunks, terms, postings, names, symbol_table, references, graph]);
        Ok(BuiltIndex { bytes, counts })
    }

    fn counts(&self) -> IndexCounts {
        let sum = |count: fn(&AssembledFile) -> usize| {
            self.files.iter().map(count).map(|count| count as u64).sum()
        };
        IndexCounts {
            files: self.files.len() as u64,
            chunks: sum(|file| file.chunks.len()),
            symbols: sum(|file| file.symbols.len()),
            lines: sum(|file| file.lines as usize),
            text_bytes: sum(|file| file.text.len()),
        }
    }

    /// Returns the sections of words and postings, and forgets them.
    fn postings(&mut self) -> Result<(Vec<u8>, Vec<u8>), IndexError> {
        let terms = mem::take(&mut self.terms);
        let (order, positions) = terms.sorted(|term| term);
        let table = StringTable::encode(order.iter().map(|term| terms.get(*term)))?;
        let mut ends = vec![0_usize; order.len()];
        let position = |term: u32| positions.get(term as usize).map_or(0, |at| *at as usize);
        for posting in self.files.iter().flat_map(|file| &file.postings) {
            if let Some(count) = ends.get_mut(position(posting.term)) {
                *count += 1;
            }
        }
        let mut next = 0;
        for end in &mut ends {
            next += mem::replace(end, next);
        }
        let none = Posting { chunk: 0, frequencies: Default::default() };
        let mut sorted = vec![none; next];
        let mut first_chunk = 0;
        for file in &mut self.files {
            for FilePosting { term, chunk, frequencies } in mem::take(&mut file.postings) {
                let Some(at) = ends.get_mut(position(term)) else { continue };
                if let Some(place) = sorted.get_mut(*at) {
                    *place = Posting { chunk: first_chunk + chunk, frequencies };
                }
                *at += 1;
            }
            first_chunk += file.chunks.len() as u32;
        }
        let mut lists = ByteWriter::default();
        let mut lengths = Vec::with_capacity(ends.len());
        let mut start = 0;
        for end in ends {
            let before = lists.len();
            encode_postings(sorted.get(start..end).unwrap_or_default(), &mut lists);
            lengths.push(lists.len() - before);
            start = end;
        }
        Ok((table, encode_lists(&lengths, lists.into_bytes())?))
    }

    /// Returns the sections of files and blocks.
    fn blocks(&self) -> Result<(Vec<u8>, Vec<u8>), IndexError> {
        let mut groups: Vec<&[AssembledFile]> = Vec::new();
        let mut rest = self.files.as_slice();
        while !rest.is_empty() {
            let mut bytes = 0;
            let count = rest.iter().take_while(|file| {
                let fits = bytes == 0 || bytes + file.text.len() <= BLOCK_BYTES;
                bytes += file.text.len();
                fits
            });
            let Some((group, after)) = rest.split_at_checked(count.count().max(1)) else { break };
            groups.push(group);
            rest = after;
        }
        let compressed = groups.par_iter().map(|group| {
            let texts = group.iter().map(|file| file.text.as_bytes());
            let outlines = group.iter().map(|file| file.outline.as_slice());
            let block: Vec<u8> = texts.chain(outlines).flatten().copied().collect();
            // Blocks are far smaller than what zstd refuses.
            zstd::bulk::compress(&block, COMPRESSION_LEVEL)
                .map_err(|_| IndexError::LimitReached { what: "bytes in a block", max: 0 })
        });
        let compressed = compressed.collect::<Result<Vec<_>, _>>()?;
        let sizes: Vec<(usize, usize)> = groups
            .iter()
            .zip(&compressed)
            .map(|(group, block)| (group.len(), block.len()))
            .collect();
        let files: Vec<NewFile<'_>> = self.files.iter().map(NewFile::from).collect();
        Ok((FileTable::encode(&files, &sizes)?, compressed.concat()))
    }

    /// Gives all names the numbers of their positions in the sorted table, and all symbols and
    /// chunks the numbers of their files.
    fn renumber_names(&mut self, positions: &[u32]) {
        let renumber = |name: &mut u32| {
            *name = positions.get(*name as usize).copied().unwrap_or(*name);
        };
        for (file, number) in self.files.iter_mut().zip(0..) {
            for symbol in &mut file.symbols {
                renumber(&mut symbol.name);
                symbol.container.as_mut().map(renumber);
                symbol.symbol.file = FileId(number);
            }
            for chunk in &mut file.chunks {
                chunk.file = FileId(number);
            }
            for used in &mut file.uses {
                renumber(&mut used.name);
            }
            file.uses.sort_unstable();
        }
    }

    fn chunks(&self, uses: &[u8]) -> Result<Vec<u8>, IndexError> {
        let mut chunks = Vec::new();
        for file in &self.files {
            for chunk in &file.chunks {
                let mut chunk = *chunk;
                let symbol = chunk.symbol.and_then(|(at, _)| file.symbols.get(at as usize));
                let name = symbol.map(|symbol| symbol.name as usize);
                chunk.uses = name.and_then(|name| uses.get(name)).copied().unwrap_or(0);
                chunks.push(chunk);
            }
        }
        ChunkTable::encode(&chunks)
    }

    /// Returns the section that lists for each name the files that use it, how often, and as what.
    fn references(&self, names: usize) -> Result<Vec<u8>, IndexError> {
        let files = self.files.iter().zip(0_u32..);
        let mut uses: Vec<(u32, NameUse<u32>)> = files
            .flat_map(|(file, number)| file.uses.iter().map(move |used| (number, *used)))
            .collect();
        uses.sort_unstable_by_key(|(file, used)| (used.name, *file));
        let mut lists = ByteWriter::default();
        let mut lengths = vec![0; names];
        for same in uses.chunk_by(|(_, left), (_, right)| left.name == right.name) {
            let before = lists.len();
            let mut file_before = 0;
            for (file, used) in same {
                lists.number(file - file_before);
                lists.number(used.count);
                lists.byte(used.kinds.0);
                file_before = *file;
            }
            let name = same.first().map_or(0, |(_, used)| used.name as usize);
            if let Some(length) = lengths.get_mut(name) {
                *length = lists.len() - before;
            }
        }
        encode_lists(&lengths, lists.into_bytes())
    }
}

impl<'a> From<&'a AssembledFile> for NewFile<'a> {
    fn from(file: &'a AssembledFile) -> Self {
        // Files and outlines are limited to far less than four gigabytes.
        Self {
            path: &file.path,
            blob: file.blob,
            language: file.language,
            is_complete: file.is_complete,
            lines: file.lines,
            bytes: file.text.len() as u32,
            outline_bytes: file.outline.len() as u32,
            chunks: file.chunks.len() as u32,
            symbols: file.symbols.len() as u32,
        }
    }
}

impl<'a> From<&'a AssembledFile> for GraphFile<'a> {
    fn from(file: &'a AssembledFile) -> Self {
        Self { path: &file.path, imports: &file.imports, uses: &file.uses }
    }
}
