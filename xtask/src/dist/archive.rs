//! The archive: a compressed tar file with sorted names, and without owners and times of its own.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use flate2::{Compression, GzBuilder};
use tar::{Builder, EntryType, Header};

use super::{FILES, OUTPUT, Release};

/// Writes the archive of all files, in a folder named after the version, and returns its path.
///
/// # Errors
/// Returns an error when a file cannot be read or written.
pub(super) fn write(release: &Release) -> Result<PathBuf> {
    let Release { version, target, epoch } = release;
    let path = Path::new(OUTPUT).join(format!("creator-api-{version}-{target}.tar.gz"));
    write_to(&path, Path::new(FILES), &format!("creator-api-{version}"), *epoch)?;
    Ok(path)
}

/// Writes an archive of a folder. `name` is the name of the folder in the archive.
pub(super) fn write_to(path: &Path, folder: &Path, name: &str, epoch: u64) -> Result<()> {
    // The header of the compressed file contains neither a name nor a time.
    let file = File::create(path).with_context(|| format!("cannot write {}", path.display()))?;
    let mut archive = Builder::new(GzBuilder::new().write(file, Compression::best()));
    add(&mut archive, folder, name, epoch)?;
    archive.into_inner()?.finish()?;
    Ok(())
}

/// Adds a folder and what it contains, sorted by name.
fn add<W: std::io::Write>(archive: &mut Builder<W>, folder: &Path, name: &str, epoch: u64) -> Result<()> {
    append(archive, &format!("{name}/"), EntryType::Directory, 0o755, &[], epoch)?;
    let mut entries: Vec<_> = fs::read_dir(folder)?.collect::<Result<_, _>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let entry_name = format!("{name}/{}", entry.file_name().to_string_lossy());
        if entry.file_type()?.is_dir() {
            add(archive, &entry.path(), &entry_name, epoch)?;
        } else {
            let mode = if folder.ends_with("bin") { 0o755 } else { 0o644 };
            append(archive, &entry_name, EntryType::Regular, mode, &fs::read(entry.path())?, epoch)?;
        }
    }
    Ok(())
}

fn append<W: std::io::Write>(
    archive: &mut Builder<W>,
    name: &str,
    kind: EntryType,
    mode: u32,
    content: &[u8],
    epoch: u64,
) -> Result<()> {
    let mut header = Header::new_gnu();
    header.set_entry_type(kind);
    header.set_mode(mode);
    header.set_uid(0);
    header.set_gid(0);
    header.set_mtime(epoch);
    header.set_size(content.len() as u64);
    archive.append_data(&mut header, name, content).with_context(|| format!("cannot add {name}"))
}
