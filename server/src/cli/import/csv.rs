//! Comma-separated values: one sample per row, with the columns given by flags.

use std::io::{self, Read};

use csv::{ByteRecord, Reader, ReaderBuilder, Terminator};
use telltale_engine::{MetricName, MetricType, Tags, TimestampMs};

use super::input::Opened;
use super::rows::{ChunkEnd, FilePosition, Reject, RowCallback, RowReader};
use crate::areas::metrics::{InputError, Measured, MetricsError, Point};
use crate::cli::args::TimeFormat;
use crate::limits;
use crate::platform::plural::count;
use crate::platform::time::{self, InvalidTime, Moment};

/// Bytes of one row: far more than any row of samples has, few enough to keep in memory.
const ROW_BYTES_MAX: usize = 1 << 20;

/// How rows are converted to samples. Its `Debug` output is part of the identity of checkpoints.
#[derive(Clone, Debug)]
pub(super) struct CsvForm {
    pub(super) kind: MetricType,
    pub(super) time: Column,
    pub(super) time_format: TimeFormat,
    pub(super) value: Column,
    /// Tag keys with the columns of their values.
    pub(super) tag_columns: Vec<(String, Column)>,
    /// Tags of every row.
    pub(super) tags: Vec<(String, String)>,
    pub(super) delimiter: u8,
    pub(super) header: bool,
}

/// A column as given by the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Column {
    /// By its header.
    Named(String),
    /// By its index, from 0.
    At(usize),
}

/// A CSV file whose columns are resolved.
#[derive(Debug)]
pub(super) struct CsvReader<R> {
    rows: Reader<RowLimitedInput<R>>,
    /// The position at which `rows` started.
    base: FilePosition,
    columns: Columns,
    /// The number of cells of the first row, once it is known; all rows must have as many.
    cells: Option<usize>,
    metric: String,
    form: CsvForm,
    record: ByteRecord,
}

/// An input that limits the bytes of a row and detects the end of the file.
#[derive(Debug)]
struct RowLimitedInput<R> {
    input: R,
    ended: bool,
    /// The last byte that was read.
    last: Option<u8>,
    /// Bytes that may still be read for the current row, beyond those in the buffer of the reader.
    left: usize,
}

impl<R: Read> Read for RowLimitedInput<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.left == 0 {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "row too long"));
        }
        let limit = buffer.len().min(self.left);
        let Some(buffer) = buffer.get_mut(..limit) else { return Ok(0) };
        let bytes = self.input.read(buffer)?;
        self.ended = bytes == 0;
        self.left -= bytes;
        self.last = buffer.get(..bytes).and_then(|read| read.last().copied()).or(self.last);
        Ok(bytes)
    }
}

/// The columns of the parts of a sample.
#[derive(Clone, Debug, Default)]
struct Columns {
    time: usize,
    value: usize,
    tags: Vec<(String, usize)>,
}

impl<R: Read> CsvReader<R> {
    /// Starts reading at a position between two rows, or after the header. `open` opens the input
    /// at a byte offset; it is called a second time only if `from` is given.
    pub(super) fn new(
        mut open: impl FnMut(u64) -> io::Result<Opened<R>>,
        metric: &str,
        form: &CsvForm,
        from: Option<FilePosition>,
    ) -> io::Result<Self> {
        let beginning = open(0)?;
        let mut this = Self {
            rows: reader(form, beginning.bytes),
            base: FilePosition { byte: beginning.at, line: 1 },
            columns: Columns::default(),
            cells: None,
            metric: metric.to_owned(),
            form: form.clone(),
            record: ByteRecord::new(),
        };
        // Without a header, columns are given by number, and the first row is data.
        if form.header || from.is_some() {
            this.next_record()?;
            this.cells = Some(this.record.len());
        }
        this.columns = Columns::find(form, &this.record)?;
        if let Some(position) = from {
            this.rows = reader(form, open(position.byte)?.bytes);
            this.base = position;
        }
        Ok(this)
    }
}

/// Accepts rows of any length, so that a row with a wrong length is a rejected row rather than the
/// end of the file. Only a line feed ends a row: otherwise the position after a row could be inside
/// its line ending. A carriage return before it is trimmed from the cell.
fn reader<R: Read>(form: &CsvForm, input: R) -> Reader<RowLimitedInput<R>> {
    ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(form.delimiter)
        .terminator(Terminator::Any(b'\n'))
        .buffer_capacity(256 << 10)
        .from_reader(RowLimitedInput { input, ended: false, last: None, left: ROW_BYTES_MAX })
}

fn position_of<R: Read>(rows: &Reader<R>, base: FilePosition) -> FilePosition {
    let position = rows.position();
    FilePosition { byte: base.byte + position.byte(), line: base.line + position.line() - 1 }
}

impl Columns {
    fn find(form: &CsvForm, header: &ByteRecord) -> io::Result<Self> {
        let find = |column: &Column| match column {
            Column::At(index) => Ok(*index),
            Column::Named(name) => header
                .iter()
                .position(|cell| cell.trim_ascii() == name.as_bytes())
                .ok_or_else(|| no_column(name, header)),
        };
        let tags = form.tag_columns.iter().map(|(key, column)| Ok((key.clone(), find(column)?)));
        Ok(Self {
            time: find(&form.time)?,
            value: find(&form.value)?,
            tags: tags.collect::<io::Result<_>>()?,
        })
    }
}

fn no_column(name: &str, header: &ByteRecord) -> io::Error {
    let columns: Vec<String> =
        header.iter().map(|cell| String::from_utf8_lossy(cell).trim().to_owned()).collect();
    let message = format!("there is no column {name:?}; the columns are {}", columns.join(", "));
    io::Error::new(io::ErrorKind::InvalidData, message)
}

impl<R: Read> RowReader for CsvReader<R> {
    fn position(&self) -> FilePosition {
        position_of(&self.rows, self.base)
    }

    fn read(
        &mut self,
        until: ChunkEnd,
        now: TimestampMs,
        take: &mut RowCallback<'_>,
    ) -> io::Result<()> {
        let mut rows = 0;
        while !until.reached(rows, self.position()) {
            if !self.next_record()? {
                return Ok(());
            }
            if self.record.len() == 1 && self.record.as_slice().trim_ascii().is_empty() {
                continue;
            }
            let line = self.line();
            let cells = *self.cells.get_or_insert(self.record.len());
            if self.is_unclosed() {
                take(line, Err(unclosed()));
            } else if self.record.len() == cells {
                self.point(now, |row| take(line, row.map_err(Reject::from)));
            } else {
                take(line, Err(ragged(self.record.len(), cells)));
            }
            rows += 1;
        }
        Ok(())
    }
}

impl<R: Read> CsvReader<R> {
    /// Returns the line on which the current row starts. It is computed backwards from the end of
    /// the row, because the start that the reader reports is before the empty lines that it
    /// skipped.
    fn line(&self) -> u64 {
        let breaks = self.record.as_slice().iter().filter(|byte| **byte == b'\n').count() as u64;
        // A row that ends at the end of the file has no line feed of its own.
        let line_feed = u64::from(!self.rows.get_ref().ended);
        position_of(&self.rows, self.base).line - breaks - line_feed
    }

    /// Reads the next row. Fails if it has more than [`ROW_BYTES_MAX`] bytes: the following rows
    /// cannot be separated from it.
    fn next_record(&mut self) -> io::Result<bool> {
        let line = self.position().line;
        self.rows.get_mut().left = ROW_BYTES_MAX;
        let read = self.rows.read_byte_record(&mut self.record);
        if self.rows.get_ref().left == 0 && read.is_err() {
            let message = format!(
                "the row that starts on line {line} has more than {ROW_BYTES_MAX} bytes; it may contain an unclosed quote"
            );
            return Err(io::Error::new(io::ErrorKind::InvalidData, message));
        }
        Ok(read?)
    }

    /// Returns whether the file ended inside quotes. A line feed ends a row unless it is inside
    /// quotes.
    fn is_unclosed(&self) -> bool {
        let input = self.rows.get_ref();
        let has_breaks = self.record.as_slice().contains(&b'\n');
        input.ended && has_breaks && input.last != Some(b'"')
    }

    /// Calls `take` with the sample of the current row.
    fn point(&self, now: TimestampMs, take: impl FnOnce(Result<&Point<'_>, MetricsError>)) {
        let tags = self.tags();
        let read = tags.as_ref().map_err(Clone::clone).and_then(|tags| {
            let point = Point {
                name: &self.metric,
                kind: self.form.kind,
                value: self.value()?,
                time: self.time(now)?,
                tags,
            };
            MetricName::check_given(point.name)
                .map_err(|error| InputError::Refused(error.into()))?;
            Tags::new(point.tags).map_err(|error| InputError::Refused(error.into()))?;
            Ok(point)
        });
        match &read {
            Ok(point) => take(Ok(point)),
            Err(error) => take(Err(MetricsError::Input(error.clone()))),
        }
    }

    fn time(&self, now: TimestampMs) -> Result<TimestampMs, InputError> {
        let text = self.cell(self.columns.time).ok_or(InputError::Time(InvalidTime::Unreadable))?;
        time_of(text, self.form.time_format, now).map_err(InputError::Time)
    }

    fn value(&self) -> Result<Measured<'_>, InputError> {
        let kind = self.form.kind;
        let text = self.cell(self.columns.value).ok_or(InputError::Value(kind))?;
        if kind == MetricType::Set {
            let fits = (1..=limits::MEMBER_CHARS_MAX).contains(&text.chars().count());
            return if fits { Ok(Measured::Member(text)) } else { Err(InputError::Value(kind)) };
        }
        match text.parse::<f64>() {
            // Adding 0.0 turns −0.0 into 0.0.
            Ok(value) if value.is_finite() => Ok(Measured::Number(value + 0.0)),
            _ => Err(InputError::Value(kind)),
        }
    }

    fn tags(&self) -> Result<Vec<(&str, &str)>, InputError> {
        let mut tags: Vec<(&str, &str)> =
            self.form.tags.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
        for (key, column) in &self.columns.tags {
            match self.cell(*column) {
                Some("") => {}
                Some(value) => tags.push((key, value)),
                None if self.record.get(*column).is_none() => {}
                None => return Err(InputError::TagValue(key.clone())),
            }
        }
        Ok(tags)
    }

    /// Returns a cell without surrounding spaces, if it exists and is valid UTF-8.
    fn cell(&self, column: usize) -> Option<&str> {
        std::str::from_utf8(self.record.get(column)?).ok().map(str::trim)
    }
}

fn ragged(here: usize, first: usize) -> Reject {
    let message = format!("the row has {}, the first row has {first}", count(here, "cell"));
    Reject { code: "invalid_row".to_owned(), message }
}

fn unclosed() -> Reject {
    let message =
        "this row contains an unclosed quote: the rest of the file was read as part of it";
    Reject { code: "invalid_row".to_owned(), message: message.to_owned() }
}

/// Parses a date with a time, or a date alone, which means its midnight in UTC.
fn iso_time(text: &str, now: TimestampMs) -> Result<TimestampMs, InvalidTime> {
    match time::parse_date_or_time(text) {
        Some(Moment::Day(midnight)) => time::parse_recorded(&time::format(midnight), now),
        _ => time::parse_recorded(text, now),
    }
}

/// Parses a timestamp in the given format. Fractions of a millisecond are dropped.
fn time_of(text: &str, format: TimeFormat, now: TimestampMs) -> Result<TimestampMs, InvalidTime> {
    let units_per_second: u32 = match format {
        TimeFormat::Iso => return iso_time(text, now),
        TimeFormat::S => 1,
        TimeFormat::Ms => 1_000,
        TimeFormat::Us => 1_000_000,
        TimeFormat::Ns => 1_000_000_000,
    };
    // Integers are parsed exactly: nanoseconds have more digits than a double.
    let ms = match text.parse::<i64>() {
        Ok(whole) => (i128::from(whole) * 1_000).div_euclid(i128::from(units_per_second)),
        Err(_) => match text.parse::<f64>() {
            // The cast saturates; the limits of the integer are out of range too.
            Ok(number) if number.is_finite() => {
                (number * 1_000.0 / f64::from(units_per_second)).floor() as i128
            }
            _ => return Err(InvalidTime::Unreadable),
        },
    };
    let last = now.0.saturating_add(limits::FUTURE_MS_MAX);
    match i64::try_from(ms) {
        Ok(ms) if (0..=last).contains(&ms) => Ok(TimestampMs(ms)),
        _ => Err(InvalidTime::OutOfRange),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: TimestampMs = TimestampMs(1_767_323_045_678);

    fn form() -> CsvForm {
        CsvForm {
            kind: MetricType::Gauge,
            time: Column::Named("timestamp".to_owned()),
            time_format: TimeFormat::Iso,
            value: Column::Named("value".to_owned()),
            tag_columns: Vec::new(),
            tags: Vec::new(),
            delimiter: b',',
            header: true,
        }
    }

    fn open<'t>(
        text: &'t str,
        form: &CsvForm,
        from: Option<FilePosition>,
    ) -> io::Result<CsvReader<&'t [u8]>> {
        let open = |byte: u64| {
            Ok(Opened { bytes: text.as_bytes().get(byte as usize..).unwrap_or_default(), at: byte })
        };
        CsvReader::new(open, "m", form, from)
    }

    /// Reads all rows of `text`; returns the result of each and the position after them.
    fn rows(text: &str, form: &CsvForm, from: Option<FilePosition>) -> (Vec<String>, FilePosition) {
        let mut reader = open(text, form, from).unwrap();
        let mut seen = Vec::new();
        let mut take = |line: u64, row: Result<&Point<'_>, Reject>| {
            seen.push(match row {
                Ok(point) => format!(
                    "{line}: {} {:?} {:?}",
                    time::format(point.time),
                    point.value,
                    point.tags
                ),
                Err(reject) => format!("{line}: {}", reject.code),
            });
        };
        reader.read(ChunkEnd::Rows(usize::MAX), NOW, &mut take).unwrap();
        (seen, reader.position())
    }

    #[test]
    fn times_without_zone_are_utc_and_bad_rows_are_reported_by_line() {
        let text = "timestamp,value\n2014-02-14 14:30:00,0.132\r\nsoon,1\n2014-02-14T14:30:00+01:00,-0.0\n\
                    2014-02-14 14:35:00,much\n2014-02-14 14:40:00\n2014-02-14 14:45:00,inf\n\r\n2199-01-01 00:00:00,1\n";
        let (seen, position) = rows(text, &form(), None);
        assert_eq!(
            seen,
            [
                "2: 2014-02-14T14:30:00.000Z Number(0.132) []",
                "3: invalid_timestamp",
                "4: 2014-02-14T13:30:00.000Z Number(0.0) []",
                "5: invalid_value",
                "6: invalid_row",
                "7: invalid_value",
                "9: invalid_timestamp"
            ]
        );
        assert_eq!(position, FilePosition { byte: text.len() as u64, line: 10 });
    }

    #[test]
    fn rows_are_reported_by_the_line_on_which_they_start() {
        let good = "2014-02-14 14:30:00,1";
        let results = |text: &str| {
            let (seen, _) = rows(&format!("timestamp,value\n{text}"), &form(), None);
            seen.iter()
                .map(|row| row.split("-02-14T").next().unwrap().to_owned())
                .collect::<Vec<_>>()
        };
        for (text, expected) in [
            // Too few and too many cells.
            (
                "a\na,1,2\n,,\n,\n",
                &["2: invalid_row", "3: invalid_row", "4: invalid_row", "5: invalid_value"][..],
            ),
            // After empty lines of each kind, at the start and between rows.
            (
                &format!("\n\n{good}\n\n\r\n  \n\na\n{good}\na"),
                &["4: 2014", "9: invalid_row", "10: 2014", "11: invalid_row"],
            ),
            // With line breaks in cells: the row starts on the first of its lines.
            (
                "\"a\nb\r\n\",1\n\nb\n\"c\n\n\"",
                &["2: invalid_timestamp", "6: invalid_row", "7: invalid_row"],
            ),
            (&format!("\n\"{}\n\",1\nb\n", "2014-02-14 14:30:00"), &["3: 2014", "5: invalid_row"]),
            // An unclosed quote extends to the end of the file.
            (&format!("{good}\n\n\"2014,1\n{good}\n{good}\n"), &["2: 2014", "4: invalid_row"]),
        ] {
            assert_eq!(results(text), expected, "{text:?}");
        }
    }

    #[test]
    fn the_reason_has_the_number_of_cells() {
        let mut reader = open("timestamp,value\na\na,b,c\n", &form(), None).unwrap();
        let mut messages = Vec::new();
        let mut take = |_, row: Result<&Point<'_>, Reject>| messages.push(row.unwrap_err().message);
        reader.read(ChunkEnd::Rows(usize::MAX), NOW, &mut take).unwrap();
        assert_eq!(
            messages,
            ["the row has 1 cell, the first row has 2", "the row has 3 cells, the first row has 2"]
        );
    }

    #[test]
    fn an_unclosed_quote_is_reported_by_its_line() {
        let good = "2014-02-14 14:30:00,1";
        let messages = |text: &str| {
            let mut reader = open(text, &form(), None).unwrap();
            let mut messages = Vec::new();
            let mut take = |line: u64, row: Result<&Point<'_>, Reject>| {
                messages.extend(row.err().map(|reject| format!("{line}: {}", reject.message)));
            };
            let read = reader.read(ChunkEnd::Rows(usize::MAX), NOW, &mut take);
            messages.extend(read.err().map(|error| error.to_string()));
            messages
        };
        let message = unclosed().message;
        for rest in [format!("\"2014,1\n{good}\n{good}\n"), format!("2014,\"1\n{good}")] {
            let found = messages(&format!("timestamp,value\n{good}\n{rest}"));
            assert_eq!(found, [format!("3: {message}")], "{rest}");
        }
        let closed = format!("timestamp,value\n{good}\n\"2014-02-14\n\",\"2\"");
        assert_eq!(messages(&closed), [""; 0]);
        let long = format!("timestamp,value\n{good}\n\"x,{}", format!("{good}\n").repeat(100_000));
        let found = messages(&long);
        assert!(
            matches!(found.as_slice(), [only] if only.starts_with("the row that starts on line 3 has")),
            "{found:?}"
        );
    }

    #[test]
    fn reading_resumes_where_it_stopped() {
        let text = "timestamp,value\n2014-02-14 14:30:00,1\n\"2014-02-14 14:35:00\",\"2\"\n2014-02-14 14:40:00,3";
        let mut reader = open(text, &form(), None).unwrap();
        reader.read(ChunkEnd::Rows(1), NOW, &mut |_, _| {}).unwrap();
        let between = reader.position();
        let mut again = 0;
        reader.read(ChunkEnd::Rows(1), NOW, &mut |_, _| again += 1).unwrap();
        let (end, mut same) = (reader.position(), open(text, &form(), Some(between)).unwrap());
        same.read(ChunkEnd::Byte(end.byte), NOW, &mut |_, _| again += 10).unwrap();
        assert_eq!((same.position(), again), (end, 11));
        assert_eq!(
            rows(text, &form(), Some(end)).0,
            ["4: 2014-02-14T14:40:00.000Z Number(3.0) []"]
        );
    }

    #[test]
    fn tag_columns_become_tags_and_empty_cells_are_no_tags() {
        let form = CsvForm {
            tag_columns: vec![("dc".to_owned(), Column::At(2)), ("host".to_owned(), Column::At(3))],
            tags: vec![("env".to_owned(), "test".to_owned())],
            time: Column::At(0),
            value: Column::At(1),
            delimiter: b';',
            header: false,
            ..form()
        };
        let (seen, _) =
            rows("2014-02-14 14:30:00;1;eu;\"a;b\"\n2014-02-14 14:30:00;2;;\n", &form, None);
        assert_eq!(
            seen,
            [
                "1: 2014-02-14T14:30:00.000Z Number(1.0) [(\"env\", \"test\"), (\"dc\", \"eu\"), (\"host\", \"a;b\")]",
                "2: 2014-02-14T14:30:00.000Z Number(2.0) [(\"env\", \"test\")]"
            ]
        );
    }

    #[test]
    fn members_of_sets_are_strings() {
        let form = CsvForm { kind: MetricType::Set, ..form() };
        let (seen, _) =
            rows("value,timestamp\nanna,2014-02-14 14:30:00\n,2014-02-14 14:30:00\n", &form, None);
        assert_eq!(seen, ["2: 2014-02-14T14:30:00.000Z Member(\"anna\") []", "3: invalid_value"]);
    }

    #[test]
    fn a_missing_column_lists_the_existing_ones() {
        let error = open("time, value\n", &form(), None).unwrap_err();
        assert_eq!(
            error.to_string(),
            "there is no column \"timestamp\"; the columns are time, value"
        );
    }

    #[test]
    fn numbers_are_times_in_the_given_unit() {
        for (text, format, expected) in [
            ("2014-02-14", TimeFormat::Iso, Ok(1_392_336_000_000)),
            ("2014-02-14 14:30", TimeFormat::Iso, Ok(1_392_388_200_000)),
            ("1969-12-31", TimeFormat::Iso, Err(InvalidTime::OutOfRange)),
            ("2014-02-30", TimeFormat::Iso, Err(InvalidTime::Unreadable)),
            ("1392388200", TimeFormat::Iso, Err(InvalidTime::Unreadable)),
            ("1392388200", TimeFormat::S, Ok(1_392_388_200_000)),
            ("1392388200.25", TimeFormat::S, Ok(1_392_388_200_250)),
            ("1392388200000", TimeFormat::Ms, Ok(1_392_388_200_000)),
            ("1392388200000999", TimeFormat::Us, Ok(1_392_388_200_000)),
            ("1392388200000000000", TimeFormat::Ns, Ok(1_392_388_200_000)),
            ("-1", TimeFormat::S, Err(InvalidTime::OutOfRange)),
            ("1e300", TimeFormat::S, Err(InvalidTime::OutOfRange)),
            ("inf", TimeFormat::S, Err(InvalidTime::Unreadable)),
            ("soon", TimeFormat::Ms, Err(InvalidTime::Unreadable)),
        ] {
            assert_eq!(time_of(text, format, NOW), expected.map(TimestampMs), "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_input_is_read_to_its_end(text in "(timestamp,value\n)?([0-9a-z\",: \n-]|\\PC){0,80}") {
            let form = CsvForm { time: Column::At(0), value: Column::At(1), header: false, ..form() };
            let (_, position) = rows(&text, &form, None);
            proptest::prop_assert_eq!(position.byte, text.len() as u64);
        }
    }
}
