//! Who may use the gateway. In this version: one identity, whose token is made on
//! the first start and kept in the data folder.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use tether_core::fault::{self, Point};
use tether_core::identity::{Caller, Role};

/// The name of the token's file within the data folder.
pub const FILE: &str = "token";

/// The tokens that are valid, by their digests: the tokens themselves are not
/// kept in memory.
pub struct Identities(Vec<([u8; 32], Caller)>);

impl Identities {
    /// One operator of one tenant, with every role.
    pub fn single(token: &str) -> Self {
        let caller = Caller {
            tenant: "default".parse().expect("a valid tenant"),
            user: "operator".parse().expect("a valid user"),
            roles: vec![Role::Agent, Role::Approver, Role::Admin],
        };
        Self(vec![(digest(token), caller)])
    }

    /// The caller whose token it is. Takes the same time for every token.
    pub fn find(&self, token: &str) -> Option<&Caller> {
        let presented = digest(token);
        // To the end of the list, wherever it is found.
        self.0
            .iter()
            .fold(None, |found, (known, caller)| if equal(known, &presented) { Some(caller) } else { found })
    }
}

fn digest(token: &str) -> [u8; 32] {
    Sha256::digest(token).into()
}

/// Compares to the end, wherever the first difference is.
fn equal(a: &[u8; 32], b: &[u8; 32]) -> bool {
    std::hint::black_box(a.iter().zip(b).fold(0, |difference, (a, b)| difference | (a ^ b))) == 0
}

/// The token in `folder`; made, readable for its owner only, where there is none.
pub fn load_or_make(folder: &Path) -> io::Result<String> {
    let path = file(folder);
    match read(&path) {
        Ok(token) => {
            fs::set_permissions(&path, Permissions::from_mode(0o600))?;
            Ok(token)
        }
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
    if token.is_empty() || token.chars().any(|character| character.is_whitespace()) {
        let message = format!("{} holds no token; remove it, and a new one is made", path.display());
        return Err(io::Error::new(io::ErrorKind::InvalidData, message));
    }
    Ok(token.to_owned())
}

/// 32 random bytes, as hex digits.
fn make() -> io::Result<String> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
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

    #[test]
    fn an_empty_file_is_no_token() {
        let folder = Scratch::new().unwrap();
        fs::write(file(folder.path()), "\n").unwrap();
        assert!(load_or_make(folder.path()).is_err());
    }

    #[test]
    fn only_the_whole_token_is_found() {
        let identities = Identities::single("secret");
        assert_eq!(identities.find("secret").unwrap().user.as_str(), "operator");
        for wrong in ["", "secre", "secrets", "Secret"] {
            assert!(identities.find(wrong).is_none(), "{wrong:?}");
        }
    }
}
