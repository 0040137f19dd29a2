//! Repositories of source code: what they contain, and answers to questions about it.
//!
//! `git` fetches a commit without running anything of it; `source` finds the symbols of a file;
//! `index` finds files, symbols and passages. A sync makes an index of all files and the pages of a
//! wiki (`pages`), stores both as files of the engine, and names them in the document of the
//! repository, in one change: every request sees the commit before or the new one. All responses
//! come from these files; the directory of git is only there to fetch less the next time.

pub mod answers;
mod background;
mod by_name;
mod chat;
pub mod code_help;
mod connecting;
pub mod diagrams;
mod directory;
mod documents;
mod error;
mod frames;
pub mod git;
mod help;
mod ids;
pub mod index;
mod index_cache;
mod limits;
mod llm;
mod object_id;
mod pages;
pub mod quotes;
mod reading;
mod repository;
mod respond;
mod search;
mod settings;
mod shown_lines;
pub mod source;
mod state;
mod sync;
pub mod wiki;
mod wire;

pub(crate) use background::{add_work, sweeps};
pub(super) use by_name::offer_repositories;
pub use chat::CHAT_ROUTES;
pub use connecting::REPOSITORY_ROUTES;
pub use error::{RepositoriesSetupError, RepositoryError};
pub(super) use frames::{FramePlace, FrameSource, source_of_frames};
pub use help::HELP_ROUTES;
pub use llm::{LlmSettings, LlmSetupError};
pub use object_id::{InvalidObjectId, ObjectId};
pub use pages::PAGE_ROUTES;
pub(super) use repository::has_secrets;
pub use search::SEARCH_ROUTES;
pub use settings::{CertificateFile, RepositoriesSettings};
pub use state::Repositories;
pub use sync::SYNC_ROUTES;
