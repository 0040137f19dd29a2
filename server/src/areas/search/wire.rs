//! Requests and responses of the search.

use schemars::JsonSchema;
use serde::Serialize;

use super::model::{Finder, KindMatches, SearchResult};
use crate::areas::search::limits as own_limits;
use crate::http::{ApiError, ApiResult, Query};
use crate::limits;
use crate::platform::name_search::{NamedThing, SearchWords};

/// What was found.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "SearchResult")]
pub(super) struct SearchView {
    /// Kinds that have matches, in a fixed order.
    results: Vec<KindView>,
    /// Kinds that could not be searched.
    failed: Vec<&'static str>,
}

/// What was found of a kind.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "SearchKind")]
struct KindView {
    kind: &'static str,
    /// The number of all matches.
    total: usize,
    /// The best matches, the best first.
    items: Vec<ItemView>,
}

/// A match.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "SearchItem")]
struct ItemView {
    /// The id; the name of what has no id.
    id: String,
    name: String,
    /// What tells it apart from others of the same name.
    detail: Option<String>,
}

/// Reads `q`.
pub(super) fn words(query: &Query) -> ApiResult<SearchWords> {
    let text = query.one("q")?.ok_or_else(|| ApiError::parameter("q", "is required"))?;
    let max = own_limits::SEARCH_CHARS_MAX;
    if text.chars().count() > max {
        return Err(ApiError::parameter("q", format_args!("must have at most {max} characters")));
    }
    SearchWords::parse(text).ok_or_else(|| ApiError::parameter("q", "must not be blank"))
}

/// Reads `kinds`: those of these finders that it names, or all.
pub(super) fn kinds(query: &Query, all: Vec<Finder>) -> ApiResult<Vec<Finder>> {
    let Some(list) = query.one("kinds")? else { return Ok(all) };
    let names: Vec<&str> = list.split(',').collect();
    if let Some(unknown) = names.iter().find(|name| all.iter().all(|finder| finder.kind != **name))
    {
        let known: Vec<&str> = all.iter().map(|finder| finder.kind).collect();
        let shown: String = unknown.chars().take(limits::PARAMETER_NAME_SHOWN_CHARS_MAX).collect();
        let expected = format!("has the unknown kind {shown:?}; known are {}", known.join(", "));
        return Err(ApiError::parameter("kinds", expected));
    }
    Ok(all.into_iter().filter(|finder| names.contains(&finder.kind)).collect())
}

impl From<SearchResult> for SearchView {
    fn from(result: SearchResult) -> Self {
        Self {
            results: result.kinds.into_iter().map(KindView::from).collect(),
            failed: result.failed,
        }
    }
}

impl From<KindMatches> for KindView {
    fn from(matches: KindMatches) -> Self {
        let KindMatches { kind, things, total } = matches;
        Self { kind, total, items: things.into_iter().map(ItemView::from).collect() }
    }
}

impl From<NamedThing> for ItemView {
    fn from(thing: NamedThing) -> Self {
        let NamedThing { id, name, detail } = thing;
        Self { id, name, detail }
    }
}
