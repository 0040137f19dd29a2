//! The JSON of pages and diagrams.

use schemars::JsonSchema;
use serde::Serialize;

use super::ops::RepositoryPages;
use crate::areas::repositories::diagrams::Diagram;
use crate::areas::repositories::source::LineRange;
use crate::areas::repositories::wiki::WikiPage;

/// The pages of a wiki, the overview first.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "WikiPageList")]
pub(super) struct WikiListView {
    commit: String,
    pages: Vec<WikiPageSummaryView>,
}

/// A page in a list.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "WikiPageSummary")]
struct WikiPageSummaryView {
    /// Its name in URLs.
    slug: String,
    title: String,
}

/// A page of a wiki.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "WikiPage")]
pub(super) struct WikiPageView {
    commit: String,
    slug: String,
    title: String,
    /// The text, in Markdown.
    content: String,
    /// The lines that the page is about.
    references: Vec<WikiReferenceView>,
}

/// Lines of the commit.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "WikiReference")]
struct WikiReferenceView {
    file_path: String,
    line_start: u32,
    line_end: u32,
}

/// Diagrams.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "DiagramList")]
pub(super) struct DiagramListView {
    commit: String,
    diagrams: Vec<DiagramView>,
}

/// A diagram.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Diagram")]
struct DiagramView {
    slug: String,
    title: String,
    #[schemars(with = "DiagramKindName")]
    kind: &'static str,
    /// The source text, for Mermaid.
    mermaid: String,
}

/// What a diagram shows.
#[derive(JsonSchema)]
#[schemars(rename = "DiagramKind", rename_all = "snake_case")]
#[expect(dead_code, reason = "only its schema is used")]
enum DiagramKindName {
    ModuleGraph,
    ClassDiagram,
}

impl WikiListView {
    pub(super) fn new(read: &RepositoryPages) -> Self {
        let summary = |page: &WikiPage| WikiPageSummaryView {
            slug: page.slug.clone(),
            title: page.title.clone(),
        };
        Self { commit: read.commit.clone(), pages: read.pages().iter().map(summary).collect() }
    }
}

impl WikiPageView {
    pub(super) fn new((commit, page): (String, WikiPage)) -> Self {
        let reference = |(path, lines): (String, LineRange)| WikiReferenceView {
            file_path: path,
            line_start: lines.start(),
            line_end: lines.end(),
        };
        Self {
            commit,
            slug: page.slug,
            title: page.title,
            content: page.markdown,
            references: page.references.into_iter().map(reference).collect(),
        }
    }
}

impl DiagramListView {
    pub(super) fn new(read: &RepositoryPages) -> Self {
        let view = |diagram: &Diagram| DiagramView {
            slug: diagram.slug.clone(),
            title: diagram.title.clone(),
            kind: diagram.kind.name(),
            mermaid: diagram.mermaid.clone(),
        };
        Self { commit: read.commit.clone(), diagrams: read.diagrams().iter().map(view).collect() }
    }
}
