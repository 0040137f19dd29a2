//! Runs an import: file by file and chunk by chunk, each recorded, stored and marked as stored.

use std::fs;
use std::io;
use std::path::PathBuf;

use indicatif::{ProgressBar, ProgressStyle};
use telltale_engine::{Clock, Retention, TimestampMs};

use super::checkpoint::{Checkpoint, Chunk, StoreVia};
use super::input::Input;
use super::plan::{ImportOptions, ImportSource, Plan};
use super::report::Report;
use super::rows::{ChunkEnd, FilePosition, Reject, RowReader};
use super::sink::{ImportSink, PreparedChunk};
use crate::areas::metrics::Point;
use crate::cli::args::{ImportFormat, InDoubt};
use crate::cli::error::CliError;
use crate::cli::output::out;
use crate::cli::target::Target;
use crate::config::Config;
use crate::platform::plural::count;

/// Rows of one chunk: each chunk costs a sync of the checkpoint and, in the engine, one of the log.
const CHUNK_ROWS: usize = 10_000;

/// Imports the files given by the flags.
pub(in crate::cli) async fn run(config: &Config, format: &ImportFormat) -> Result<(), CliError> {
    let plan = Plan::new(format)?;
    let sink = ImportSink::new(Target::open_or_make(config).await?);
    let bytes = plan
        .sources
        .iter()
        .filter_map(|source| fs::metadata(&source.path).ok())
        .map(|m| m.len())
        .sum();
    let mut import = Import {
        data: config.server.data.clone(),
        clock: Clock::system(),
        options: plan.options,
        retention: config.retention(),
        sink,
        report: Report::default(),
        progress: progress(bytes),
        bytes_before: 0,
    };
    let outcome = import.all(&plan.sources).await;
    import.progress.finish_and_clear();
    import.sink.close().await?;
    out(&import.report.render())?;
    outcome?;
    let (accepted, rejected) = import.report.sums();
    match (import.report.failed_files(), rejected) {
        (0, 1..) if accepted == 0 => {
            let rows = count(rejected, "row");
            Err(CliError::Found(format!("nothing was imported; {rows} rejected")))
        }
        (0, 1..) if plan.options.strict => Err(CliError::Found(format!(
            "{} rejected, which --strict does not allow",
            count(rejected, "row")
        ))),
        (0, _) => Ok(()),
        (failed, _) => Err(CliError::Found(format!(
            "{failed} of {} could not be read",
            count(plan.sources.len(), "file")
        ))),
    }
}

/// An import in progress.
struct Import {
    data: PathBuf,
    clock: Clock,
    options: ImportOptions,
    retention: Retention,
    sink: ImportSink,
    report: Report,
    progress: ProgressBar,
    /// Bytes of the files before the current one.
    bytes_before: u64,
}

/// Why a file was not imported to its end.
enum ImportFailure {
    /// The file cannot be read; the import continues with the next one.
    File(io::Error),
    /// Nothing more can be stored.
    Fatal(CliError),
}

impl From<io::Error> for ImportFailure {
    fn from(error: io::Error) -> Self {
        Self::File(error)
    }
}

impl From<CliError> for ImportFailure {
    fn from(error: CliError) -> Self {
        Self::Fatal(error)
    }
}

impl Import {
    async fn all(&mut self, sources: &[ImportSource]) -> Result<(), CliError> {
        for source in sources {
            match self.file(source).await {
                Ok(()) => {}
                Err(ImportFailure::File(error)) => {
                    self.report.fail_file(&source.path, &error.to_string())
                }
                Err(ImportFailure::Fatal(error)) => return Err(error),
            }
            self.bytes_before += fs::metadata(&source.path).map_or(0, |there| there.len());
            self.progress.set_position(self.bytes_before);
        }
        Ok(())
    }

    async fn file(&mut self, source: &ImportSource) -> Result<(), ImportFailure> {
        let mut checkpoint =
            Checkpoint::open(&self.data, source, self.clock.now(), self.options.restart)?;
        let (fresh, before) = (checkpoint.is_fresh(), self.report.sums());
        let mut has_news = false;
        if let Some(chunk) = checkpoint.in_doubt() {
            self.settle(source, &mut checkpoint, chunk).await?;
            has_news = true;
        }
        let mut rows = source.open(checkpoint.done())?;
        loop {
            let (start, now) = (rows.position(), self.clock.now());
            let filled = self.fill(source, rows.as_mut(), ChunkEnd::Rows(CHUNK_ROWS), now)?;
            let end = rows.position();
            if end == start {
                break;
            }
            let chunk = Chunk { start, end, now_ms: now.0, way: self.sink.way() };
            self.store(source, &mut checkpoint, chunk, filled).await?;
            has_news = true;
        }
        self.report.finish_file(has_news);
        let (accepted, rejected) = self.report.sums();
        if fresh && accepted == before.0 && rejected > before.1 {
            // A file that was misread as a whole has no progress: a repeated import starts from the
            // beginning.
            checkpoint.forget().map_err(unsaved)?;
        }
        Ok(())
    }

    /// Resolves a chunk that was being stored when an earlier import was interrupted: stores it
    /// again under its key if that is safe, otherwise follows `--in-doubt`.
    async fn settle(
        &mut self,
        source: &ImportSource,
        checkpoint: &mut Checkpoint,
        chunk: Chunk,
    ) -> Result<(), ImportFailure> {
        let age_ms = self.clock.now().0.saturating_sub(chunk.now_ms);
        let remembered = chunk.way == self.sink.way() && self.sink.remembers(age_ms);
        if !remembered && !source.is_repeatable() {
            match self.options.in_doubt {
                Some(InDoubt::Lost) => {}
                Some(InDoubt::Stored) => return checkpoint.complete(chunk.end).map_err(unsaved),
                None => return Err(in_doubt(source, &chunk).into()),
            }
        }
        let mut rows = source.open(Some(chunk.start))?;
        let now = TimestampMs(chunk.now_ms);
        let filled = self.fill(source, rows.as_mut(), ChunkEnd::Byte(chunk.end.byte), now)?;
        let chunk = Chunk { end: rows.position(), way: self.sink.way(), ..chunk };
        self.store(source, checkpoint, chunk, filled).await
    }

    /// Reads rows into a chunk, and counts rejected ones.
    fn fill(
        &mut self,
        source: &ImportSource,
        rows: &mut dyn RowReader,
        until: ChunkEnd,
        now: TimestampMs,
    ) -> io::Result<PreparedChunk> {
        let mut filling = self.sink.begin();
        let report = &mut self.report;
        let mut take = |line: u64, row: Result<&Point<'_>, Reject>| {
            let pushed = row.and_then(|point| {
                filling.push(line, point)?;
                if point.time.0 < kept_since(&self.retention, point.name, now) {
                    report.count_too_old();
                }
                Ok(())
            });
            if let Err(reject) = pushed {
                report.reject(&source.path, line, &reject);
            }
        };
        rows.read(until, now, &mut take)?;
        Ok(filling.finish())
    }

    async fn store(
        &mut self,
        source: &ImportSource,
        checkpoint: &mut Checkpoint,
        chunk: Chunk,
        filled: PreparedChunk,
    ) -> Result<(), ImportFailure> {
        checkpoint.announce(chunk).map_err(unsaved)?;
        let stored = self.sink.store(filled, &checkpoint.key(&chunk), self.clock.now()).await?;
        checkpoint.complete(chunk.end).map_err(unsaved)?;
        self.report.accept(stored.accepted);
        self.report.reject_unlisted(stored.unlisted);
        for (line, reject) in &stored.rejected {
            self.report.reject(&source.path, *line, reject);
        }
        if source.input == Input::Plain {
            self.progress.set_position(self.bytes_before + chunk.end.byte);
        }
        Ok(())
    }
}

/// Returns the time before which all tiers of the metric have expired, in milliseconds since the
/// epoch.
fn kept_since(retention: &Retention, metric: &str, now: TimestampMs) -> i64 {
    let tiers = retention.of(metric);
    let longest =
        tiers.raw.max(tiers.minute).max(tiers.five_minutes).max(tiers.hour).max(tiers.day);
    now.0.saturating_sub(i64::try_from(longest.as_millis()).unwrap_or(i64::MAX))
}

fn unsaved(error: io::Error) -> ImportFailure {
    ImportFailure::Fatal(CliError::failed("cannot save the progress of the import", error))
}

fn in_doubt(source: &ImportSource, chunk: &Chunk) -> CliError {
    let by = match chunk.way {
        StoreVia::Server => "through a running server",
        StoreVia::Engine => "with the server stopped",
    };
    let FilePosition { line: first, .. } = chunk.start;
    let last = chunk.end.line.saturating_sub(1);
    CliError::Usage(format!(
        "the import of {} was interrupted while lines {first} to {last} were being stored {by}, and it is unknown whether they \
         were stored. Within a day of the interruption, importing {by} again resolves this; otherwise add --in-doubt stored or \
         --in-doubt lost",
        source.path.display()
    ))
}

/// Returns a progress bar, which is visible only on a terminal.
fn progress(bytes: u64) -> ProgressBar {
    let bar = ProgressBar::new(bytes);
    let template = "{wide_bar} {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left";
    match ProgressStyle::with_template(template) {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}
