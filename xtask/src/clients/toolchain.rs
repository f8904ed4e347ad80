//! Finds and installs the external programs that generate clients and lint the contract.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};

/// An external program, and where it comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tool {
    /// A package of npm.
    Node(&'static str),
    /// A package of PyPI.
    Python(&'static str),
    /// A system program, with its Debian package.
    System(&'static str, &'static str),
}

impl Tool {
    /// Returns the name of the program.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Node(name) | Self::Python(name) | Self::System(name, _) => name,
        }
    }

    /// Describes how to install the program.
    pub fn installation_hint(&self) -> String {
        match self {
            Self::Node(_) => "`cargo xtask clients --install` installs it from npm".to_owned(),
            Self::Python(_) => "`cargo xtask clients --install` installs it from PyPI".to_owned(),
            Self::System(_, package) => format!("on Debian: `apt-get install {package}`"),
        }
    }
}

/// The installed programs.
pub struct Toolchain {
    /// The folder for installed programs and generated clients.
    pub folder: PathBuf,
}

impl Toolchain {
    /// Creates the toolchain of a workspace, in its target folder.
    pub fn new(workspace: &Path) -> Self {
        Self { folder: workspace.join("target/clients") }
    }

    /// Returns the path of a program: the one in the toolchain's folder, or else the one in `PATH`. Returns `None` if
    /// it is missing.
    pub fn path(&self, tool: &Tool) -> Option<PathBuf> {
        let installed = match tool {
            Tool::Node(name) => Some(self.node().join("node_modules/.bin").join(name)),
            Tool::Python(name) => Some(self.python().join("bin").join(name)),
            Tool::System(..) => None,
        };
        installed.filter(|path| path.exists()).or_else(|| {
            let folders = std::env::var_os("PATH")?;
            std::env::split_paths(&folders).map(|folder| folder.join(tool.name())).find(|path| path.exists())
        })
    }

    /// Returns the folder of the packages from npm.
    pub fn node(&self) -> PathBuf {
        self.folder.join("node")
    }

    /// Returns the folder of the Python environment with the packages from PyPI.
    fn python(&self) -> PathBuf {
        self.folder.join("python")
    }

    /// Returns `PATH` with the toolchain's programs first. Some generators find formatters in `PATH`.
    pub fn search_path(&self) -> OsString {
        let installed = [self.python().join("bin"), self.node().join("node_modules/.bin")];
        let system_path = std::env::var_os("PATH").unwrap_or_default();
        std::env::join_paths(installed.into_iter().chain(std::env::split_paths(&system_path)))
            .unwrap_or(system_path)
    }

    /// Installs the packages of npm and PyPI, in the versions specified in `tests/clients`.
    ///
    /// # Errors
    /// Returns an error when npm or Python is missing, or a package cannot be downloaded.
    pub fn install(&self, workspace: &Path) -> anyhow::Result<()> {
        let sources = workspace.join("tests/clients");
        std::fs::create_dir_all(self.node()).context("cannot create target/clients/node")?;
        std::fs::copy(sources.join("typescript/package.json"), self.node().join("package.json"))
            .context("cannot copy package.json")?;
        run(Command::new("npm").args(["install", "--no-audit", "--no-fund"]).current_dir(self.node()))?;
        run(Command::new("python3").args(["-m", "venv"]).arg(self.python()))?;
        let pip = self.python().join("bin/pip");
        run(Command::new(pip).args(["install", "--quiet", "-r"]).arg(sources.join("python/requirements.txt")))
    }
}

fn run(command: &mut Command) -> anyhow::Result<()> {
    let program = command.get_program().to_string_lossy().into_owned();
    let status = command.status().with_context(|| format!("cannot start {program}"))?;
    if !status.success() {
        bail!("{program} failed: {status}");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_installed_program_is_preferred_to_a_system_program() {
        let workspace = tempfile::tempdir().expect("a temporary folder");
        let toolchain = Toolchain::new(workspace.path());
        assert_eq!(toolchain.path(&Tool::Node("no-such-program")), None);
        assert_ne!(toolchain.path(&Tool::Node("cargo")), None, "cargo is in PATH");
        let bin = toolchain.node().join("node_modules/.bin");
        std::fs::create_dir_all(&bin).expect("a temporary folder");
        std::fs::write(bin.join("cargo"), "").expect("the file is writable");
        assert_eq!(toolchain.path(&Tool::Node("cargo")), Some(bin.join("cargo")));
    }
}
