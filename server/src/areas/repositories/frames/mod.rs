//! The lines that the frames of a backtrace are about, in the repositories that are synced.
//!
//! A frame names a file as it was on the machine that ran the program, so only the end of its path
//! is compared. A frame that several files fit equally well, in one repository or in several, is of
//! none of them, unless the release names the commit of one. A frame below a folder of libraries is
//! of a repository only if the repository has that folder.

mod best_fit;
mod find;
mod frame_path;

pub(in crate::areas) use find::{FramePlace, FrameSource, source_of_frames};
