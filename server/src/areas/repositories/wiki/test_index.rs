//! Indexes of files that a test writes.

use crate::areas::repositories::ObjectId;
use crate::areas::repositories::index::{Index, IndexBuilder, SourceFile};
use crate::areas::repositories::source::outline;

/// Returns the index of files, each a path and a text.
pub fn index_of(files: &[(&str, &str)]) -> Index {
    let mut builder = IndexBuilder::new();
    for (path, text) in files {
        builder
            .add(SourceFile {
                path: (*path).to_owned(),
                blob: ObjectId::from_bytes(&[1; 20]).unwrap(),
                text: (*text).to_owned(),
                outline: outline(path, text),
            })
            .unwrap();
    }
    Index::open(builder.finish().unwrap().bytes).unwrap()
}
