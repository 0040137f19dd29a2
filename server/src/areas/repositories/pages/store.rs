//! The stored form of pages and diagrams: JSON, compressed with zstd, as one file of the engine.
//!
//! ```text
//! {"pages": [{"slug", "title", "markdown", "references": [{"path", "line_start", "line_end"}]}],
//!  "diagrams": [{"slug", "title", "kind", "mermaid"}]}
//! ```

use std::io::Read as _;

use serde::{Deserialize, Serialize};

use crate::areas::repositories::diagrams::{self, Diagram, DiagramKind};
use crate::areas::repositories::index::{Index, IndexError};
use crate::areas::repositories::limits;
use crate::areas::repositories::source::LineRange;
use crate::areas::repositories::wiki::{self, WikiPage};

/// The version of what pages contain: an unchanged commit gets new ones when it differs.
pub(in crate::areas::repositories) const VERSION: u32 = 1;
/// The level of zstd: pages are written once and read often.
const LEVEL: i32 = 9;

/// The pages and diagrams of a commit.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::areas::repositories) struct StoredPages {
    pages: Vec<WikiPage>,
    diagrams: Vec<Diagram>,
}

#[derive(Debug, Serialize, Deserialize)]
struct PagesDocument {
    pages: Vec<PageDocument>,
    diagrams: Vec<DiagramDocument>,
}

#[derive(Debug, Serialize, Deserialize)]
struct PageDocument {
    slug: String,
    title: String,
    markdown: String,
    references: Vec<ReferenceDocument>,
}

#[derive(Debug, Serialize, Deserialize)]
struct ReferenceDocument {
    path: String,
    line_start: u32,
    line_end: u32,
}

#[derive(Debug, Serialize, Deserialize)]
struct DiagramDocument {
    slug: String,
    title: String,
    kind: String,
    mermaid: String,
}

impl StoredPages {
    /// Makes the pages and diagrams of an index.
    pub(in crate::areas::repositories) fn of(index: &Index) -> Result<Self, IndexError> {
        Ok(Self { pages: wiki::pages(index)?, diagrams: diagrams::diagrams(index)? })
    }

    /// Returns the pages.
    pub(in crate::areas::repositories) fn pages(&self) -> &[WikiPage] {
        &self.pages
    }

    /// Returns the diagrams.
    pub(in crate::areas::repositories) fn diagrams(&self) -> &[Diagram] {
        &self.diagrams
    }

    /// Returns the bytes that are stored, which [`Self::from_bytes`] was seen to read.
    pub(in crate::areas::repositories) fn to_bytes(&self) -> Result<Vec<u8>, String> {
        let document = PagesDocument {
            pages: self.pages.iter().map(PageDocument::new).collect(),
            diagrams: self.diagrams.iter().map(DiagramDocument::new).collect(),
        };
        let json = serde_json::to_vec(&document).map_err(|error| error.to_string())?;
        if json.len() > limits::PAGES_BYTES_MAX {
            return Err(format!("they have {} bytes", json.len()));
        }
        let bytes = zstd::bulk::compress(&json, LEVEL).map_err(|error| error.to_string())?;
        match Self::from_bytes(&bytes) {
            Ok(read) if read == *self => Ok(bytes),
            Ok(_) => Err("what is read is not what was written".to_owned()),
            Err(error) => Err(error),
        }
    }

    /// Reads stored bytes.
    pub(super) fn from_bytes(bytes: &[u8]) -> Result<Self, String> {
        let decoder = zstd::stream::read::Decoder::new(bytes);
        let decoder = decoder.map_err(|error| error.to_string())?;
        let mut json = Vec::new();
        let max = limits::PAGES_BYTES_MAX as u64;
        decoder.take(max + 1).read_to_end(&mut json).map_err(|error| error.to_string())?;
        if json.len() as u64 > max {
            return Err(format!("they have more than {max} bytes"));
        }
        let document: PagesDocument =
            serde_json::from_slice(&json).map_err(|error| error.to_string())?;
        let pages = document.pages.into_iter().map(TryInto::try_into);
        let diagrams = document.diagrams.into_iter().map(TryInto::try_into);
        Ok(Self {
            pages: pages.collect::<Result<_, String>>()?,
            diagrams: diagrams.collect::<Result<_, String>>()?,
        })
    }
}

impl PageDocument {
    fn new(page: &WikiPage) -> Self {
        let reference = |(path, lines): &(String, LineRange)| ReferenceDocument {
            path: path.clone(),
            line_start: lines.start(),
            line_end: lines.end(),
        };
        Self {
            slug: page.slug.clone(),
            title: page.title.clone(),
            markdown: page.markdown.clone(),
            references: page.references.iter().map(reference).collect(),
        }
    }
}

impl TryFrom<PageDocument> for WikiPage {
    type Error = String;

    fn try_from(document: PageDocument) -> Result<Self, String> {
        let reference = |reference: ReferenceDocument| {
            let lines = LineRange::new(reference.line_start, reference.line_end);
            let lines = lines.ok_or_else(|| format!("lines of {}", reference.path))?;
            Ok::<_, String>((reference.path, lines))
        };
        let references = document.references.into_iter().map(reference);
        Ok(Self {
            slug: document.slug,
            title: document.title,
            markdown: document.markdown,
            references: references.collect::<Result<_, _>>()?,
        })
    }
}

impl DiagramDocument {
    fn new(diagram: &Diagram) -> Self {
        Self {
            slug: diagram.slug.clone(),
            title: diagram.title.clone(),
            kind: diagram.kind.name().to_owned(),
            mermaid: diagram.mermaid.clone(),
        }
    }
}

impl TryFrom<DiagramDocument> for Diagram {
    type Error = String;

    fn try_from(document: DiagramDocument) -> Result<Self, String> {
        let kinds = [DiagramKind::ModuleGraph, DiagramKind::ClassDiagram];
        let kind = kinds.into_iter().find(|kind| kind.name() == document.kind);
        Ok(Self {
            slug: document.slug,
            title: document.title,
            kind: kind.ok_or_else(|| format!("a diagram of kind {}", document.kind))?,
            mermaid: document.mermaid,
        })
    }
}
