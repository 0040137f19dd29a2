//! Wiki pages of a repository: an overview, and a page for each module. Deterministic: the same
//! index yields the same pages. Everything in them is from the index, with links to the lines.

mod edges;
mod impl_block;
mod limits;
mod markdown;
mod modules;
mod overview;
mod pages;
mod slug;
#[cfg(test)]
pub mod test_index;
#[cfg(test)]
mod tests;

pub use edges::{certain_dependencies, is_distinctive};
pub use impl_block::implementing_type;
pub use modules::{
    Module, ModuleDoc, Modules, entry_points, file_doc, is_test_path, modules, readme,
};
pub use pages::{WikiPage, pages};
pub use slug::Slugs;
