//! Installation: the Debian package with its service, the container, completions and manual pages.

use std::collections::BTreeSet;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;

use telltale_tests::{folder, target_dir, telltale};
use tempfile::TempDir;

use crate::cli::stdout_of;
use crate::documents::{commands, file, printed};

/// The files of the package, besides a manual page for each command.
const IN_PACKAGE: [&str; 13] = [
    "./etc/telltale/telltale.toml",
    "./usr/bin/telltale",
    "./usr/lib/systemd/system/telltale.service",
    "./usr/lib/sysusers.d/telltale.conf",
    "./usr/lib/tmpfiles.d/telltale.conf",
    "./usr/share/bash-completion/completions/telltale",
    "./usr/share/doc/telltale/README.md",
    "./usr/share/doc/telltale/configuration.md",
    "./usr/share/doc/telltale/copyright",
    "./usr/share/doc/telltale/guides.md",
    "./usr/share/doc/telltale/operations.md",
    "./usr/share/fish/vendor_completions.d/telltale.fish",
    "./usr/share/zsh/vendor-completions/_telltale",
];

/// Returns the output of a command that must succeed.
#[track_caller]
fn run(command: &mut Command) -> String {
    match command.output() {
        Ok(output) => stdout_of(&output),
        Err(error) => panic!("{command:?}: {error}"),
    }
}

#[track_caller]
fn read(path: impl AsRef<Path>) -> String {
    let path = path.as_ref();
    match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) => panic!("{}: {error}", path.display()),
    }
}

#[test]
fn shells_complete_every_command() {
    let commands = commands();
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = printed(&["completions", shell]);
        for command in &commands {
            assert!(script.contains(command.as_str()), "{command} in the script for {shell}");
        }
    }
    let folder = folder();
    let script = folder.path().join("telltale");
    assert!(std::fs::write(&script, printed(&["completions", "bash"])).is_ok());
    let typed = "source \"$0\"; COMP_WORDS=(telltale ke); COMP_CWORD=1; \
                 _telltale telltale ke telltale; printf '%s\\n' \"${COMPREPLY[@]}\"";
    let completed = run(Command::new("bash").args(["--norc", "-euc", typed]).arg(&script));
    assert_eq!(completed, "keys\n");
}

#[test]
fn every_command_has_a_manual_page() {
    let folder = folder();
    let pages = folder.path().join("pages");
    printed(&["man", &pages.to_string_lossy()]);
    let whole = printed(&["man"]);
    for command in commands().iter().filter(|command| *command != "help") {
        let page = read(pages.join(format!("telltale-{command}.1")));
        assert!(page.contains(&format!(".TH telltale-{command} 1 ")), "{page}");
        assert!(whole.contains(&format!("telltale\\-{command}(1)")), "{command} in\n{whole}");
    }
    assert!(read(pages.join("telltale-keys-create.1")).contains("\\-\\-public\\-ingest"));
}

/// The package of the program under test, built as `make package` does, and unpacked.
struct Package {
    folder: TempDir,
    /// Mode and path of every file.
    files: Vec<(String, String)>,
}

impl Package {
    #[track_caller]
    fn make() -> Self {
        let folder = folder();
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
        run(Command::new("tools/package")
            .arg(telltale())
            .arg(folder.path())
            .arg("--fast")
            .env("CARGO_TARGET_DIR", target_dir())
            .current_dir(root));
        let found = std::fs::read_dir(folder.path()).into_iter().flatten().flatten();
        let made: Vec<PathBuf> = found.map(|entry| entry.path()).collect();
        let [package] = made.as_slice() else { panic!("one package, not {made:?}") };
        let listed = run(Command::new("dpkg-deb").arg("--contents").arg(package));
        let files = listed.lines().filter_map(|line| {
            let mut words = line.split_whitespace();
            let (mode, path) = (words.next()?, words.nth(4)?);
            (!mode.starts_with('d')).then(|| (mode.to_owned(), path.to_owned()))
        });
        let files = files.collect();
        let unpacked = folder.path().join("unpacked");
        run(Command::new("dpkg-deb").arg("--raw-extract").arg(package).arg(unpacked));
        Self { folder, files }
    }

    /// Returns the path of an unpacked file.
    fn unpacked(&self, path: &str) -> PathBuf {
        self.folder.path().join("unpacked").join(path.trim_start_matches('/'))
    }
}

#[test]
fn the_package_contains_the_program_its_service_and_manual_pages() {
    let package = Package::make();
    let paths: BTreeSet<&str> = package.files.iter().map(|(_, path)| path.as_str()).collect();
    for path in IN_PACKAGE {
        assert!(paths.contains(path), "{path} in {paths:?}");
    }
    for (mode, path) in &package.files {
        let expected = if path == "./usr/bin/telltale" { "-rwxr-xr-x" } else { "-rw-r--r--" };
        assert_eq!(mode, expected, "{path}");
    }
    for command in commands().iter().filter(|command| *command != "help") {
        let page = package.unpacked(&format!("usr/share/man/man1/telltale-{command}.1.gz"));
        let Ok(packed) = std::fs::File::open(&page) else { panic!("no page {}", page.display()) };
        let mut text = String::new();
        assert!(flate2::read::GzDecoder::new(packed).read_to_string(&mut text).is_ok());
        assert!(text.contains(".SH SYNOPSIS"), "{text}");
    }
    assert_eq!(read(package.unpacked("DEBIAN/conffiles")), "/etc/telltale/telltale.toml\n");
    let postinst = read(package.unpacked("DEBIAN/postinst"));
    for step in ["systemd-sysusers", "systemd-tmpfiles --create", "deb-systemd-helper enable"] {
        assert!(postinst.contains(step), "{step} in\n{postinst}");
    }

    let program = package.unpacked("usr/bin/telltale");
    run(Command::new(&program).arg("--version"));
    service_starts_what_is_installed(&package, &program);
}

/// The unit starts the program with settings of the package that put the data where the unit may
/// write.
#[track_caller]
fn service_starts_what_is_installed(package: &Package, program: &Path) {
    let unit = read(package.unpacked("usr/lib/systemd/system/telltale.service"));
    let directive = |name: &str| {
        let found = unit.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
        found.unwrap_or_else(|| panic!("{name} in\n{unit}"))
    };
    let words: Vec<&str> = directive("ExecStart").split(' ').collect();
    let ["/usr/bin/telltale", "serve", "--config", config] = words.as_slice() else {
        panic!("{words:?}")
    };
    let config = package.unpacked(config);
    let effective = run(Command::new(program).args(["config", "--config"]).arg(config).env_clear());
    let data = format!("data = \"/var/lib/{}\"", directive("StateDirectory"));
    assert!(effective.contains(&data), "{data} in\n{effective}");
    let users = read(package.unpacked("usr/lib/sysusers.d/telltale.conf"));
    assert!(users.contains(&format!("\nu {} ", directive("User"))), "{users}");
    let folders = read(package.unpacked("usr/lib/tmpfiles.d/telltale.conf"));
    let backups = directive("ReadWritePaths").trim_start_matches('-');
    assert!(folders.contains(&format!("\nd {backups} 0700 ")), "{folders}");
    for (name, value) in [("ProtectSystem", "strict"), ("NoNewPrivileges", "true")] {
        assert_eq!(directive(name), value);
    }
    assert!(directive("LimitNOFILE").parse::<u32>().is_ok_and(|files| files >= 65_536));

    // If systemd is installed, its verification finds no fault.
    if Command::new("systemd-analyze").arg("--version").output().is_ok() {
        let tried = package.folder.path().join("telltale.service");
        let text = unit.replace("/usr/bin/telltale", &program.to_string_lossy());
        assert!(std::fs::write(&tried, text).is_ok());
        let output =
            Command::new("systemd-analyze").args(["verify", "--man=no"]).arg(&tried).output();
        let Ok(output) = output else { panic!("systemd-analyze did not start") };
        let complaints = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && complaints.is_empty(), "{complaints}");
    }
}

/// Returns the instructions of the Containerfile: a word, and the rest with continued lines joined.
fn instructions(text: &str) -> Vec<(String, String)> {
    let kept: Vec<&str> = text.lines().filter(|line| !line.trim_start().starts_with('#')).collect();
    let joined = kept.join("\n").replace("\\\n", " ");
    let parts = joined.lines().filter_map(|line| line.trim().split_once(' '));
    parts.map(|(word, rest)| (word.to_owned(), rest.trim().to_owned())).collect()
}

#[test]
fn the_container_is_built_from_existing_files() {
    let instructions = instructions(&file("packaging/Containerfile"));
    let all = |word: &str| -> Vec<&str> {
        instructions.iter().filter(|(w, _)| w == word).map(|(_, rest)| rest.as_str()).collect()
    };
    let known = [
        "FROM",
        "ENV",
        "WORKDIR",
        "COPY",
        "RUN",
        "USER",
        "VOLUME",
        "EXPOSE",
        "STOPSIGNAL",
        "HEALTHCHECK",
        "ENTRYPOINT",
        "CMD",
    ];
    for (word, _) in &instructions {
        assert!(known.contains(&word.as_str()), "{word}");
    }
    // It uses our version of Rust on the Debian release that it runs on: an older one would lack
    // symbols of the C library.
    let toolchain = file("rust-toolchain.toml");
    let version = toolchain.split('"').nth(1).unwrap_or("?");
    let [build, runtime] = all("FROM")[..] else { panic!("two stages") };
    let debian = runtime.trim_start_matches("docker.io/library/debian:").trim_end_matches("-slim");
    assert_eq!(build, format!("docker.io/library/rust:{version}-{debian} AS build"));
    assert!(all("ENV")[0].contains(&format!("RUSTUP_TOOLCHAIN={version}")));
    // Copied files are in the source tree, or were built by the previous stage.
    let built = all("RUN").join("\n");
    for copied in all("COPY") {
        let mut words = copied.split_whitespace();
        match words.next() {
            Some("--from=build") => {
                assert!(built.contains(words.next().unwrap_or("?")), "{copied}")
            }
            Some(path) => {
                let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path);
                assert!(path.exists(), "{copied}");
            }
            None => panic!("COPY of nothing"),
        }
    }
    assert!(built.contains("make build") && file("Makefile").contains("\nbuild: "));
    assert!(built.contains("tools/setup packages") && file("tools/setup").contains("packages) "));
}

#[test]
fn the_container_has_a_health_check() {
    let instructions = instructions(&file("packaging/Containerfile"));
    let last = |word: &str| {
        let found = instructions.iter().rev().find(|(w, _)| w == word);
        found.map_or_else(|| panic!("no {word}"), |(_, rest)| rest.clone())
    };
    let user = last("USER");
    let id = user.split(':').next().and_then(|id| id.parse::<u32>().ok());
    assert!(id.is_some_and(|id| id >= 1_000), "{user} is a number, and not that of root");
    assert!(last("ENV").contains(&format!("TELLTALE_DATA={}", last("VOLUME"))));
    assert!(last("ENV").contains(&format!("TELLTALE_LISTEN=0.0.0.0:{}", last("EXPOSE"))));
    assert_eq!(last("STOPSIGNAL"), "SIGTERM");
    assert_eq!(last("ENTRYPOINT"), "[\"telltale\"]");
    let commands = commands();
    let check = last("HEALTHCHECK");
    let check = check.split("CMD ").nth(1).unwrap_or_default();
    for (run, place) in [(check, 1), (last("CMD").as_str(), 0)] {
        let words: Vec<String> = serde_json::from_str(run).unwrap_or_default();
        assert!(words.get(place).is_some_and(|word| commands.contains(word)), "{run}");
    }
}
