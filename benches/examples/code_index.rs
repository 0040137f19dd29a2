//! Measures indexing and searching a directory: time, memory and size, with a million lines of it.
//!
//! `cargo run --release -p telltale-benches --example code_index -- <directory>`
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    missing_docs,
    reason = "a measurement that fails loudly and prints what it measured"
)]

use std::path::{Path, PathBuf};
use std::time::Instant;

use rayon::prelude::*;
use telltale_server::areas::repositories::ObjectId;
use telltale_server::areas::repositories::index::{Index, IndexBuilder, SourceFile};
use telltale_server::areas::repositories::source::outline;

const LINES_WANTED: usize = 1_000_000;
const EXTENSIONS: [&str; 17] = [
    "rs", "py", "js", "jsx", "ts", "tsx", "go", "rb", "java", "c", "h", "cc", "cpp", "hpp", "md",
    "toml", "sh",
];

fn main() {
    let directory = std::env::args().nth(1).expect("a directory");
    let files = read(Path::new(&directory));
    let lines: usize = files.iter().map(|(_, text)| text.lines().count()).sum();
    let bytes: usize = files.iter().map(|(_, text)| text.len()).sum();
    println!("{} files, {lines} lines, {:.1} MB", files.len(), mb(bytes));
    let base = peak_kb("VmRSS");

    let start = Instant::now();
    let files: Vec<SourceFile> = files
        .into_par_iter()
        .map(|(path, text)| SourceFile {
            outline: outline(&path, &text),
            blob: ObjectId::from_bytes(
                &xxhash_rust::xxh3::xxh3_128(text.as_bytes()).to_be_bytes().repeat(2),
            )
            .unwrap(),
            path,
            text,
        })
        .collect();
    println!("outlines        {:8.2} s", start.elapsed().as_secs_f64());
    let outlined = peak_kb("VmRSS");
    println!(
        "memory          {:8.0} MB texts, {:.0} MB with outlines",
        base as f64 / 1e3,
        outlined as f64 / 1e3
    );

    let start = Instant::now();
    let mut builder = IndexBuilder::new();
    for file in files {
        builder.add(file).unwrap();
    }
    println!("analysis        {:8.2} s", start.elapsed().as_secs_f64());
    let built = builder.finish().unwrap();
    println!("build           {:8.2} s", start.elapsed().as_secs_f64());
    println!("peak memory     {:8.0} MB of the process", peak_kb("VmHWM") as f64 / 1e3);
    println!(
        "size            {:8.1} MB, {:.3} of the text",
        mb(built.bytes.len()),
        built.bytes.len() as f64 / bytes as f64
    );
    for (section, name) in [
        "files",
        "blocks",
        "chunks",
        "terms",
        "postings",
        "names",
        "symbols",
        "references",
        "graph",
    ]
    .iter()
    .enumerate()
    {
        let at = 9 + section * 16;
        let length = u64::from_le_bytes(built.bytes[at..at + 8].try_into().unwrap());
        println!("  {name:14}{:8.2} MB", mb(length as usize));
    }
    println!("{:?}", built.counts);

    let start = Instant::now();
    let index = Index::open(built.bytes).unwrap();
    println!(
        "open            {:8.1} ms, {:.1} MB",
        start.elapsed().as_secs_f64() * 1e3,
        mb(index.memory_bytes() as usize)
    );
    measure(&index);
}

fn measure(index: &Index) {
    let mut docs = Vec::new();
    let mut names = Vec::new();
    for file in index.files().map(|file| file.id).step_by(7) {
        for symbol in index.outline(file).unwrap().symbols {
            names.push(symbol.name);
            docs.extend(symbol.doc.and_then(|doc| Some(doc.lines().next()?.to_owned())));
        }
    }
    let step = (docs.len() / 2_000).max(1);
    times(
        "question",
        docs.iter().step_by(step).map(|doc| {
            let start = Instant::now();
            let found = index.search(doc, 10).unwrap().hits.len();
            (start.elapsed().as_secs_f64(), found)
        }),
    );
    let step = (names.len() / 500).max(1);
    times(
        "symbols",
        names.iter().step_by(step).map(|name| {
            let start = Instant::now();
            let found = index.symbols(name, 20).unwrap().len();
            (start.elapsed().as_secs_f64(), found)
        }),
    );
    times(
        "references",
        names.iter().step_by(step).map(|name| {
            let start = Instant::now();
            let found = index.references(name, 50).unwrap().len();
            (start.elapsed().as_secs_f64(), found)
        }),
    );
    let files: Vec<_> = index.files().map(|file| file.id).collect();
    times(
        "text",
        files.iter().step_by((files.len() / 500).max(1)).map(|file| {
            let start = Instant::now();
            let bytes = index.text(*file).unwrap().len();
            (start.elapsed().as_secs_f64(), bytes)
        }),
    );
}

fn times(what: &str, measured: impl Iterator<Item = (f64, usize)>) {
    let mut all: Vec<f64> = Vec::new();
    let mut found = 0;
    for (time, count) in measured {
        all.push(time * 1e3);
        found += count;
    }
    all.sort_by(f64::total_cmp);
    let at = |share: f64| all[((all.len() - 1) as f64 * share) as usize];
    println!(
        "{what:12} p50 {:7.2} ms, p99 {:7.2} ms, max {:7.2} ms, {} times, {found} found",
        at(0.5),
        at(0.99),
        at(1.0),
        all.len()
    );
}

fn read(root: &Path) -> Vec<(String, String)> {
    let mut files = Vec::new();
    let mut lines = 0;
    let mut open = vec![root.to_owned()];
    while let Some(directory) = open.pop() {
        let mut entries: Vec<PathBuf> =
            std::fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap().path()).collect();
        entries.sort_by(|left, right| right.cmp(left));
        for path in entries {
            if lines > LINES_WANTED {
                return files;
            }
            if path.is_dir() {
                open.push(path);
            } else if path
                .extension()
                .is_some_and(|extension| EXTENSIONS.iter().any(|known| extension == *known))
                && std::fs::metadata(&path).is_ok_and(|meta| meta.len() < 1 << 20)
                && let Ok(text) = std::fs::read_to_string(&path)
            {
                lines += text.lines().count();
                let relative = path.strip_prefix(root).unwrap();
                files.push((relative.to_string_lossy().into_owned(), text));
            }
        }
    }
    files
}

fn peak_kb(key: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with(key)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

fn mb(bytes: usize) -> f64 {
    bytes as f64 / 1e6
}
