//! Writes the points of a generator in several formats at once. A file gets its name when it is
//! complete.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use super::format::Format;
use super::point::{Kind, Numbers, Point, Series, Source, iso};
use super::remote_write::RemoteWrite;
use crate::outcome::Outcome;

/// The measurement of lines with several fields. Peers store each field as a metric of its own,
/// under different names.
pub(crate) const MEASUREMENT: &str = "cpu";
const BUFFER_BYTES: usize = 1 << 20;

/// A file that gets its name when it is complete.
pub(crate) struct Draft {
    file: BufWriter<File>,
    draft: PathBuf,
    path: PathBuf,
}

impl Draft {
    pub(crate) fn new(folder: &Path, name: &str) -> Outcome<Self> {
        let path = folder.join(name);
        let draft = folder.join(format!("{name}.part"));
        let file = BufWriter::with_capacity(BUFFER_BYTES, File::create(&draft)?);
        Ok(Self { file, draft, path })
    }

    pub(crate) fn put(&mut self, bytes: &[u8]) -> Outcome<()> {
        Ok(self.file.write_all(bytes)?)
    }

    pub(crate) fn finish(mut self) -> Outcome<()> {
        self.file.flush()?;
        Ok(std::fs::rename(self.draft, self.path)?)
    }
}

/// The writer of one format.
trait Writer {
    fn write(&mut self, points: &[Point]) -> Outcome<()>;

    fn finish(self: Box<Self>) -> Outcome<()>;
}

/// Writes all points of `source` to `folder` in these formats. Returns the number of points.
pub(crate) fn write_all(
    source: &mut dyn Source,
    folder: &Path,
    formats: &[Format],
) -> Outcome<u64> {
    let mut writers: Vec<Box<dyn Writer>> = Vec::new();
    for format in formats {
        writers.push(match format {
            Format::Lines => Box::new(Lines::new(source, folder, *format, 1)?),
            Format::Wide => {
                Box::new(Lines::new(source, folder, *format, source.fields_per_line())?)
            }
            Format::RemoteWrite(per) => {
                let file = Draft::new(folder, &format.file())?;
                Box::new(RemoteWrite::new(file, source.series(), *per))
            }
            Format::Json => Box::new(Json::new(source, folder)?),
            Format::Columns => Box::new(Columns::new(source, folder)?),
        });
    }
    let mut points = Vec::new();
    let mut count = 0;
    loop {
        points.clear();
        source.next_into(&mut points);
        if points.is_empty() {
            break;
        }
        count += points.len() as u64;
        for writer in &mut writers {
            writer.write(&points)?;
        }
    }
    for writer in writers {
        writer.finish()?;
    }
    Ok(count)
}

impl Writer for RemoteWrite {
    fn write(&mut self, points: &[Point]) -> Outcome<()> {
        points.iter().try_for_each(|point| self.add(point))
    }

    fn finish(self: Box<Self>) -> Outcome<()> {
        RemoteWrite::finish(*self)
    }
}

/// Influx lines with one field, or with several that share tags and timestamp.
struct Lines {
    file: Draft,
    /// The text before the value of each series at the start of a line.
    heads: Vec<String>,
    /// The text before the value of each series within a line.
    fields: Vec<String>,
    fields_per_line: usize,
    numbers: Numbers,
    line: Vec<u8>,
}

impl Lines {
    fn new(
        source: &dyn Source,
        folder: &Path,
        format: Format,
        fields_per_line: usize,
    ) -> Outcome<Self> {
        let tags = |series: &Series| -> String {
            series.tags.iter().map(|(key, value)| format!(",{key}={value}")).collect()
        };
        let head = |series: &Series| match fields_per_line {
            1 => format!("{}{} value=", series.metric, tags(series)),
            _ => format!("{MEASUREMENT}{} {}=", tags(series), series.metric),
        };
        Ok(Self {
            file: Draft::new(folder, &format.file())?,
            heads: source.series().iter().map(head).collect(),
            fields: source.series().iter().map(|series| format!(",{}=", series.metric)).collect(),
            fields_per_line,
            numbers: source.numbers(),
            line: Vec::new(),
        })
    }
}

impl Writer for Lines {
    fn write(&mut self, points: &[Point]) -> Outcome<()> {
        for line in points.chunks(self.fields_per_line) {
            self.line.clear();
            for (place, point) in line.iter().enumerate() {
                let names = if place == 0 { &self.heads } else { &self.fields };
                let name = names.get(point.series).ok_or("a point without a series")?;
                self.line.extend_from_slice(name.as_bytes());
                put_number(&mut self.line, point.value, self.numbers)?;
                if self.numbers == Numbers::Integers {
                    self.line.push(b'i');
                }
            }
            let time_ms = line.first().map_or(0, |point| point.time_ms);
            writeln!(self.line, " {time_ms}000000")?;
            self.file.put(&self.line)?;
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> Outcome<()> {
        self.file.finish()
    }
}

/// Items of JSON batches, each followed by a comma.
struct Json {
    file: Draft,
    heads: Vec<String>,
    tails: Vec<String>,
    numbers: Numbers,
    line: Vec<u8>,
}

impl Json {
    fn new(source: &dyn Source, folder: &Path) -> Outcome<Self> {
        let kind = match source.kind() {
            Kind::Gauge => "gauge",
            Kind::Distribution => "distribution",
        };
        let head =
            |series: &Series| format!(r#"{{"name":"{}","type":"{kind}","value":"#, series.metric);
        let tail = |series: &Series| {
            let tags: Vec<String> =
                series.tags.iter().map(|(key, value)| format!(r#""{key}":"{value}""#)).collect();
            format!(r#"","tags":{{{}}}}},"#, tags.join(","))
        };
        Ok(Self {
            file: Draft::new(folder, &Format::Json.file())?,
            heads: source.series().iter().map(head).collect(),
            tails: source.series().iter().map(tail).collect(),
            numbers: source.numbers(),
            line: Vec::new(),
        })
    }
}

impl Writer for Json {
    fn write(&mut self, points: &[Point]) -> Outcome<()> {
        let (mut time_ms, mut time) = (i64::MIN, String::new());
        for point in points {
            if point.time_ms != time_ms {
                (time_ms, time) = (point.time_ms, iso(point.time_ms));
            }
            let (Some(head), Some(tail)) =
                (self.heads.get(point.series), self.tails.get(point.series))
            else {
                return Err("a point without a series".into());
            };
            self.line.clear();
            self.line.extend_from_slice(head.as_bytes());
            put_number(&mut self.line, point.value, self.numbers)?;
            self.line.extend_from_slice(br#","timestamp":""#);
            self.line.extend_from_slice(time.as_bytes());
            self.line.extend_from_slice(tail.as_bytes());
            self.line.push(b'\n');
            self.file.put(&self.line)?;
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> Outcome<()> {
        self.file.finish()
    }
}

/// Timestamps in milliseconds (`time.i64`), series numbers (`series.u32`), values (`value.f64`) and
/// the table of series in the order of their numbers (`series.tsv`).
struct Columns {
    times: Draft,
    series: Draft,
    values: Draft,
}

impl Columns {
    fn new(source: &dyn Source, folder: &Path) -> Outcome<Self> {
        let mut table = Draft::new(folder, "series.tsv")?;
        let keys = source.series().first().map(|s| s.tags.iter().map(|(k, _)| *k).collect());
        let keys: Vec<&str> = keys.unwrap_or_default();
        table.put(format!("metric\t{}\n", keys.join("\t")).as_bytes())?;
        for series in source.series() {
            let values: Vec<&str> = series.tags.iter().map(|(_, v)| v.as_str()).collect();
            table.put(format!("{}\t{}\n", series.metric, values.join("\t")).as_bytes())?;
        }
        table.finish()?;
        Ok(Self {
            times: Draft::new(folder, "time.i64")?,
            series: Draft::new(folder, "series.u32")?,
            values: Draft::new(folder, &Format::Columns.file())?,
        })
    }
}

impl Writer for Columns {
    fn write(&mut self, points: &[Point]) -> Outcome<()> {
        for point in points {
            self.times.put(&point.time_ms.to_le_bytes())?;
            self.series.put(&(point.series as u32).to_le_bytes())?;
            self.values.put(&point.value.to_le_bytes())?;
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> Outcome<()> {
        self.times.finish()?;
        self.series.finish()?;
        self.values.finish()
    }
}

fn put_number(line: &mut Vec<u8>, value: f64, numbers: Numbers) -> Outcome<()> {
    match numbers {
        Numbers::Integers => write!(line, "{}", value as i64)?,
        Numbers::Doubles => write!(line, "{value}")?,
    }
    Ok(())
}
