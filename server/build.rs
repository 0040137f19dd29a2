//! Prepares the files of the console for the binary of a release: shortened, compressed with
//! Brotli, and listed in `console.rs`. Debug builds read the files themselves, when they are asked
//! for.

#[path = "build/console_files.rs"]
mod console_files;
#[path = "build/shrink.rs"]
mod shrink;

use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use brotli::enc::BrotliEncoderParams;
use brotli::enc::backward_references::BrotliEncoderMode;
use console_files::File;

fn main() -> Result<(), Box<dyn Error>> {
    for path in ["build.rs", "build", "console"] {
        println!("cargo:rerun-if-changed={path}");
    }
    println!("cargo:rustc-check-cfg=cfg(console_embedded)");
    let (Some(out), None) = (of_cargo("OUT_DIR"), of_cargo("CARGO_CFG_DEBUG_ASSERTIONS")) else {
        return Ok(());
    };
    let mut list = String::from("pub(super) static FILES: &[(&str, &[u8])] = &[\n");
    for (number, file) in console_files::all(Path::new("console"))?.into_iter().enumerate() {
        let compressed = compressed(&shrunk(&file)?)?;
        std::fs::write(out.join(format!("{number}.br")), compressed)?;
        let path = format!("concat!(env!(\"OUT_DIR\"), \"/{number}.br\")");
        writeln!(list, "    ({:?}, include_bytes!({path})),", file.name)?;
    }
    list.push_str("];\n");
    std::fs::write(out.join("console.rs"), list)?;
    println!("cargo:rustc-cfg=console_embedded");
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "cargo has no other way to tell it")]
fn of_cargo(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).map(PathBuf::from)
}

/// Returns what is shipped of a file: modules of others are as short as their authors made them.
fn shrunk(file: &File) -> Result<Vec<u8>, Box<dyn Error>> {
    let text = || std::str::from_utf8(&file.bytes);
    Ok(match file.name.rsplit_once('.') {
        _ if file.name.starts_with("vendor/") => file.bytes.clone(),
        Some((_, "js")) => shrink::script(text()?).into_bytes(),
        Some((_, "css")) => shrink::style_sheet(text()?).into_bytes(),
        Some((_, "svg")) => shrink::picture(text()?).into_bytes(),
        _ => file.bytes.clone(),
    })
}

/// The window of Brotli, as a power of two: hardly any file is larger, and distances in a smaller
/// window take fewer bits.
const WINDOW_BITS: i32 = 16;

/// Returns the shortest of what the modes of Brotli make of a file: they guess differently which
/// bytes predict the next one.
fn compressed(bytes: &[u8]) -> Result<Vec<u8>, Box<dyn Error>> {
    let modes = [
        BrotliEncoderMode::BROTLI_MODE_TEXT,
        BrotliEncoderMode::BROTLI_MODE_GENERIC,
        BrotliEncoderMode::BROTLI_MODE_FONT,
    ];
    let mut shortest: Option<Vec<u8>> = None;
    for mode in modes {
        let size_hint = bytes.len();
        let params = BrotliEncoderParams {
            mode,
            lgwin: WINDOW_BITS,
            size_hint,
            ..BrotliEncoderParams::default()
        };
        let mut compressed = Vec::new();
        brotli::BrotliCompress(&mut &bytes[..], &mut compressed, &params)?;
        if shortest.as_ref().is_none_or(|other| compressed.len() < other.len()) {
            shortest = Some(compressed);
        }
    }
    shortest.ok_or_else(|| "Brotli has no mode".into())
}
