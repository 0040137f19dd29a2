//! One shard as the design has it: the log, documents and pointers to packs in SlateDB, the packs
//! beside it, one owner at a time.

mod clock;
mod contents;
mod keys;
mod owner;
mod pack;
mod record;
mod tuning;

pub(crate) use contents::{Contents, Document, NamedPack, PackState};
pub(crate) use owner::{Entry, Opening, Owner};
pub(crate) use pack::write_pack;
pub(crate) use record::{DocumentRevision, Row};
pub(crate) use tuning::{Flush, Tuning};
