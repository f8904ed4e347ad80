//! Runs git.

mod index_links;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context as _, Result, bail, ensure};

use self::index_links::IndexLinks;

const CANNOT_START: &str =
    "cannot start `git`, which is needed to read a git revision; specify a file instead";

/// Runs git in a directory. Returns its standard output, or `None` when it exits with a failure.
///
/// # Errors
/// Returns an error when git cannot be started.
pub(crate) fn run(directory: &Path, args: &[&str]) -> Result<Option<Vec<u8>>> {
    let output = Command::new("git").args(args).current_dir(directory).output().context(CANNOT_START)?;
    Ok(output.status.success().then_some(output.stdout))
}

/// Returns the contents of a file in a git revision, or `None` if git cannot find it or it is a folder. `name` has the
/// form `REVISION:PATH`. `directory` is in a git repository.
///
/// # Errors
/// Returns an error when git cannot be started or ends unexpectedly, when the file is larger than
/// [`contract::MAX_CONTRACT_BYTES`], or when it is a symbolic link whose target is not in the git revision.
pub(crate) fn contents(directory: &Path, name: &str) -> Result<Option<Vec<u8>>> {
    FileReader::start(directory)?.read(name)
}

/// Whether a name is that of a git revision.
pub(crate) fn is_revision(directory: &Path, revision: &str) -> bool {
    let name = format!("{revision}^{{commit}}");
    matches!(run(directory, &["rev-parse", "--verify", "--quiet", "--end-of-options", &name]), Ok(Some(_)))
}

/// Checks that a git revision exists. The index, whose name is empty, always does.
///
/// # Errors
/// Returns an error with a remedy when the directory is not in a git repository or the git revision does not exist.
pub(crate) fn ensure_revision(directory: &Path, revision: &str) -> Result<()> {
    if run(directory, &["rev-parse", "--git-dir"])?.is_none() {
        bail!("`{revision}` is not a file, and the folder is not a git repository; specify a file");
    }
    if revision.is_empty() || is_revision(directory, revision) {
        return Ok(());
    }
    let shallow = run(directory, &["rev-parse", "--is-shallow-repository"])?.unwrap_or_default();
    if shallow.starts_with(b"true") {
        bail!(
            "git revision `{revision}` is missing from this shallow clone; run `git fetch --unshallow origin`, or set \
             `fetch-depth: 0` in the checkout step of CI"
        );
    }
    bail!("`{revision}` is neither a file nor a git revision; run `git fetch`, or correct the name")
}

/// Returns the commit id of the merge base of HEAD and a branch, or `None` when git cannot find it.
pub(crate) fn merge_base(directory: &Path, branch: &str) -> Option<String> {
    let commit = run(directory, &["merge-base", "HEAD", branch]).ok()??;
    Some(String::from_utf8(commit).ok()?.trim().to_owned())
}

/// A git process that returns the contents of many files.
#[derive(Debug)]
pub(crate) struct FileReader {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    directory: PathBuf,
    /// The symbolic links of the index, once a file of the index was read.
    index_links: Option<IndexLinks>,
}

impl FileReader {
    /// Starts git in a directory.
    ///
    /// # Errors
    /// Returns an error when git cannot be started.
    pub(crate) fn start(directory: &Path) -> Result<Self> {
        let mut command = Command::new("git");
        command.args(["cat-file", "--batch", "--follow-symlinks"]).current_dir(directory);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut process = command.spawn().context(CANNOT_START)?;
        let input = process.stdin.take().context(CANNOT_START)?;
        let output = BufReader::new(process.stdout.take().context(CANNOT_START)?);
        Ok(Self { process, input, output, directory: directory.to_owned(), index_links: None })
    }

    /// Returns the contents of a file in a git revision, as [`contents`] does.
    ///
    /// # Errors
    /// The same, except that git was already started.
    pub(crate) fn read(&mut self, name: &str) -> Result<Option<Vec<u8>>> {
        if name.contains('\n') {
            return Ok(None);
        }
        let name = &self.without_work_tree(name)?;
        // git follows symbolic links in a revision, but not in the index.
        let Some(path) = name.strip_prefix(":0:").or_else(|| name.strip_prefix(':')) else {
            return self.read_object(name);
        };
        let links = match self.index_links.take() {
            Some(links) => links,
            None => IndexLinks::read(&self.directory)?,
        };
        let target = links.follow(path, name, |link| self.read_object(&format!(":0:{link}")));
        self.index_links = Some(links);
        let Some(target) = target? else { return self.read_object(name) };
        let contents = self.read_object(&format!(":0:{target}"))?;
        ensure!(contents.is_some(), "{} is a symbolic link to a file that does not exist", shown(name));
        Ok(contents)
    }

    /// Returns the name without a leading `./` of its path if the directory is in no work tree, as in a bare repository: git
    /// then rejects paths that are relative to the directory.
    fn without_work_tree(&self, name: &str) -> Result<String> {
        if !name.contains(":./") {
            return Ok(name.to_owned());
        }
        let has_work_tree = run(&self.directory, &["rev-parse", "--is-inside-work-tree"])?;
        Ok(if has_work_tree.as_deref() == Some(b"true\n") {
            name.to_owned()
        } else {
            name.replacen(":./", ":", 1)
        })
    }

    /// Returns the contents of a file in a git revision or the index. git follows symbolic links in a git revision.
    fn read_object(&mut self, name: &str) -> Result<Option<Vec<u8>>> {
        writeln!(self.input, "{name}").context("git ended unexpectedly")?;
        self.input.flush().context("git ended unexpectedly")?;
        let mut header = String::new();
        self.output.read_line(&mut header).context("git ended unexpectedly")?;
        ensure!(header.ends_with('\n'), "git ended unexpectedly");
        // For a file: its id, `blob` and its size. For a missing file: its name and `missing`.
        let mut fields = header.trim_end().rsplit(' ');
        let size = fields.next().and_then(|size| size.parse::<u64>().ok());
        let kinds = ["blob", "tree", "commit", "tag", "symlink", "dangling", "loop", "notdir"];
        let kind = fields.next().filter(|kind| kinds.contains(kind));
        let (Some(size), Some(kind)) = (size, kind) else { return Ok(None) };
        let shown_name = shown(name);
        if size > contract::MAX_CONTRACT_BYTES {
            std::io::copy(&mut self.output.by_ref().take(size + 1), &mut std::io::sink())
                .context("git ended unexpectedly")?;
            bail!("{shown_name} is larger than the maximum of 32 MiB");
        }
        // The contents are followed by a line break.
        let mut contents = Vec::new();
        self.output.by_ref().take(size + 1).read_to_end(&mut contents).context("git ended unexpectedly")?;
        contents.pop();
        match kind {
            "symlink" => bail!("{shown_name} is a symbolic link that leads out of the repository"),
            "dangling" | "loop" => bail!("{shown_name} is a symbolic link to a file that does not exist"),
            _ => {}
        }
        Ok((kind == "blob").then_some(contents))
    }
}

/// Returns the name of a file in messages.
fn shown(name: &str) -> String {
    name.replacen(":./", ":", 1)
}

impl Drop for FileReader {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
