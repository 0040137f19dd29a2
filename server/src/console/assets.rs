//! The files of the console, and the build that they are.
//!
//! In the binary of a release, shortened and compressed by `build.rs`; read from the source tree
//! in debug builds, at every request, so that a change shows at the next reload. The build is a
//! hash of what is served, and a part of the paths: a file under a path never changes. Files for
//! development alone are no part of it. The shell alone has a path without the build, and names it.

use std::collections::BTreeMap;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use sha2::{Digest, Sha256};

/// Stands for the build in the shell.
const BUILD_MARK: &str = "{{build}}";
const SHELL: &str = "index.html";
/// Hexadecimal digits of the build.
const BUILD_CHARS: usize = 16;
const MAP_BEGIN: &str = "<script type=\"importmap\">";
const MAP_END: &str = "</script>";

#[cfg(not(console_embedded))]
#[path = "../../build/console_files.rs"]
mod console_files;

#[cfg(console_embedded)]
mod embedded {
    include!(concat!(env!("OUT_DIR"), "/console.rs"));
}

/// A file as it is read: its name, its bytes, and what they are with Brotli, if that is known.
type Source = (String, Bytes, Option<Bytes>);

/// All files of one build.
#[derive(Debug)]
pub(super) struct Catalog {
    build: String,
    files: BTreeMap<String, Asset>,
    shell: Asset,
    /// The SHA-256 of the import map in the shell, in base64.
    import_map: String,
}

/// A file.
#[derive(Clone, Debug)]
pub(super) struct Asset {
    pub(super) media: &'static str,
    pub(super) bytes: Bytes,
    /// The SHA-256 of the bytes, in hexadecimal.
    pub(super) digest: String,
    /// The bytes, compressed with Brotli, in a release. Both are kept for the life of the process.
    pub(super) brotli: Option<Bytes>,
}

#[cfg(not(console_embedded))]
fn sources() -> Vec<Source> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/console");
    let files = console_files::all(std::path::Path::new(folder)).unwrap_or_else(|error| {
        tracing::error!(%error, folder, "the files of the console cannot be read");
        Vec::new()
    });
    files.into_iter().map(|file| (file.name, file.bytes.into(), None)).collect()
}

#[cfg(console_embedded)]
fn sources() -> Vec<Source> {
    let source = |(name, brotli): &(&str, &'static [u8])| {
        let (mut plain, mut compressed) = (Vec::new(), *brotli);
        match brotli_decompressor::BrotliDecompress(&mut compressed, &mut plain) {
            Ok(()) => ((*name).to_owned(), plain.into(), Some(Bytes::from_static(brotli))),
            Err(error) => unreachable!("the build compressed {name}: {error}"),
        }
    };
    embedded::FILES.iter().map(source).collect()
}

/// Returns the files of the current build.
pub(super) fn catalog() -> Arc<Catalog> {
    #[cfg(not(console_embedded))]
    return Arc::new(Catalog::read());
    #[cfg(console_embedded)]
    {
        static CATALOG: std::sync::LazyLock<Arc<Catalog>> =
            std::sync::LazyLock::new(|| Arc::new(Catalog::read()));
        Arc::clone(&CATALOG)
    }
}

impl Catalog {
    fn read() -> Self {
        let mut hash = Sha256::new();
        let (mut files, mut shell) = (BTreeMap::new(), Bytes::new());
        for (name, bytes, brotli) in sources() {
            let asset = Asset::new(media_of(&name), bytes, brotli);
            hash.update([name.as_bytes(), b"\0", asset.digest.as_bytes(), b"\n"].concat());
            if name == SHELL {
                shell = asset.bytes;
            } else {
                files.insert(name, asset);
            }
        }
        let build: String = hex(&hash.finalize()).chars().take(BUILD_CHARS).collect();
        let text = String::from_utf8_lossy(&shell).replace(BUILD_MARK, &build);
        let import_map = STANDARD.encode(Sha256::digest(import_map(&text).as_bytes()));
        let shell = Asset::new("text/html; charset=utf-8", text.into(), None);
        Self { build, files, shell, import_map }
    }

    /// Returns the id of the build.
    pub(super) fn build(&self) -> &str {
        &self.build
    }

    /// Returns a file other than the shell.
    pub(super) fn file(&self, path: &str) -> Option<&Asset> {
        self.files.get(path)
    }

    /// Returns the page that every path of the console shows; its script shows the rest.
    pub(super) fn shell(&self) -> &Asset {
        &self.shell
    }

    /// Returns the hash of the one inline script that the policy of the shell allows.
    pub(super) fn import_map(&self) -> &str {
        &self.import_map
    }
}

impl Asset {
    fn new(media: &'static str, bytes: Bytes, brotli: Option<Bytes>) -> Self {
        let digest = hex(&Sha256::digest(&bytes));
        Self { media, bytes, digest, brotli }
    }
}

/// Returns the media type of a file other than the shell.
fn media_of(name: &str) -> &'static str {
    match name.rsplit('.').next() {
        Some("js" | "mjs") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        _ => "text/plain; charset=utf-8",
    }
}

/// Returns the text of the import map in the shell, exactly as browsers hash it.
fn import_map(shell: &str) -> &str {
    let map = shell.split_once(MAP_BEGIN).map(|(_, rest)| rest);
    map.and_then(|rest| rest.split_once(MAP_END)).map_or("", |(map, _)| map)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shell_names_only_files_of_its_build() {
        let catalog = Catalog::read();
        let shell = String::from_utf8_lossy(&catalog.shell().bytes).into_owned();
        assert!(!shell.contains(BUILD_MARK));
        let prefix = format!("/console/-/{}/", catalog.build());
        let named: Vec<&str> = shell
            .split('"')
            .filter_map(|part| part.strip_prefix(prefix.as_str()))
            .map(|path| path.split('#').next().unwrap_or_default())
            .filter(|path| !path.ends_with('/'))
            .collect();
        assert!(named.len() > 5, "{named:?}");
        for path in named {
            assert!(catalog.file(path).is_some(), "{path}");
        }
    }

    #[test]
    fn a_build_is_the_same_when_it_is_read_again() {
        let (one, other) = (Catalog::read(), Catalog::read());
        assert_eq!(one.build(), other.build());
        assert_eq!(one.build().len(), BUILD_CHARS);
        assert_ne!(one.import_map(), STANDARD.encode(Sha256::digest(b"")));
    }
}
