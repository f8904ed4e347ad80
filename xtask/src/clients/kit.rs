//! The programs of others that clients and linters are made with: where they are, and how they are got.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};

/// A program, by the registry that has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tool {
    /// Of npm.
    Node(&'static str),
    /// Of PyPI.
    Python(&'static str),
    /// Of the machine; with the package of Debian that has it.
    Machine(&'static str, &'static str),
}

impl Tool {
    /// What it is called.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Node(name) | Self::Python(name) | Self::Machine(name, _) => name,
        }
    }

    /// How to get it.
    pub fn remedy(&self) -> String {
        match self {
            Self::Node(_) => "`cargo xtask clients --install` gets it from npm".to_owned(),
            Self::Python(_) => "`cargo xtask clients --install` gets it from PyPI".to_owned(),
            Self::Machine(_, package) => format!("on Debian: `apt-get install {package}`"),
        }
    }
}

/// Where the programs are.
pub struct Kit {
    /// The folder of everything that clients need and make.
    pub folder: PathBuf,
}

impl Kit {
    /// The kit of a workspace; in its target folder, so that nothing of it is committed.
    pub fn new(workspace: &Path) -> Self {
        Self { folder: workspace.join("target/clients") }
    }

    /// A program: the kit's own, or else the machine's.
    pub fn path(&self, tool: &Tool) -> Option<PathBuf> {
        let own = match tool {
            Tool::Node(name) => Some(self.node().join("node_modules/.bin").join(name)),
            Tool::Python(name) => Some(self.python().join("bin").join(name)),
            Tool::Machine(..) => None,
        };
        own.filter(|path| path.exists()).or_else(|| {
            let folders = std::env::var_os("PATH")?;
            std::env::split_paths(&folders).map(|folder| folder.join(tool.name())).find(|path| path.exists())
        })
    }

    /// The folder of npm's packages.
    pub fn node(&self) -> PathBuf {
        self.folder.join("node")
    }

    fn python(&self) -> PathBuf {
        self.folder.join("python")
    }

    /// The search path with the kit's own programs first: generators start formatters by their names.
    pub fn search_path(&self) -> OsString {
        let own = [self.python().join("bin"), self.node().join("node_modules/.bin")];
        let others = std::env::var_os("PATH").unwrap_or_default();
        std::env::join_paths(own.into_iter().chain(std::env::split_paths(&others))).unwrap_or(others)
    }

    /// Gets what npm and PyPI have, in the versions that `tests/clients` names.
    ///
    /// # Errors
    /// When npm or Python is missing, or a registry does not answer.
    pub fn install(&self, workspace: &Path) -> anyhow::Result<()> {
        let sources = workspace.join("tests/clients");
        std::fs::create_dir_all(self.node()).context("cannot make target/clients/node")?;
        std::fs::copy(sources.join("typescript/package.json"), self.node().join("package.json"))
            .context("cannot copy package.json")?;
        run(Command::new("npm").args(["install", "--no-audit", "--no-fund"]).current_dir(self.node()))?;
        run(Command::new("python3").args(["-m", "venv"]).arg(self.python()))?;
        let pip = self.python().join("bin/pip");
        run(Command::new(pip).args(["install", "--quiet", "-r"]).arg(sources.join("python/requirements.txt")))
    }
}

fn run(command: &mut Command) -> anyhow::Result<()> {
    let shown = command.get_program().to_string_lossy().into_owned();
    let status = command.status().with_context(|| format!("cannot start {shown}"))?;
    if !status.success() {
        bail!("{shown} ended with {status}");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_of_the_kit_comes_before_one_of_the_machine() {
        let workspace = tempfile::tempdir().expect("a folder");
        let kit = Kit::new(workspace.path());
        assert_eq!(kit.path(&Tool::Node("no-such-program")), None);
        assert_ne!(kit.path(&Tool::Node("cargo")), None, "what started this test is on the search path");
        let bin = kit.node().join("node_modules/.bin");
        std::fs::create_dir_all(&bin).expect("a folder");
        std::fs::write(bin.join("cargo"), "").expect("a file");
        assert_eq!(kit.path(&Tool::Node("cargo")), Some(bin.join("cargo")));
    }
}
