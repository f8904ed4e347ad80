//! `cargo xtask dist`: builds what operators install: an archive, a Debian package, the files for containers, a software bill of
//! materials, and checksums.
//!
//! The files that do not depend on a build are in `xtask/dist`. With the same program and the same `SOURCE_DATE_EPOCH`, all
//! files are identical, byte for byte.

mod archive;
mod check;
mod debian;
mod dependencies;
mod licenses;
mod sbom;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use regex::{Captures, Regex};
use sha2::{Digest as _, Sha256};

use crate::TaskOutcome;
use crate::bench::build::{self, Build};
use crate::test::steps::run as run_command;

/// The folder of the results, in the workspace.
const OUTPUT: &str = "target/dist";
/// The folder of the unpacked archive, in the workspace. The manifest names it in `package.metadata.deb.assets`.
const FILES: &str = "target/dist/files";
/// The files for containers, in the workspace.
const CONTAINER_FILES: [&str; 3] = ["Containerfile", "compose.yaml", "haproxy.cfg"];
/// The documents for operators and the files for monitoring, in the archive and in the Debian package.
const OPERATOR_FILES: [&str; 5] =
    ["OPERATIONS.md", "RUNBOOK.md", "alerts.yaml", "alerts_test.yaml", "grafana.json"];
/// The folder of these files and of the Debian units, in the workspace.
const SOURCE: &str = "xtask/dist";

/// Build the archive, the Debian package, the SBOM and the other files that operators install.
#[derive(Debug, clap::Args)]
pub(crate) struct DistArgs {
    /// Build with the dev profile, to try this command. The program is slow
    #[arg(long)]
    dev: bool,
    /// Also test the package: install, call, upgrade under load, back up and remove it in a Debian container with systemd.
    /// Needs root. Skipped with a message if a program is missing
    #[arg(long)]
    check: bool,
}

/// What is built.
struct Release {
    /// The version of the program.
    version: String,
    /// The target, such as `x86_64-unknown-linux-gnu`.
    target: String,
    /// The time of all files, in seconds since 1970.
    epoch: u64,
}

/// Builds all files and prints their names and sizes.
///
/// # Errors
/// Returns an error when a program is missing or fails, or when a file cannot be written.
pub(crate) fn run(args: &DistArgs, workspace: &Path) -> Result<TaskOutcome> {
    std::env::set_current_dir(workspace).context("cannot change to the folder of the workspace")?;
    debian::require_tool()?;
    let program = build::build(["--bin", "creator-api"], &Build { release: !args.dev, ..Build::default() })?;
    let release = Release::new(&program)?;
    let dependencies = dependencies::Dependencies::of_program(&release.target)?;
    remove_output()?;
    prepare_files(&program, &dependencies)?;
    let archive = archive::write(&release)?;
    let sbom = sbom::write(&release, &dependencies)?;
    let package = debian::write(&release, "1")?;
    let mut files = vec![archive, package.clone(), sbom];
    for name in CONTAINER_FILES {
        let copy = Path::new(OUTPUT).join(name);
        fs::copy(Path::new(SOURCE).join(name), &copy).with_context(|| format!("cannot copy {name}"))?;
        files.push(copy);
    }
    files.push(write_checksums(&files)?);
    for file in &files {
        println!("{:>12} {}", fs::metadata(file)?.len(), file.display());
    }
    if args.check {
        return check::run(&release, &package);
    }
    Ok(TaskOutcome::Success)
}

impl Release {
    fn new(program: &Path) -> Result<Self> {
        let version = output(Command::new(program).arg("--version"))?;
        let version = version.split_whitespace().nth(1).context("the program prints no version")?;
        let compiler = output(Command::new("rustc").arg("-vV"))?;
        let target = compiler.lines().find_map(|line| line.strip_prefix("host: "));
        let epoch = match std::env::var("SOURCE_DATE_EPOCH") {
            Ok(epoch) => epoch,
            // The time of the commit.
            Err(_) => output(Command::new("git").args(["log", "-1", "--format=%ct"]))?,
        };
        Ok(Self {
            version: version.to_owned(),
            target: target.context("`rustc` prints no target")?.to_owned(),
            epoch: epoch.trim().parse().context("SOURCE_DATE_EPOCH is not a number of seconds")?,
        })
    }
}

/// Runs a command and returns its output.
fn output(command: &mut Command) -> Result<String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.output().with_context(|| format!("cannot start `{name}`"))?;
    if !output.status.success() {
        bail!("`{name}` failed: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    String::from_utf8(output.stdout).with_context(|| format!("the output of `{name}` is not UTF-8"))
}

/// Removes the results of the previous run.
fn remove_output() -> Result<()> {
    match fs::remove_dir_all(OUTPUT) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove {OUTPUT}"))
        }
        _ => Ok(()),
    }
}

/// Creates the files of the archive: the program without symbols, its manual pages and completion scripts, the licenses, README,
/// the documents for operators, and the files for monitoring.
fn prepare_files(program: &Path, dependencies: &dependencies::Dependencies) -> Result<()> {
    let files = Path::new(FILES);
    let [bin, man, completions] = ["bin", "man", "completions"].map(|name| files.join(name));
    for folder in [&bin, &man, &completions] {
        fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    }
    let copy = bin.join("creator-api");
    fs::copy(program, &copy).context("cannot copy the program")?;
    run_command(Command::new("strip").arg("--strip-all").arg(&copy))?;
    run_command(Command::new(&copy).arg("man").arg(&man))?;
    for (shell, name) in [("bash", "creator-api.bash"), ("zsh", "_creator-api"), ("fish", "creator-api.fish")]
    {
        fs::write(completions.join(name), output(Command::new(&copy).args(["completions", shell]))?)?;
    }
    fs::write(files.join("LICENSES.txt"), licenses::text(dependencies)?)?;
    fs::write(files.join("README.md"), with_package_links(&fs::read_to_string("README.md")?))?;
    for name in OPERATOR_FILES {
        let text = fs::read_to_string(Path::new(SOURCE).join(name));
        let text = text.with_context(|| format!("cannot read {name}"))?;
        let text = if name.ends_with(".md") { with_package_links(&text) } else { text };
        fs::write(files.join(name), text)?;
    }
    Ok(())
}

/// Corrects the links between the documents, which are in one folder in a package. Links to other files of the repository become text.
fn with_package_links(text: &str) -> String {
    let text = text.replace(&format!("]({SOURCE}/"), "](").replace("](../../README.md", "](README.md");
    let link =
        Regex::new(r"\[([^\]]+)\]\(([^)#:]+)(#[^)]*)?\)").unwrap_or_else(|error| unreachable!("{error}"));
    let replacement = |found: &Captures<'_>| {
        let is_packaged = found[2] == *"README.md" || OPERATOR_FILES.contains(&&found[2]);
        found[if is_packaged { 0 } else { 1 }].to_owned()
    };
    link.replace_all(&text, replacement).into_owned()
}

/// Writes the SHA-256 of each file, in the format of `sha256sum --check`.
fn write_checksums(files: &[PathBuf]) -> Result<PathBuf> {
    let mut lines = String::new();
    for file in files {
        let name = file.file_name().context("a file has no name")?.to_string_lossy();
        lines.push_str(&format!("{}  {name}\n", sha256(&fs::read(file)?)));
    }
    let path = Path::new(OUTPUT).join("SHA256SUMS");
    fs::write(&path, lines)?;
    Ok(path)
}

/// Returns the SHA-256 in hexadecimal digits.
fn sha256(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}

#[cfg(test)]
#[path = "../../../tests/it/support/skip.rs"]
mod skip;

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs `systemd-analyze` with these arguments and a folder with copies of the units. Returns its output if it fails.
    fn analyze(units: &Path, args: &[&str], names: &[&str]) -> Option<String> {
        let mut command = Command::new("systemd-analyze");
        command.args(args).args(names.iter().map(|name| units.join(name)));
        let output = command.env("SYSTEMD_LOG_LEVEL", "warning").output().unwrap();
        let text =
            [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
        (!output.status.success() || (args[0] == "verify" && !text.is_empty())).then_some(text)
    }

    #[test]
    fn systemd_accepts_the_units_and_their_restrictions() {
        if crate::test::install::find_in_path(&["systemd-analyze"]).is_none() {
            return skip::skip("systemd-analyze is not installed");
        }
        let source = crate::workspace().join(SOURCE).join("systemd");
        let copies = tempfile::tempdir().unwrap();
        let mut names = Vec::new();
        for entry in fs::read_dir(source).unwrap() {
            let entry = entry.unwrap();
            // The program is not installed here.
            let unit =
                fs::read_to_string(entry.path()).unwrap().replace("=/usr/bin/creator-api ", "=/bin/true ");
            fs::write(copies.path().join(entry.file_name()), unit).unwrap();
            names.push(entry.file_name().into_string().unwrap());
        }
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        assert_eq!(names.len(), 5);
        assert_eq!(analyze(copies.path(), &["verify", "--man=no"], &names), None);
        for service in names.iter().filter(|name| name.ends_with(".service")) {
            assert_eq!(
                analyze(copies.path(), &["security", "--offline=true", "--threshold=30"], &[service]),
                None
            );
        }
    }

    #[test]
    fn the_debian_package_contains_the_runbook_and_the_files_for_monitoring() {
        let manifest = fs::read_to_string(crate::workspace().join("Cargo.toml")).unwrap();
        for name in OPERATOR_FILES {
            let asset = format!("[\"{FILES}/{name}\", \"usr/share/doc/creator-api/\", \"644\"],\n");
            assert!(manifest.contains(&asset), "{asset}");
            assert!(crate::workspace().join(SOURCE).join(name).is_file(), "{name}");
        }
    }

    #[test]
    fn links_between_documents_lead_to_the_same_folder_in_a_package() {
        let links = "[a](xtask/dist/RUNBOOK.md#restore) [b](../../README.md#commands) [c](RUNBOOK.md) [`d`](src/README.md) \
                     [e](#e) [f](https://example.com)";
        let expected = "[a](RUNBOOK.md#restore) [b](README.md#commands) [c](RUNBOOK.md) `d` [e](#e) [f](https://example.com)";
        assert_eq!(with_package_links(links), expected);
    }

    #[test]
    fn the_archive_is_the_same_for_the_same_files() {
        let folder = tempfile::tempdir().unwrap();
        let files = folder.path().join("files");
        fs::create_dir_all(files.join("bin")).unwrap();
        fs::write(files.join("bin/creator-api"), "program").unwrap();
        fs::write(files.join("README.md"), "text").unwrap();
        let write = |name: &str| {
            let path = folder.path().join(name);
            archive::write_to(&path, &files, "creator-api-1.0.0", 1_700_000_000).unwrap();
            fs::read(path).unwrap()
        };
        let first = write("first.tar.gz");
        // A file that is written again has another time.
        fs::write(files.join("README.md"), "text").unwrap();
        fs::File::open(files.join("README.md")).unwrap().set_modified(std::time::UNIX_EPOCH).unwrap();
        assert_eq!(first, write("second.tar.gz"));
        let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(first.as_slice()));
        let entries: Vec<(String, u32)> = archive
            .entries()
            .unwrap()
            .map(|entry| {
                let entry = entry.unwrap();
                (entry.path().unwrap().display().to_string(), entry.header().mode().unwrap())
            })
            .collect();
        let expected = [
            ("creator-api-1.0.0/", 0o755),
            ("creator-api-1.0.0/README.md", 0o644),
            ("creator-api-1.0.0/bin/", 0o755),
            ("creator-api-1.0.0/bin/creator-api", 0o755),
        ];
        assert_eq!(entries, expected.map(|(name, mode)| (name.to_owned(), mode)));
    }
}
