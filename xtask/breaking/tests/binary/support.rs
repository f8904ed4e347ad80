//! Folders, git repositories and runs of the program.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The program.
pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_openapi-gate");

/// A contract with one operation.
pub(crate) const CONTRACT: &str = "openapi: 3.1.0
info: {title: T, version: 1.0.0}
paths:
  /a:
    get:
      operationId: getA
      security: [{key: []}]
      responses:
        '200':
          description: Fine.
          content:
            application/json:
              schema:
                type: object
                required: [name]
                properties:
                  name: {type: string, maxLength: 10}
components:
  securitySchemes:
    key: {type: http, scheme: bearer}
";

/// The contract with a change that breaks clients.
pub(crate) fn breaking_contract() -> String {
    CONTRACT.replace("maxLength: 10", "maxLength: 20")
}

/// What a run of the program printed, and its exit code.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) code: Option<i32>,
    pub(crate) output: String,
    pub(crate) errors: String,
}

impl From<Output> for Outcome {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            output: String::from_utf8_lossy(&output.stdout).into_owned(),
            errors: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

/// A temporary folder in which the program runs.
pub(crate) struct Folder(tempfile::TempDir);

impl Folder {
    /// Creates an empty folder.
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary folder can be created"))
    }

    /// Creates an empty git repository with the branch `main`.
    pub(crate) fn repository() -> Self {
        let folder = Self::new();
        folder.git(&["init", "--quiet", "--initial-branch", "main"]);
        folder.git(&["config", "user.name", "T"]);
        folder.git(&["config", "user.email", "t@example.com"]);
        folder.git(&["config", "commit.gpgsign", "false"]);
        folder
    }

    /// Returns the path of the folder.
    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// Writes a file.
    pub(crate) fn write(&self, name: &str, contents: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().expect("the file is in a folder"))
            .expect("the folder can be created");
        fs::write(&path, contents).expect("the file can be written");
        path
    }

    /// Runs git, which must succeed. Returns its output.
    pub(crate) fn git(&self, args: &[&str]) -> String {
        let outcome = Outcome::from(self.command("git").args(args).output().expect("git can be started"));
        assert_eq!(outcome.code, Some(0), "git {args:?}: {}{}", outcome.output, outcome.errors);
        outcome.output
    }

    /// Commits everything.
    pub(crate) fn commit(&self, message: &str) {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--no-verify", "--message", message]);
    }

    /// Runs the program.
    pub(crate) fn run(&self, args: &[&str]) -> Outcome {
        self.command(PROGRAM).args(args).output().expect("the program can be started").into()
    }

    /// Runs the program with variables of the environment.
    pub(crate) fn run_with_variables(&self, args: &[&str], variables: &[(&str, &str)]) -> Outcome {
        let mut command = self.command(PROGRAM);
        command.args(args).envs(variables.iter().copied());
        command.output().expect("the program can be started").into()
    }

    /// Runs the program with an input.
    pub(crate) fn run_with_input(&self, args: &[&str], input: &str) -> Outcome {
        let mut command = self.command(PROGRAM);
        command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program can be started");
        let mut pipe = child.stdin.take().expect("the input is a pipe");
        // The program can end before it reads everything.
        let _ = pipe.write_all(input.as_bytes());
        drop(pipe);
        child.wait_with_output().expect("the program ends").into()
    }

    /// Runs a shell script with the program on the `PATH`.
    pub(crate) fn run_script(&self, script: &str, variables: &[(&str, &str)]) -> Outcome {
        let mut command = self.command("sh");
        command.args(["-e", "-c", script]).envs(variables.iter().copied());
        command.output().expect("the shell can be started").into()
    }

    /// Returns a command that runs in the folder, without settings of the user.
    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        let folder_of_program = Path::new(PROGRAM).parent().expect("the program is in a folder");
        let path = format!("{}:{}", folder_of_program.display(), std::env::var("PATH").unwrap_or_default());
        command.current_dir(self.path()).env("PATH", path).stdin(Stdio::null());
        command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null");
        for variable in ["GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE", "CI"] {
            command.env_remove(variable);
        }
        command
    }
}
