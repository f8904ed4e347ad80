//! Finds or installs the engines of a fleet, and builds the server and the fleet program.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use serde::Serialize;

use crate::bench::build::{Build, build};
use crate::test::install::{SystemPackages, apt, find_in_path};
use crate::test::steps::run;
use crate::test::{postgres, redis};

/// What a run needs.
pub(super) struct Selection<'a> {
    /// Whether to build with the release profile.
    pub(super) release: bool,
    /// Whether an earlier server is needed.
    pub(super) upgrade: bool,
    /// The revision of the earlier server. The default is the first with the initial schema.
    pub(super) from: Option<&'a str>,
    /// Whether the integration tests are needed.
    pub(super) suite: bool,
}

/// The paths of all programs. The fleet program reads this structure as JSON.
#[derive(Debug, Serialize)]
pub(super) struct FleetPrograms {
    /// The program that starts the engines and runs the scenarios.
    pub(super) fleet: PathBuf,
    /// The server under test.
    server: PathBuf,
    /// The server of the earlier revision, if `rolling-upgrade` is selected.
    earlier_server: Option<PathBuf>,
    /// The integration tests, if `pgbouncer-suite` is selected.
    suite: Option<PathBuf>,
    /// The folder of the PostgreSQL programs.
    postgres: PathBuf,
    haproxy: PathBuf,
    pgbouncer: PathBuf,
    redis: PathBuf,
    /// `None` if it is not installed.
    prometheus: Option<PathBuf>,
    /// The library of faketime for programs with several threads.
    faketime: PathBuf,
    /// The user and group ids with which the engines run, if they differ from those of this process.
    user: Option<(u32, u32)>,
}

const HAPROXY: SystemPackages = SystemPackages {
    name: "haproxy",
    debian: &["haproxy"],
    other_systems: "Fedora, Arch and Alpine: haproxy, macOS: brew install haproxy",
};

const PGBOUNCER: SystemPackages = SystemPackages {
    name: "pgbouncer",
    debian: &["pgbouncer"],
    other_systems: "Fedora, Arch and Alpine: pgbouncer, macOS: brew install pgbouncer",
};

/// Unpacks packages of another Debian release into a folder.
const MMDEBSTRAP: SystemPackages = SystemPackages {
    name: "pgbouncer 1.21 or newer",
    debian: &["mmdebstrap"],
    other_systems: "install a newer pgbouncer",
};

/// The file whose first revision is the default of `--from`. No server runs on the schema of an earlier one.
const INITIAL_SCHEMA: &str = "migration/m0037_initial/mod.rs";

/// The Debian release whose pgbouncer supports transaction mode.
const PGBOUNCER_RELEASE: &str = "trixie";

const FAKETIME: SystemPackages = SystemPackages {
    name: "faketime",
    debian: &["faketime"],
    other_systems: "Fedora, Arch and Alpine: libfaketime, macOS: brew install libfaketime",
};

impl FleetPrograms {
    /// Finds or installs the engines, and builds the other programs. Copies the servers and the tests to `folder`, so that a build
    /// during the run does not replace them.
    ///
    /// # Errors
    /// Returns an error when an engine is missing and cannot be installed, or when a program does not build.
    pub(super) fn prepare(folder: &Path, selection: &Selection, install: bool) -> Result<Self> {
        let Selection { release, upgrade, from, suite } = *selection;
        let postgres = postgres::find_or_install(install)?;
        let haproxy = program(&HAPROXY, &["haproxy"], install)?;
        let pgbouncer = find_or_install_pgbouncer(folder, install)?;
        let redis = redis::find_or_install(install)?;
        // Optional, since its packages also start a service.
        let prometheus = find_in_path(&["prometheus"]);
        let faketime = find_or_install(&FAKETIME, install, find_faketime)?;
        let user = postgres::unprivileged_user()?.map(|user| (user.uid, user.gid));
        let earlier_server = upgrade.then(|| build_revision(folder, release, from)).transpose()?;
        let built = build(["--bin", "creator-api"], &Build { release, ..Build::default() })?;
        let server = folder.join("creator-api");
        copy(&built, &server)?;
        let suite = suite.then(|| build_suite(folder)).transpose()?;
        let fleet = build(["--bench", "fleet"], &Build { release, ..Build::default() })?;
        Ok(Self {
            fleet,
            server,
            earlier_server,
            suite,
            postgres,
            haproxy,
            pgbouncer,
            redis,
            prometheus,
            faketime,
            user,
        })
    }
}

/// Builds the integration tests, which start the server of the same build.
fn build_suite(folder: &Path) -> Result<PathBuf> {
    let suite = folder.join("integration-tests");
    copy(&build(["--test", "it"], &Build::default())?, &suite)?;
    Ok(suite)
}

/// Finds a pgbouncer that supports transaction mode (1.21 or newer), or unpacks one of a newer Debian release into `folder` with a
/// script that starts it with the libraries of that release.
fn find_or_install_pgbouncer(folder: &Path, install: bool) -> Result<PathBuf> {
    let script = folder.join("pgbouncer");
    if script.exists() {
        return Ok(script);
    }
    let installed = program(&PGBOUNCER, &["pgbouncer"], install)?;
    let version = Command::new(&installed).arg("--version").output().context("cannot start pgbouncer")?;
    let version = String::from_utf8_lossy(&version.stdout).into_owned();
    let minor =
        version.strip_prefix("PgBouncer 1.").and_then(|rest| rest.split('.').next()?.parse::<u32>().ok());
    if minor.is_none_or(|minor| minor >= 21) {
        return Ok(installed);
    }
    let mmdebstrap = program(&MMDEBSTRAP, &["mmdebstrap"], install)?;
    let root = folder.join(format!("debian-{PGBOUNCER_RELEASE}"));
    let _ = fs::remove_dir_all(&root);
    eprintln!("unpacking pgbouncer of Debian {PGBOUNCER_RELEASE} into {}", root.display());
    let mut unpack = Command::new(mmdebstrap);
    unpack.args(["--quiet", "--variant=extract", "--include=pgbouncer", PGBOUNCER_RELEASE]).arg(&root);
    run(unpack.arg("http://deb.debian.org/debian"))?;
    let libraries = root.join("usr/lib").join(format!("{}-linux-gnu", std::env::consts::ARCH));
    let entries = fs::read_dir(&libraries).with_context(|| format!("cannot read {}", libraries.display()))?;
    let loader = entries
        .flatten()
        .map(|entry| entry.path())
        .find(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("ld-linux")))
        .context("the unpacked packages have no program loader")?;
    let text = format!(
        "#!/bin/sh\nexec '{}' --library-path '{}' '{}' \"$@\"\n",
        loader.display(),
        libraries.display(),
        root.join("usr/sbin/pgbouncer").display()
    );
    fs::write(&script, text)
        .and_then(|()| fs::set_permissions(&script, fs::Permissions::from_mode(0o755)))?;
    fs::set_permissions(&root, fs::Permissions::from_mode(0o755))?;
    Ok(script)
}

/// Builds the server of another revision, or of the first with the initial schema, in a git worktree below `folder`, unless a
/// previous run has built it.
fn build_revision(folder: &Path, release: bool, revision: Option<&str>) -> Result<PathBuf> {
    let commit = match revision {
        Some(revision) => git(&["rev-parse", "--verify", "--quiet", &format!("{revision}^{{commit}}")])
            .with_context(|| {
                format!("the revision `{revision}` does not exist; choose another with --from")
            })?,
        None => git(&["log", "--diff-filter=A", "--max-count=1", "--format=%H", "--", INITIAL_SCHEMA])?,
    };
    let profile = if release { "release" } else { "dev" };
    let program = folder.join(format!("creator-api-{profile}-{commit}"));
    if program.exists() {
        return Ok(program);
    }
    let worktree = folder.join(format!("worktree-{commit}"));
    let path = worktree.to_string_lossy();
    if !worktree.exists() {
        git(&["worktree", "prune"])?;
        git(&["worktree", "add", "--detach", &path, &commit])?;
    }
    eprintln!("the server of revision {commit}:");
    // The same target folder, so that the dependencies are not built again.
    let target = fs::canonicalize("target")?;
    let options = Build { release, source: Some(&worktree), target: Some(&target) };
    let built = build(["--bin", "creator-api"], &options);
    let copied = built.and_then(|built| copy(&built, &program));
    git(&["worktree", "remove", "--force", &path])?;
    copied.map(|()| program)
}

/// Runs git in the current folder and returns its output.
fn git(args: &[&str]) -> Result<String> {
    let output = Command::new("git").args(args).output().context("cannot start git")?;
    if !output.status.success() {
        bail!("`git {}` failed: {}", args.join(" "), String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(String::from_utf8(output.stdout)?.trim().to_owned())
}

/// Copies a program under another name first, so that an interrupted copy is never used.
fn copy(from: &Path, to: &Path) -> Result<()> {
    let partial = to.with_extension("partial");
    fs::copy(from, &partial).with_context(|| format!("cannot copy {}", from.display()))?;
    fs::rename(&partial, to).with_context(|| format!("cannot write {}", to.display()))
}

fn program(packages: &SystemPackages, names: &[&str], install: bool) -> Result<PathBuf> {
    find_or_install(packages, install, || {
        // The folder of system programs is not in the `PATH` of every user.
        let in_system_folder =
            names.iter().map(|name| Path::new("/usr/sbin").join(name)).find(|path| path.is_file());
        find_in_path(names).or(in_system_folder)
    })
}

fn find_or_install(
    packages: &SystemPackages,
    install: bool,
    find: impl Fn() -> Option<PathBuf>,
) -> Result<PathBuf> {
    if let Some(path) = find() {
        return Ok(path);
    }
    apt(packages, install)?;
    find().with_context(|| format!("{} is installed, but was not found; add it to PATH", packages.name))
}

/// Returns the library of faketime. Debian installs it in a folder that depends on the processor.
fn find_faketime() -> Option<PathBuf> {
    let mut folders =
        vec![PathBuf::from("/usr/lib"), PathBuf::from("/usr/lib64"), PathBuf::from("/usr/local/lib")];
    let entries = fs::read_dir("/usr/lib").into_iter().flatten().flatten();
    folders.extend(entries.map(|entry| entry.path()).filter(|path| path.is_dir()));
    let candidates = folders.into_iter().map(|folder| folder.join("faketime/libfaketimeMT.so.1"));
    candidates.into_iter().find(|path| path.is_file())
}
