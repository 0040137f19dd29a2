//! The formats in which points are sent, and the names of their files.

use std::fmt;

/// A format of points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// Influx lines with one field.
    Lines,
    /// Influx lines with all fields of a host, as the Time Series Benchmark Suite sends them.
    Wide,
    /// Remote-write 1.0 bodies with this many series of one sample each, compressed, in two shards.
    RemoteWrite(u32),
    /// Items of Telltale's JSON batches, one per line.
    Json,
    /// Arrays of timestamps, series and values, for embedded engines.
    Columns,
}

impl Format {
    /// Returns the file name of this format; of the columns, that of the last one written.
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
