//! The master keys of a process, and the file that contains them.

use std::fs::{self, DirBuilder};
use std::io::ErrorKind;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

use rand::TryRng;
use secrecy::zeroize::Zeroizing;

use crate::data_folder::FolderError;

use super::{KEY_FILE, KeyError, MasterKey, Purpose, SecretKey, create_private_file};

/// The master keys of a process: at least one, and no key twice. The first one encrypts and signs; all of them decrypt and
/// verify. A process has several keys only while the key is rotated.
#[derive(Debug)]
pub struct MasterKeys(Vec<MasterKey>);

impl MasterKeys {
    /// Parses keys of 64 hexadecimal digits each, separated by whitespace or commas. `location` is where they were read from,
    /// for error messages.
    ///
    /// # Errors
    /// Returns [`KeyError::Malformed`], which does not contain the text.
    pub fn parse(text: &str, location: &str) -> Result<Self, KeyError> {
        let malformed = || KeyError::Malformed { location: location.to_owned() };
        let texts = text.split(|separator: char| separator.is_ascii_whitespace() || separator == ',');
        let keys: Option<Vec<MasterKey>> =
            texts.filter(|text| !text.is_empty()).map(MasterKey::from_hex).collect();
        let keys = Self(keys.ok_or_else(malformed)?);
        let mut fingerprints = keys.fingerprints();
        fingerprints.sort_unstable();
        fingerprints.dedup();
        if keys.0.is_empty() || fingerprints.len() < keys.0.len() {
            return Err(malformed());
        }
        Ok(keys)
    }

    /// Reads the keys in the data folder. Returns `None` if the file does not exist.
    ///
    /// # Errors
    /// Returns [`KeyError`] when the file cannot be read or does not contain keys.
    pub fn open(data_dir: &Path) -> Result<Option<Self>, KeyError> {
        let path = data_dir.join(KEY_FILE);
        match fs::read_to_string(&path) {
            Ok(text) => Self::parse(&Zeroizing::new(text), &path.display().to_string()).map(Some),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(cause) if cause.kind() == ErrorKind::NotADirectory => {
                Err(FolderError::new(data_dir, cause).into())
            }
            Err(cause) => Err(KeyError::File { path, cause }),
        }
    }

    /// Creates the key file in the data folder, readable only by its owner, and returns the key. Also creates the
    /// folder if it does not exist. If the file exists, for example because another process has just created it,
    /// returns the keys that it contains.
    ///
    /// # Errors
    /// Returns [`KeyError`] when the folder cannot be created or is not writable, when the random number generator
    /// fails, or when an existing file cannot be read or does not contain keys.
    pub fn create(data_dir: &Path) -> Result<Self, KeyError> {
        let mut key = Zeroizing::new([0_u8; 32]);
        rand::rngs::SysRng
            .try_fill_bytes(key.as_mut_slice())
            .map_err(|error| KeyError::Random(error.to_string()))?;
        let mut text = Zeroizing::new([b'\n'; 65]);
        hex::encode_to_slice(key.as_slice(), &mut text[..64]).expect("two digits for each byte");
        let path = data_dir.join(KEY_FILE);
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(data_dir)
            .map_err(|cause| FolderError::new(data_dir, cause))?;
        create_private_file(&path, text.as_slice())
            .map_err(|cause| KeyError::File { path: path.clone(), cause })?;
        Self::open(data_dir)?.ok_or_else(|| KeyError::File { path, cause: ErrorKind::NotFound.into() })
    }

    /// Derives the key for a purpose from the first master key.
    pub fn derive(&self, purpose: Purpose) -> SecretKey {
        self.0[0].derive(purpose)
    }

    /// Derives the key for a purpose from each master key, in their order.
    pub fn derive_all(&self, purpose: Purpose) -> Vec<SecretKey> {
        self.0.iter().map(|key| key.derive(purpose)).collect()
    }

    /// Returns the fingerprint of the first key: 32 hexadecimal digits that identify it without revealing it.
    pub fn fingerprint(&self) -> String {
        self.0[0].fingerprint()
    }

    /// Returns the fingerprint of each key, in their order.
    pub fn fingerprints(&self) -> Vec<String> {
        self.0.iter().map(MasterKey::fingerprint).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use secrecy::ExposeSecret;

    use super::*;

    #[test]
    fn a_key_is_created_once_and_readable_only_by_its_owner() {
        let folder = tempfile::tempdir().unwrap();
        assert!(MasterKeys::open(folder.path()).unwrap().is_none());
        let created = MasterKeys::create(folder.path()).unwrap();
        let mode = fs::metadata(folder.path().join(KEY_FILE)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let second = MasterKeys::create(folder.path()).unwrap();
        let opened = MasterKeys::open(folder.path()).unwrap().unwrap();
        assert_eq!(created.fingerprint(), second.fingerprint());
        assert_eq!(created.fingerprint(), opened.fingerprint());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no temporary file is left");
    }

    #[test]
    fn each_purpose_has_its_own_key() {
        let key = MasterKeys::parse(&"00".repeat(32), "the test").unwrap();
        let other_key = MasterKeys::parse(&"01".repeat(32), "the test").unwrap();
        let derived = |key: &MasterKeys, purpose| *key.derive(purpose).expose_secret();
        assert_ne!(derived(&key, Purpose::Cursor), derived(&key, Purpose::Fingerprint));
        assert_ne!(derived(&key, Purpose::Cursor), derived(&other_key, Purpose::Cursor));
        insta::assert_snapshot!(key.fingerprint(), @"5186e075147b7098ca9a4977c6a4e395");
    }

    #[test]
    fn a_malformed_key_is_rejected_without_being_shown() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(KEY_FILE), "0f0f").unwrap();
        let message = MasterKeys::open(folder.path()).unwrap_err().to_string();
        assert!(message.contains("master.key: expected a master key of 64 hexadecimal digits"), "{message}");
        assert!(!message.contains("0f0f"));
    }

    #[test]
    fn the_first_of_several_keys_derives_new_keys() {
        let (old, new) = ("00".repeat(32), "01".repeat(32));
        for text in [format!("{new}\n{old}\n"), format!("{new},{old}"), format!(" {new}, {old} ")] {
            let both = MasterKeys::parse(&text, "the test").unwrap();
            let single = |text| MasterKeys::parse(text, "the test").unwrap().fingerprints();
            assert_eq!(both.fingerprints(), [single(&new), single(&old)].concat());
            assert_eq!(both.fingerprint(), both.fingerprints()[0]);
            assert_eq!(both.derive_all(Purpose::Cursor).len(), 2);
        }
        let twice = format!("{old}\n{old}");
        let (short, long) = (format!("{old}\n{}", &new[1..]), format!("{old}00"));
        let no_digit = format!("{}g", &old[1..]);
        for invalid in ["", ",", &twice, &short, &long, &no_digit] {
            assert!(MasterKeys::parse(invalid, "the test").is_err(), "{invalid}");
        }
    }
}
