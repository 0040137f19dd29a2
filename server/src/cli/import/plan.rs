//! The plan of an import: the files in order, the metric of each, and how their rows are read.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use telltale_engine::MetricType;

use super::csv::{Column, CsvForm, CsvReader};
use super::input::{Input, unpacked_path};
use super::ndjson::NdjsonReader;
use super::rows::{FilePosition, RowReader};
use crate::cli::args::{CsvArgs, ImportArgs, ImportFormat, NameFrom};
use crate::cli::error::CliError;

/// Depth of directories that are searched; deeper ones are assumed to be a cycle of links.
const DEPTH_MAX: usize = 32;

/// Everything to be imported.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) sources: Vec<ImportSource>,
    pub(super) options: ImportOptions,
}

/// The options of both formats.
#[derive(Clone, Copy, Debug)]
pub(super) struct ImportOptions {
    pub(super) strict: bool,
    pub(super) restart: bool,
    pub(super) in_doubt: Option<crate::cli::args::InDoubt>,
}

/// One file, and how it is read.
#[derive(Debug)]
pub(super) struct ImportSource {
    pub(super) path: PathBuf,
    pub(super) input: Input,
    pub(super) form: Form,
}

/// The format of a file. Its `Debug` output is part of the identity of checkpoints.
#[derive(Clone, Debug)]
pub(super) enum Form {
    /// CSV, imported into this metric.
    Csv(String, CsvForm),
    /// Newline-delimited JSON.
    Ndjson,
}

impl Plan {
    /// Finds the files and validates the flags.
    pub(super) fn new(format: &ImportFormat) -> Result<Self, CliError> {
        let (args, sources) = match format {
            ImportFormat::Csv(args) => (&args.import, csv_sources(args)?),
            ImportFormat::Ndjson(args) => {
                let files = find(&args.paths, &["ndjson", "jsonl"])?;
                let source = |file: FoundFile| ImportSource::new(file.path, Form::Ndjson);
                (args, files.into_iter().map(source).collect())
            }
        };
        let ImportArgs { strict, restart, in_doubt, .. } = *args;
        Ok(Self { sources, options: ImportOptions { strict, restart, in_doubt } })
    }
}

impl ImportSource {
    /// Creates a source of this format at this path.
    pub(super) fn new(path: PathBuf, form: Form) -> Self {
        Self { input: Input::of(&path), path, form }
    }

    /// Opens the source at a position between two rows, or at its first row.
    pub(super) fn open(&self, from: Option<FilePosition>) -> io::Result<Box<dyn RowReader>> {
        let open = |byte| self.input.open(&self.path, byte);
        Ok(match &self.form {
            Form::Csv(metric, form) => Box::new(CsvReader::new(open, metric, form, from)?),
            Form::Ndjson => {
                let opened = open(from.map_or(0, |position| position.byte))?;
                let position = from.unwrap_or(FilePosition { byte: opened.at, line: 1 });
                Box::new(NdjsonReader::new(opened.bytes, position))
            }
        })
    }

    /// Returns whether storing a row twice has the same effect as storing it once.
    pub(super) fn is_repeatable(&self) -> bool {
        match &self.form {
            Form::Csv(_, form) => matches!(form.kind, MetricType::Gauge | MetricType::Set),
            Form::Ndjson => false,
        }
    }

    /// Returns how rows are interpreted, as a string: importing a file with another interpretation
    /// is another import.
    pub(super) fn meaning(&self) -> String {
        format!("{:?}", self.form)
    }
}

/// A file, and the directory argument in which it was found.
#[derive(Debug, PartialEq)]
struct FoundFile {
    path: PathBuf,
    root: Option<PathBuf>,
}

fn csv_sources(args: &CsvArgs) -> Result<Vec<ImportSource>, CliError> {
    let form = csv_form(args)?;
    let mut names: BTreeMap<String, PathBuf> = BTreeMap::new();
    let mut sources = Vec::new();
    for file in find(&args.import.paths, &["csv", "tsv"])? {
        let metric = match &args.metric {
            Some(name) => name.clone(),
            None => {
                let name = format!("{}{}", args.prefix, name_of(&file, args.name_from)?);
                if let Some(other) = names.insert(name.clone(), file.path.clone()) {
                    let (one, two) = (other.display(), file.path.display());
                    return Err(CliError::Usage(format!(
                        "{one} and {two} would both be imported as the metric {name}; use --name-from path, or --metric {name} to combine them"
                    )));
                }
                name
            }
        };
        sources.push(ImportSource::new(file.path, Form::Csv(metric, form.clone())));
    }
    Ok(sources)
}

fn csv_form(args: &CsvArgs) -> Result<CsvForm, CliError> {
    let column = |text: &str| column(text, args.no_header);
    let kind = MetricType::parse(&args.kind).ok_or_else(|| {
        CliError::Usage("--type must be one of gauge, counter, distribution, set".to_owned())
    })?;
    let mut tag_columns = Vec::new();
    for text in &args.tag_columns {
        let (key, name) = text.split_once('=').unwrap_or((text, text));
        tag_columns.push((key.to_owned(), column(name)?));
    }
    let mut tags = Vec::new();
    for text in &args.tags {
        let pair = text.split_once('=');
        let (key, value) =
            pair.ok_or_else(|| CliError::Usage(format!("--tag {text:?} is not KEY=VALUE")))?;
        tags.push((key.to_owned(), value.to_owned()));
    }
    let mut keys: Vec<&str> = tag_columns.iter().map(|(key, _)| key.as_str()).collect();
    keys.extend(tags.iter().map(|(key, _)| key.as_str()));
    keys.sort_unstable();
    if let Some([key, _]) = keys.array_windows().find(|[a, b]| a == b) {
        return Err(CliError::Usage(format!("duplicate tag {key}")));
    }
    Ok(CsvForm {
        kind,
        time: column(default_column(&args.time_column, "timestamp", "1", args.no_header))?,
        time_format: args.time_format,
        value: column(default_column(&args.value_column, "value", "2", args.no_header))?,
        tag_columns,
        tags,
        delimiter: delimiter(&args.delimiter)?,
        header: !args.no_header,
    })
}

/// Returns the given column, or without a header the number of the default column if none is given.
fn default_column<'a>(given: &'a str, named: &str, numbered: &'a str, no_header: bool) -> &'a str {
    if no_header && given == named { numbered } else { given }
}

fn column(text: &str, no_header: bool) -> Result<Column, CliError> {
    if !no_header {
        return Ok(Column::Named(text.to_owned()));
    }
    match text.parse::<usize>() {
        Ok(number) if number > 0 => Ok(Column::At(number - 1)),
        _ => Err(CliError::Usage(format!(
            "with --no-header a column must be an integer of at least 1, not {text:?}"
        ))),
    }
}

fn delimiter(text: &str) -> Result<u8, CliError> {
    match text.as_bytes() {
        b"tab" => Ok(b'\t'),
        [byte] if byte.is_ascii() && !matches!(byte, b'"' | b'\r' | b'\n') => Ok(*byte),
        _ => Err(CliError::Usage(format!(
            "--delimiter must be one ASCII character or tab, not {text:?}"
        ))),
    }
}

/// Returns the files that the paths refer to, sorted and without duplicates.
fn find(paths: &[PathBuf], endings: &[&str]) -> Result<Vec<FoundFile>, CliError> {
    let mut found = Vec::new();
    for path in paths {
        if Input::of(path) == Input::Stdin {
            found.push(FoundFile { path: path.clone(), root: None });
            continue;
        }
        let failed = |error| CliError::failed(format!("cannot read {}", path.display()), error);
        if fs::metadata(path).map_err(failed)?.is_dir() {
            search(path, path, endings, DEPTH_MAX, &mut found).map_err(failed)?;
        } else {
            found.push(FoundFile { path: path.clone(), root: None });
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found.dedup_by(|a, b| a.path == b.path);
    if found.is_empty() {
        let what = endings.join(" or .");
        return Err(CliError::Usage(format!("no .{what} file found in these directories")));
    }
    Ok(found)
}

fn search(
    root: &Path,
    dir: &Path,
    endings: &[&str],
    depth: usize,
    found: &mut Vec<FoundFile>,
) -> io::Result<()> {
    let Some(depth) = depth.checked_sub(1) else { return Ok(()) };
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        let plain = unpacked_path(&path);
        let ending = plain.extension().and_then(|ending| ending.to_str()).unwrap_or("");
        if fs::metadata(&path)?.is_dir() {
            search(root, &path, endings, depth, found)?;
        } else if endings.iter().any(|wanted| wanted.eq_ignore_ascii_case(ending)) {
            found.push(FoundFile { path, root: Some(root.to_owned()) });
        }
    }
    Ok(())
}

/// Returns the metric name derived from a file. For a file found in a directory argument, the path
/// includes that directory; for a file given directly, it is the path as given.
fn name_of(file: &FoundFile, from: NameFrom) -> Result<String, CliError> {
    let unnamed = || {
        CliError::Usage(format!(
            "no metric name can be derived from {}; use --metric",
            file.path.display()
        ))
    };
    if Input::of(&file.path) == Input::Stdin {
        return Err(CliError::Usage(
            "no metric name can be derived from standard input; use --metric".to_owned(),
        ));
    }
    let plain = unpacked_path(&file.path);
    let stem = plain.file_stem().and_then(|stem| stem.to_str()).ok_or_else(unnamed)?;
    if from == NameFrom::Stem {
        return Ok(stem.to_owned());
    }
    let above = file.root.as_deref().and_then(Path::parent);
    let below = above.map_or(Ok(plain.as_path()), |above| plain.strip_prefix(above));
    let path = below.unwrap_or(&plain).with_extension("");
    let parts = path.components().filter_map(|component| match component {
        Component::Normal(part) => Some(part.to_str().ok_or_else(unnamed)),
        _ => None,
    });
    Ok(parts.collect::<Result<Vec<_>, _>>()?.join("."))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::args::{Cli, Command};

    fn format_of(line: &str) -> ImportFormat {
        match Cli::parse_from(line.split(' ')).command {
            Command::Import { format } => format,
            other => panic!("{other:?} is no import"),
        }
    }

    fn csv_args(line: &str) -> CsvArgs {
        match format_of(line) {
            ImportFormat::Csv(args) => args,
            ImportFormat::Ndjson(_) => panic!("{line} is CSV"),
        }
    }

    #[test]
    fn metrics_are_named_after_files() {
        for (path, root, from, expected) in [
            ("/x/nab/realTraffic/speed_6005.csv", None, NameFrom::Stem, "speed_6005"),
            (
                "/x/nab/realTraffic/speed_6005.csv",
                Some("/x/nab"),
                NameFrom::Path,
                "nab.realTraffic.speed_6005",
            ),
            ("../nab/a.b/c.csv", Some("../nab"), NameFrom::Path, "nab.a.b.c"),
            ("nab/c.csv", Some("nab"), NameFrom::Path, "nab.c"),
            ("../nab/c.csv", None, NameFrom::Path, "nab.c"),
            ("c.csv", None, NameFrom::Path, "c"),
            ("nab/c.csv.gz", Some("nab"), NameFrom::Path, "nab.c"),
            ("nab/c.csv.gz", None, NameFrom::Stem, "c"),
        ] {
            let file = FoundFile { path: path.into(), root: root.map(PathBuf::from) };
            assert_eq!(name_of(&file, from).unwrap(), expected, "{path}");
        }
    }

    #[test]
    fn an_interrupted_import_is_found_again_by_the_way_its_rows_are_read() {
        let meaning = |form| ImportSource::new("x.csv".into(), form).meaning();
        let form =
            csv_form(&csv_args("telltale import csv x --tag-column host=server --tag env=a"));
        assert_eq!(
            meaning(Form::Csv("cpu".to_owned(), form.unwrap())),
            "Csv(\"cpu\", CsvForm { kind: Gauge, time: Named(\"timestamp\"), time_format: Iso, \
             value: Named(\"value\"), tag_columns: [(\"host\", Named(\"server\"))], \
             tags: [(\"env\", \"a\")], delimiter: 44, header: true })"
        );
        assert_eq!(meaning(Form::Ndjson), "Ndjson");
    }

    #[test]
    fn flags_select_the_columns_of_a_sample() {
        let form = csv_form(&csv_args(
            "telltale import csv x --tag-column host=server --tag-column dc --tag env=a=b --delimiter tab --type counter",
        ));
        let form = form.unwrap();
        let named = |name: &str| Column::Named(name.to_owned());
        assert_eq!(
            form.tag_columns,
            [("host".to_owned(), named("server")), ("dc".to_owned(), named("dc"))]
        );
        assert_eq!(form.tags, [("env".to_owned(), "a=b".to_owned())]);
        assert_eq!(
            (form.delimiter, form.kind, form.time, form.value),
            (b'\t', MetricType::Counter, named("timestamp"), named("value"))
        );
        let form =
            csv_form(&csv_args("telltale import csv x --no-header --value-column 4")).unwrap();
        assert_eq!((form.time, form.value, form.header), (Column::At(0), Column::At(3), false));
    }

    #[test]
    fn invalid_flags_are_refused() {
        for (flags, expected) in [
            ("--type gage", "--type must be one of gauge, counter, distribution, set"),
            ("--delimiter ab", "--delimiter must be one ASCII character or tab, not \"ab\""),
            ("--tag x", "--tag \"x\" is not KEY=VALUE"),
            ("--tag x=1 --tag-column x=col", "duplicate tag x"),
            (
                "--no-header --time-column when",
                "with --no-header a column must be an integer of at least 1, not \"when\"",
            ),
        ] {
            let error = csv_form(&csv_args(&format!("telltale import csv x {flags}"))).unwrap_err();
            assert_eq!(error.to_string(), expected, "{flags}");
        }
    }

    #[test]
    fn directories_are_searched_and_duplicate_metric_names_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["b/x.csv", "a/x.csv", "a/y.CSV", "a/z.csv.gz", "a/LICENSE.txt", "a/b.gz"] {
            let path = dir.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "timestamp,value\n").unwrap();
        }
        let line = |flags: &str| format!("telltale import csv {} {flags}", dir.path().display());
        let error = Plan::new(&format_of(line("").trim())).unwrap_err().to_string();
        assert!(
            error.ends_with(
                "would both be imported as the metric x; use --name-from path, or --metric x to combine them"
            ),
            "{error}"
        );
        let plan = Plan::new(&format_of(&line("--name-from path --prefix p."))).unwrap();
        let base = dir.path().file_name().unwrap().to_str().unwrap();
        let names: Vec<String> = plan
            .sources
            .iter()
            .map(|source| match &source.form {
                Form::Csv(name, _) => name.clone(),
                Form::Ndjson => String::new(),
            })
            .collect();
        assert_eq!(names, ["a.x", "a.y", "a.z", "b.x"].map(|name| format!("p.{base}.{name}")));
    }
}
