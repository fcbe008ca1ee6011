//! The host's own token: made on the first start, and kept in the data folder.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use tether_core::fault::{self, Point};
use tether_core::hex::Hex;

/// The name of the token's file within the data folder.
pub const FILE: &str = "token";

/// A token of one's own has at least so many characters: as many as 128 random bits
/// take in hex digits.
const SHORTEST: usize = 32;

/// The token in `folder`; made, readable for its owner only, where there is none.
///
/// # Errors
///
/// Where the file holds no token, or others than its owner can read or write it: they
/// may know it by now, and a tighter mode would not change that.
pub fn load_or_make(folder: &Path) -> io::Result<String> {
    let path = file(folder);
    match read(&path) {
        Ok(token) => match fs::metadata(&path)?.permissions().mode() & 0o777 {
            mode if mode & 0o077 == 0 => Ok(token),
            mode => Err(invalid(format!(
                "{} is open to other users (mode {mode:03o}), so they may know the token: remove it, and a new one \
                 is made; or, if you know that nobody has read it, make it yours alone with chmod 600",
                path.display()
            ))),
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let token = make()?;
            write(folder, &token)?;
            Ok(token)
        }
        Err(error) => Err(error),
    }
}

/// Where the token of a data folder is.
pub fn file(folder: &Path) -> PathBuf {
    folder.join(FILE)
}

/// Reads a token's file.
pub fn read(path: &Path) -> io::Result<String> {
    let text = fs::read_to_string(path)?;
    let token = text.trim();
    let wrong = if token.is_empty() {
        "is empty".to_owned()
    } else if !token.bytes().all(|byte| byte.is_ascii_graphic()) {
        "holds no token: that is one word of printable ASCII".to_owned()
    } else if token.len() < SHORTEST {
        format!(
            "holds a token that could be guessed: it has {} characters, and {SHORTEST} are the least",
            token.len()
        )
    } else {
        return Ok(token.to_owned());
    };
    Err(invalid(format!("{} {wrong}; remove it, and a new one is made at the next start", path.display())))
}

fn invalid(message: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, message)
}

/// 32 random bytes, as hex digits.
fn make() -> io::Result<String> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    Ok(Hex(&bytes).to_string())
}

/// Whole or not at all: a crash leaves no half a token behind.
fn write(folder: &Path, token: &str) -> io::Result<()> {
    let draft = folder.join("token.new");
    // A draft that an earlier crash left would keep its permissions.
    match fs::remove_file(&draft) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&draft)?;
    writeln!(file, "{token}")?;
    file.sync_all()?;
    fault::reached(Point::TokenDrafted);
    fs::rename(&draft, self::file(folder))?;
    File::open(folder)?.sync_all()?;
    fault::reached(Point::TokenKept);
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;

    use super::*;
    use crate::scratch::Scratch;

    #[test]
    fn a_token_is_made_once_and_is_its_owners_only() {
        let folder = Scratch::new().unwrap();
        let token = load_or_make(folder.path()).unwrap();
        assert_eq!(token.len(), 64);
        assert_eq!(load_or_make(folder.path()).unwrap(), token);
        let mode = fs::metadata(file(folder.path())).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    /// What is said of a file with this text and mode.
    fn refused(text: &str, mode: u32) -> String {
        let folder = Scratch::new().unwrap();
        let path = file(folder.path());
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        match load_or_make(folder.path()) {
            Ok(_) => "accepted".to_owned(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn a_file_that_holds_no_good_token_is_refused() {
        let good = "x".repeat(SHORTEST);
        assert_eq!(refused(&format!("{good}\n"), 0o600), "accepted");
        assert_eq!(refused(&good, 0o400), "accepted");
        let check = |text: &str, part: &str| {
            let said = refused(text, 0o600);
            assert!(said.contains(part) && said.contains("remove it"), "{text:?}: {said}");
        };
        check("", "is empty");
        check("\n", "is empty");
        check(&good[1..], "could be guessed");
        check(&format!("{good} {good}"), "no token");
        check(&format!("{good}\u{e9}"), "no token");
    }

    #[test]
    fn a_file_that_others_can_read_or_write_is_refused() {
        let good = "x".repeat(SHORTEST);
        for mode in [0o644, 0o640, 0o604, 0o620, 0o602] {
            let said = refused(&good, mode);
            assert!(said.contains(&format!("mode {mode:03o}")) && said.contains("chmod 600"), "{said}");
        }
    }
}
