//! The shapes in which points are sent, and the names of the files that hold them.

use std::fmt;

/// A way to write points down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// Influx lines of one field.
    Lines,
    /// Influx lines that carry all fields of a host, as the Time Series Benchmark Suite sends them.
    Wide,
    /// Remote-write 1.0 bodies with so many series of one sample each, compressed, in two shards.
    RemoteWrite(u32),
    /// The items of Telltale's JSON batches, a line each.
    Json,
    /// Arrays of times, series and values, for the engines that live in a process.
    Columns,
}

impl Format {
    /// The file of this format in the folder of a set; of several columns, the last one written.
    pub(crate) fn file(self) -> String {
        match self {
            Self::Lines => "lines".to_owned(),
            Self::Wide => "wide".to_owned(),
            Self::RemoteWrite(per) => format!("remote-write.{per}"),
            Self::Json => "json".to_owned(),
            Self::Columns => "value.f64".to_owned(),
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Lines => "lines",
            Self::Wide => "wide lines",
            Self::RemoteWrite(_) => "remote write",
            Self::Json => "JSON",
            Self::Columns => "columns",
        })
    }
}
