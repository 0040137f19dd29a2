//! The index of source code: files of any text give an index that contains them as they are, and
//! any question has an answer whose references are lines of these files. The first line is the
//! question; files are separated by lines of `%%`, and begin with their path. Bytes that are no
//! index are refused.
#![no_main]

use libfuzzer_sys::fuzz_target;
use telltale_server::areas::repositories::ObjectId;
use telltale_server::areas::repositories::answers::answer;
use telltale_server::areas::repositories::index::{Index, IndexBuilder, SourceFile};
use telltale_server::areas::repositories::source::outline;

fuzz_target!(|input: &[u8]| {
    // What is not an index, or not any more, is an error.
    drop(Index::open(input.to_vec()));
    let Ok(input) = std::str::from_utf8(input) else { return };
    let (question, files) = input.split_once('\n').unwrap_or((input, ""));
    let mut builder = IndexBuilder::new();
    let mut added = Vec::new();
    for (number, file) in files.split("\n%%\n").enumerate() {
        let (path, text) = file.split_once('\n').unwrap_or(("a.rs", file));
        let blob = ObjectId::parse(&format!("{number:040x}")).expect("40 digits");
        let (path, text) = (path.to_owned(), text.to_owned());
        let outline = outline(&path, &text);
        let file = SourceFile { path: path.clone(), blob, text: text.clone(), outline };
        if builder.add(file).is_ok() {
            added.push((path, text));
        }
    }
    let built = builder.finish().expect("files within the limits");
    let index = Index::open(built.bytes).expect("what was built is an index");
    for (path, text) in &added {
        let file = index.find(path).expect("each file is found");
        assert_eq!(index.text(file).as_deref(), Ok(text.as_str()), "{path}");
        assert_eq!(index.outline(file), Ok(outline(path, text)), "{path}");
    }
    let answer = answer(&index, question, &[]).expect("an undamaged index");
    for reference in &answer.references {
        let file = index.find(&reference.path).expect("a reference is to a file");
        let lines = index.snippet(file, reference.lines).expect("an undamaged index");
        assert!(lines.is_some(), "{reference:?} is to lines of the file");
    }
});
