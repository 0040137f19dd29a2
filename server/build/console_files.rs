//! Reads the files of the console that browsers get.

use std::io;
use std::path::Path;

/// What kinds of files browsers get.
const SERVED: [&str; 5] = ["js", "mjs", "css", "svg", "html"];
/// A script of another project that defines a variable, which is made a module by one more line.
const UPLOT: (&str, &str) = ("vendor/uplot.iife.js", "\nexport default uPlot;\n");

/// A file of the console.
#[derive(Debug)]
pub(crate) struct File {
    /// Its path below the folder, with `/`.
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
}

/// Returns all files in a folder that browsers get, by name.
pub(crate) fn all(folder: &Path) -> io::Result<Vec<File>> {
    let mut files = Vec::new();
    collect(folder, "", &mut files)?;
    files.sort_unstable_by(|one, other| one.name.cmp(&other.name));
    Ok(files)
}

fn collect(folder: &Path, prefix: &str, files: &mut Vec<File>) -> io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.file_type()?.is_dir() {
            collect(&entry.path(), &format!("{name}/"), files)?;
        } else if name.rsplit_once('.').is_some_and(|(_, kind)| SERVED.contains(&kind)) {
            let mut bytes = std::fs::read(entry.path())?;
            if name == UPLOT.0 {
                bytes.extend_from_slice(UPLOT.1.as_bytes());
            }
            files.push(File { name, bytes });
        }
    }
    Ok(())
}
