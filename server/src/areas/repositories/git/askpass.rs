//! How git gets the token: it starts a program that prints it (gitcredentials(7), `GIT_ASKPASS`).
//! That program is this one, which reads the token from a pipe that git's processes inherit.

use std::fs::File;
use std::io::{self, Read};

/// The name of the environment variable with the number of the descriptor of the pipe. This
/// program answers a question of git when it is set.
pub const ASKPASS_VARIABLE: &str = "TELLTALE_GIT_ASKPASS";
/// The user name, where a server wants one: those of all large hosts accept any beside a token.
pub(super) const USER: &str = "x-access-token";
/// Bytes of a token.
const TOKEN_BYTES_MAX: usize = 8 << 10;

/// Why a question of git is not answered.
#[derive(Debug, thiserror::Error)]
pub enum AskpassError {
    /// The variable does not name a descriptor.
    #[error("{ASKPASS_VARIABLE} does not name a descriptor")]
    Descriptor,
    /// The pipe cannot be read, or has no token.
    #[error("the token cannot be read: {0}")]
    Token(#[from] io::Error),
}

/// Returns the answer to a question of git, `Username for …` or `Password for …`. `descriptor` is
/// the value of the variable.
pub fn answer(question: &str, descriptor: &str) -> Result<String, AskpassError> {
    if question.starts_with("Username") {
        return Ok(USER.to_owned());
    }
    let descriptor: u32 = descriptor.parse().map_err(|_| AskpassError::Descriptor)?;
    Ok(first_line(File::open(format!("/proc/self/fd/{descriptor}"))?)?)
}

/// Reads a line, and not a byte more: the rest is for the next question.
fn first_line(mut pipe: impl Read) -> io::Result<String> {
    let mut line = Vec::new();
    let mut byte = [0];
    while line.len() < TOKEN_BYTES_MAX {
        pipe.read_exact(&mut byte)?;
        if byte == *b"\n" {
            return String::from_utf8(line).map_err(io::Error::other);
        }
        line.extend(byte);
    }
    Err(io::Error::other("it is too long"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_a_line_of_the_pipe() {
        let mut pipe: &[u8] = b"secret\nsecret\nrest";
        assert_eq!(first_line(&mut pipe).unwrap(), "secret");
        assert_eq!(first_line(&mut pipe).unwrap(), "secret");
        assert!(first_line(&mut pipe).is_err(), "it has no end");
        assert!(first_line(&vec![b'a'; TOKEN_BYTES_MAX + 1][..]).is_err());
    }

    #[test]
    fn questions_are_for_a_user_or_a_password() {
        assert_eq!(answer("Username for 'https://example.com': ", "x").unwrap(), USER);
        let password = answer("Password for 'https://example.com': ", "x");
        assert!(matches!(password, Err(AskpassError::Descriptor)));
    }
}
