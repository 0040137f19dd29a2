//! The JSON of repositories.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::change::{NewRepository, RepositoryChange};
use crate::app::App;
use crate::areas::repositories::error::RepositoryError;
use crate::areas::repositories::git::{BranchName, RepositoryUrl};
use crate::areas::repositories::limits;
use crate::areas::repositories::repository::{
    IndexedCommit, PathPatterns, Repository, RepositorySettings,
};
use crate::areas::repositories::wire::FailureView;
use crate::platform::bounded::AtMost;
use crate::platform::fields::{self, Invalid};
use crate::platform::json::nullable;
use crate::platform::patterns;
use crate::platform::sealing::Secret;
use crate::platform::time::IsoTime;

/// A list of patterns.
type Patterns = AtMost<String, { limits::PATTERNS_MAX }>;

/// A repository that is to be connected.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RepositoryInput {
    /// Where git fetches it from: an `https` URL without user and password, unless
    /// `repositories.schemes` allows others.
    #[schemars(required, length(min = 1, max = limits::URL_CHARS_MAX))]
    url: Option<String>,
    /// Defaults to the last part of the URL, without `.git`.
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "Option<String>", length(max = limits::NAME_CHARS_MAX), regex(pattern = patterns::LINE))]
    name: Option<Option<String>>,
    /// Defaults to the default branch of the remote repository.
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "Option<String>", length(max = limits::BRANCH_CHARS_MAX))]
    branch: Option<Option<String>>,
    /// A token that may read the repository; git sends it as the password. Never shown.
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "Option<String>", length(max = limits::TOKEN_CHARS_MAX))]
    access_token: Option<Option<String>>,
    /// Whether it is synced when the branch has moved, which is looked for every
    /// `repositories.auto_sync_every`. Defaults to true.
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "Option<bool>")]
    auto_sync: Option<Option<bool>>,
    /// Patterns of the paths that are indexed, as in `.gitignore`. Defaults to `["**/*"]`.
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "Option<Vec<String>>", length(max = limits::PATTERNS_MAX))]
    include_patterns: Option<Option<Patterns>>,
    /// Patterns of the paths that are not indexed; they win. Defaults to code of others, lock files
    /// and generated files. Binary files are never indexed.
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "Option<Vec<String>>", length(max = limits::PATTERNS_MAX))]
    exclude_patterns: Option<Option<Patterns>>,
}

/// A change of a repository; absent fields are unchanged, and `null` stands for the default.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RepositoryPatch {
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "String", length(max = limits::NAME_CHARS_MAX), regex(pattern = patterns::LINE))]
    name: Option<Option<String>>,
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "Option<String>", length(max = limits::BRANCH_CHARS_MAX))]
    branch: Option<Option<String>>,
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "Option<bool>")]
    auto_sync: Option<Option<bool>>,
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "Option<Vec<String>>", length(max = limits::PATTERNS_MAX))]
    include_patterns: Option<Option<Patterns>>,
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "Option<Vec<String>>", length(max = limits::PATTERNS_MAX))]
    exclude_patterns: Option<Option<Patterns>>,
    /// Another token; `null` removes it.
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "Option<String>", length(max = limits::TOKEN_CHARS_MAX))]
    access_token: Option<Option<String>>,
}

/// How far a repository is.
#[derive(JsonSchema)]
#[schemars(rename = "RepositoryStatus", rename_all = "snake_case")]
#[expect(dead_code, reason = "only its schema is used")]
enum StatusName {
    Pending,
    Syncing,
    Synced,
    Failed,
}

/// Repositories, newest first.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "RepositoryList")]
pub(super) struct RepositoryListView {
    repositories: Vec<RepositorySummaryView>,
}

/// A repository in a list.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "RepositorySummary")]
struct RepositorySummaryView {
    id: String,
    name: String,
    url: String,
    branch: Option<String>,
    #[schemars(with = "StatusName")]
    status: &'static str,
    last_synced_at: Option<IsoTime>,
    last_commit: Option<String>,
    files_indexed: u64,
    chunks_indexed: u64,
}

/// A repository.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Repository")]
pub(super) struct RepositoryView {
    id: String,
    name: String,
    url: String,
    /// The branch that is asked for, or the default branch once it is known.
    branch: Option<String>,
    /// `pending` until the first sync begins.
    #[schemars(with = "StatusName")]
    status: &'static str,
    /// When what is indexed was fetched.
    last_synced_at: Option<IsoTime>,
    /// The commit that is indexed.
    last_commit: Option<String>,
    stats: RepositoryStatsView,
    settings: RepositorySettingsView,
    /// Whether a token is stored.
    has_access_token: bool,
    /// The sync that waits or runs.
    sync_id: Option<String>,
    /// Why the last sync failed. What was indexed before it stays.
    last_error: Option<FailureView>,
    created_by: String,
    created_at: IsoTime,
}

/// What is indexed.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[schemars(rename = "RepositoryStats")]
struct RepositoryStatsView {
    files_indexed: u64,
    chunks_indexed: u64,
    wiki_pages: u64,
    diagrams: u64,
}

/// What users set.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "RepositorySettings")]
struct RepositorySettingsView {
    auto_sync: bool,
    include_patterns: Vec<String>,
    exclude_patterns: Vec<String>,
}

impl RepositoryInput {
    /// Returns the repository to create.
    pub(super) fn into_new(self, app: &App) -> Result<NewRepository, RepositoryError> {
        let url = self.url.ok_or_else(|| Invalid::missing("url"))?;
        let url = RepositoryUrl::parse(&url, app.repositories().git().schemes())?;
        let name = self.name.flatten();
        let name = name.map(|name| fields::name(Some(name), limits::NAME_CHARS_MAX)).transpose()?;
        let include = read_patterns("include_patterns", self.include_patterns.flatten())?;
        let exclude = read_patterns("exclude_patterns", self.exclude_patterns.flatten())?;
        let settings = RepositorySettings {
            branch: read_branch(self.branch.flatten())?,
            auto_sync: self.auto_sync.flatten().unwrap_or(true),
            include: include.unwrap_or_else(|| owned(&PathPatterns::INCLUDE_DEFAULT)),
            exclude: exclude.unwrap_or_else(|| owned(&PathPatterns::EXCLUDE_DEFAULT)),
        };
        Ok(NewRepository { name, url, settings, token: read_token(self.access_token.flatten())? })
    }
}

impl RepositoryPatch {
    /// Returns the change.
    pub(super) fn into_change(self) -> Result<RepositoryChange, RepositoryError> {
        let name = |name| fields::name(name, limits::NAME_CHARS_MAX);
        let list = |field, sent: Option<Option<Patterns>>, default: &[&str]| {
            let read = |sent| Ok(read_patterns(field, sent)?.unwrap_or_else(|| owned(default)));
            sent.map(read).transpose()
        };
        let include =
            list("include_patterns", self.include_patterns, &PathPatterns::INCLUDE_DEFAULT);
        let exclude =
            list("exclude_patterns", self.exclude_patterns, &PathPatterns::EXCLUDE_DEFAULT);
        let (include, exclude): (Result<_, Invalid>, Result<_, Invalid>) = (include, exclude);
        Ok(RepositoryChange {
            name: self.name.map(name).transpose()?,
            branch: self.branch.map(read_branch).transpose()?,
            auto_sync: self.auto_sync.map(|auto_sync| auto_sync.unwrap_or(true)),
            include: include?,
            exclude: exclude?,
            token: self.access_token.map(read_token).transpose()?,
        })
    }
}

fn read_branch(text: Option<String>) -> Result<Option<BranchName>, Invalid> {
    let parse = |text: String| {
        BranchName::parse(&text).map_err(|error| Invalid::field("branch", error.to_string()))
    };
    text.map(parse).transpose()
}

fn read_token(text: Option<String>) -> Result<Option<Secret>, Invalid> {
    let Some(text) = text.filter(|text| !text.is_empty()) else { return Ok(None) };
    let is_valid =
        text.len() <= limits::TOKEN_CHARS_MAX && text.bytes().all(|b| b.is_ascii_graphic());
    if !is_valid {
        let expected = format!(
            "must have at most {} printable ASCII characters and no spaces",
            limits::TOKEN_CHARS_MAX
        );
        return Err(Invalid::field("access_token", expected));
    }
    Ok(Some(text.into()))
}

fn read_patterns(
    field: &'static str,
    sent: Option<Patterns>,
) -> Result<Option<Vec<String>>, Invalid> {
    let too_many =
        |_| Invalid::field(field, format!("must have at most {} patterns", limits::PATTERNS_MAX));
    let Some(list) = sent.map(AtMost::all).transpose().map_err(too_many)? else { return Ok(None) };
    // Compiled apart, so that the error names the field.
    PathPatterns::new(&list, &[])
        .map_err(|error| Invalid::field(field, format!("is not valid: {error}")))?;
    Ok(Some(list))
}

fn owned(list: &[&str]) -> Vec<String> {
    list.iter().map(|pattern| (*pattern).to_owned()).collect()
}

impl RepositoryListView {
    pub(super) fn new(app: &App, found: Vec<Repository>) -> Self {
        let view = |repository| RepositorySummaryView::new(app, repository);
        Self { repositories: found.into_iter().map(view).collect() }
    }
}

impl RepositorySummaryView {
    fn new(app: &App, repository: Repository) -> Self {
        let indexed = repository.indexed.as_ref();
        Self {
            id: repository.id.text(),
            branch: branch(&repository),
            status: repository.status(|sync| app.repositories().is_running(sync)),
            last_synced_at: indexed.map(|indexed| IsoTime(indexed.synced_at)),
            last_commit: indexed.map(IndexedCommit::short_commit),
            files_indexed: indexed.map_or(0, |indexed| indexed.files_indexed),
            chunks_indexed: indexed.map_or(0, |indexed| indexed.chunks_indexed),
            url: repository.url.to_string(),
            name: repository.name,
        }
    }
}

impl RepositoryView {
    pub(super) fn new(app: &App, repository: Repository) -> Self {
        let indexed = repository.indexed.as_ref();
        let stats = indexed.map(|indexed| RepositoryStatsView {
            files_indexed: indexed.files_indexed,
            chunks_indexed: indexed.chunks_indexed,
            wiki_pages: indexed.wiki_pages,
            diagrams: indexed.diagrams,
        });
        Self {
            id: repository.id.text(),
            branch: branch(&repository),
            status: repository.status(|sync| app.repositories().is_running(sync)),
            last_synced_at: indexed.map(|indexed| IsoTime(indexed.synced_at)),
            last_commit: indexed.map(IndexedCommit::short_commit),
            stats: stats.unwrap_or_default(),
            has_access_token: repository.has_token(),
            sync_id: repository.running().map(|sync| sync.text()),
            last_error: repository.failure().map(FailureView::new),
            url: repository.url.to_string(),
            name: repository.name,
            settings: RepositorySettingsView {
                auto_sync: repository.settings.auto_sync,
                include_patterns: repository.settings.include,
                exclude_patterns: repository.settings.exclude,
            },
            created_by: repository.created_by,
            created_at: IsoTime(repository.created_at),
        }
    }
}

fn branch(repository: &Repository) -> Option<String> {
    let of_index = repository.indexed.as_ref().map(|indexed| &indexed.branch);
    repository.settings.branch.as_ref().or(of_index).map(ToString::to_string)
}
