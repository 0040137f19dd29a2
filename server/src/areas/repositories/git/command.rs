//! The command line and the environment of git.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;

use super::askpass::ASKPASS_VARIABLE;
use super::limits;

const SHELL: &str = "/bin/sh";
/// Where the shell and git find their programs.
const TOOLS_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
/// Bytes of the unit of `ulimit -f`.
const FILE_LIMIT_UNIT: u64 = 512;
/// The descriptor of the pipe with the token.
const TOKEN_DESCRIPTOR: &str = "3";

/// The configuration of all commands. Nothing is read from files but what a repository itself
/// contains, which git wrote here.
const CONFIGURATION: [&str; 20] = [
    "protocol.allow=never",
    "core.hooksPath=/dev/null",
    "core.symlinks=false",
    "core.fsmonitor=false",
    "core.askPass=",
    "credential.helper=",
    "http.followRedirects=false",
    // A server that sends nothing for a minute is not waited for.
    "http.lowSpeedLimit=1",
    "http.lowSpeedTime=60",
    "transfer.fsckObjects=true",
    // Found in old repositories, and harmless.
    "fetch.fsck.zeroPaddedFilemode=ignore",
    "fetch.fsck.missingSpaceBeforeDate=ignore",
    "fetch.fsck.badTimezone=ignore",
    "fetch.unpackLimit=1",
    "submodule.recurse=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "pack.threads=1",
    "core.packedGitWindowSize=32m",
    "core.packedGitLimit=256m",
];

/// A command of git that is to be run.
#[derive(Debug)]
pub(super) struct GitCommand {
    /// Where it runs.
    pub(super) place: GitPlace,
    /// The command with its arguments, after git's own options.
    pub(super) arguments: Vec<OsString>,
    /// The URL among the arguments, if there is one.
    pub(super) url: Option<String>,
    /// How it reaches another repository; `None` if it does not.
    pub(super) network: Option<GitNetwork>,
    /// Bytes of a file that it writes.
    pub(super) file_bytes_max: u64,
    /// How long its processes may compute.
    pub(super) cpu: Duration,
    /// What its standard input is for.
    pub(super) input: GitInput,
}

/// The directories of a command.
#[derive(Clone, Debug)]
pub(super) struct GitPlace {
    /// An empty directory that it runs in, and that is its home.
    pub(super) home: PathBuf,
    /// The bare repository; `None` for commands that need none.
    pub(super) repository: Option<PathBuf>,
}

/// How git reaches another repository.
#[derive(Clone, Debug)]
pub(super) struct GitNetwork {
    /// The only scheme that is allowed.
    pub(super) scheme: String,
    /// The URL of the proxy.
    pub(super) proxy: Option<String>,
    /// A file with certificates of authorities.
    pub(super) ca_file: Option<PathBuf>,
    /// The program that answers for a token, if there is one.
    pub(super) askpass: Option<PathBuf>,
}

/// What the standard input of a command is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GitInput {
    /// Nothing.
    Nothing,
    /// The token, which the program that git asks reads.
    Token,
    /// The command reads it.
    Command,
}

impl GitCommand {
    /// Returns a command that only reads what is here.
    pub(super) fn local(place: GitPlace, arguments: &[&str]) -> Self {
        Self {
            place,
            arguments: arguments.iter().map(OsString::from).collect(),
            url: None,
            network: None,
            file_bytes_max: 0,
            cpu: limits::COMMAND_TIMEOUT,
            input: GitInput::Nothing,
        }
    }

    /// Returns the process to start, in a group of its own.
    pub(super) fn to_process(&self) -> Command {
        let mut command = Command::new(SHELL);
        command
            .arg("-c")
            .arg(self.script())
            .arg("git")
            .args(self.options())
            .args(&self.arguments)
            .current_dir(&self.place.home)
            .env_clear()
            .envs(self.environment())
            .stdin(match self.input {
                GitInput::Nothing => Stdio::null(),
                GitInput::Token | GitInput::Command => Stdio::piped(),
            })
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true);
        command
    }

    /// Returns the script that sets limits and becomes git. The pipe with the token gets a
    /// descriptor that the processes of git leave open.
    fn script(&self) -> String {
        let blocks = self.file_bytes_max.div_ceil(FILE_LIMIT_UNIT);
        let seconds = self.cpu.as_secs().max(1);
        let memory = limits::MEMORY_KIB_MAX;
        let token = match self.input {
            GitInput::Token => format!(" {TOKEN_DESCRIPTOR}<&0 </dev/null"),
            GitInput::Nothing | GitInput::Command => String::new(),
        };
        format!(
            "ulimit -c 0 && ulimit -f {blocks} && ulimit -v {memory} && ulimit -t {seconds} && \
             exec \"$0\" \"$@\"{token}"
        )
    }

    fn options(&self) -> Vec<OsString> {
        let mut options = Vec::new();
        let mut set = |value: OsString| options.extend([OsString::from("-c"), value]);
        CONFIGURATION.iter().for_each(|value| set(value.into()));
        set(format!("core.bigFileThreshold={}", limits::STREAMED_BYTES).into());
        if let Some(network) = &self.network {
            set(format!("protocol.{}.allow=always", network.scheme).into());
            if let Some(proxy) = &network.proxy {
                set(format!("http.proxy={proxy}").into());
            }
            if let Some(file) = &network.ca_file {
                set(with_path("http.sslCAInfo=", file));
            }
        }
        if let Some(repository) = &self.place.repository {
            options.push(with_path("--git-dir=", repository));
        }
        options
    }

    fn environment(&self) -> Vec<(&'static str, OsString)> {
        let mut variables: Vec<(&'static str, OsString)> = vec![
            ("PATH", TOOLS_PATH.into()),
            ("HOME", self.place.home.clone().into()),
            ("LC_ALL", "C".into()),
            ("GIT_CONFIG_NOSYSTEM", "1".into()),
            ("GIT_CONFIG_GLOBAL", "/dev/null".into()),
            ("GIT_ATTR_NOSYSTEM", "1".into()),
            ("GIT_TERMINAL_PROMPT", "0".into()),
            ("GIT_LFS_SKIP_SMUDGE", "1".into()),
            ("GIT_NO_LAZY_FETCH", "1".into()),
            ("GIT_NO_REPLACE_OBJECTS", "1".into()),
            ("GIT_OPTIONAL_LOCKS", "0".into()),
            // No repository above the data directory is found.
            ("GIT_CEILING_DIRECTORIES", parent(&self.place.home)),
        ];
        if let Some(network) = &self.network {
            variables.push(("GIT_ALLOW_PROTOCOL", network.scheme.clone().into()));
            if let Some(askpass) = &network.askpass {
                variables.push(("GIT_ASKPASS", askpass.clone().into()));
                variables.push((ASKPASS_VARIABLE, TOKEN_DESCRIPTOR.into()));
            }
        }
        variables
    }
}

fn with_path(option: &str, path: &Path) -> OsString {
    let mut value = OsString::from(option);
    value.push(path);
    value
}

fn parent(path: &Path) -> OsString {
    path.parent().unwrap_or(path).into()
}
