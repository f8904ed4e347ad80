//! Runs the built program as a user does: as a process, with flags and variables.

use std::process::{Output, Stdio};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStderr, ChildStdout, Command};

use crate::support::{Key, TestApp};

/// The timeout of a process.
const TIMEOUT: Duration = Duration::from_secs(120);

/// A folder, a database, and the program.
pub struct Machine {
    /// Used to read what the processes wrote. Its own server is stopped.
    pub app: TestApp,
}

/// The output and exit code of a process.
#[derive(Debug)]
pub struct CommandOutput {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Machine {
    pub async fn new() -> Self {
        let mut app = TestApp::start().await;
        app.stop().await;
        Self { app }
    }

    /// Returns the program's command with these arguments, in the machine's folder, on its database, and with no other
    /// variables.
    pub fn command(&self, args: &[&str]) -> Command {
        self.on_database(self.command_without_config(args))
    }

    /// Like [`command`](Self::command), run by a shell after this shell command.
    pub fn command_after(&self, first: &str, args: &[&str]) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", &format!("{first} && exec \"$0\" \"$@\""), env!("CARGO_BIN_EXE_creator-api")]);
        command.args(args);
        self.on_database(self.isolated(command))
    }

    /// Returns the program's command without any configuration.
    pub fn command_without_config(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_creator-api"));
        command.args(args);
        self.isolated(command)
    }

    fn isolated(&self, mut command: Command) -> Command {
        command.current_dir(self.app.folder()).env_clear().kill_on_drop(true);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn on_database(&self, mut command: Command) -> Command {
        command.env("CREATOR_API_DATA_DIR", self.app.folder()).env("DATABASE_URL", self.app.url());
        command
    }

    /// Runs the program with these arguments until it exits.
    pub async fn run(&self, args: &[&str]) -> CommandOutput {
        self.run_to_end(self.command(args)).await
    }

    /// Runs a command until it exits.
    pub async fn run_to_end(&self, mut command: Command) -> CommandOutput {
        let child = command.spawn().expect("the program starts");
        self.command_output(
            tokio::time::timeout(TIMEOUT, child.wait_with_output())
                .await
                .expect("it ends")
                .expect("its output"),
        )
    }

    /// Runs the program with this standard input.
    pub async fn run_with_input(&self, args: &[&str], input: &str) -> CommandOutput {
        let mut child = self.command(args).stdin(Stdio::piped()).spawn().expect("the program starts");
        let mut stdin = child.stdin.take().expect("an input");
        stdin.write_all(input.as_bytes()).await.expect("it reads");
        drop(stdin);
        self.command_output(child.wait_with_output().await.expect("its output"))
    }

    fn command_output(&self, output: Output) -> CommandOutput {
        let text = |bytes| self.without_paths(&String::from_utf8(bytes).expect("output is UTF-8"));
        CommandOutput { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }

    /// Replaces the database and the folder in a text, which differ from run to run.
    pub fn without_paths(&self, text: &str) -> String {
        let folder = self.app.folder().display().to_string();
        text.replace(&self.app.app.db.location(), "DATABASE").replace(&folder, "FOLDER")
    }

    /// Starts `serve`, or another command that listens, on a free port.
    pub async fn serve(&self, args: &[&str]) -> ServerProcess {
        let mut command = self.command(args);
        command.env("CREATOR_API_LISTEN", "127.0.0.1:0");
        self.listen(command).await
    }

    /// Starts a command that listens, and reads its URL from its first line.
    pub async fn listen(&self, mut command: Command) -> ServerProcess {
        let mut child = command.spawn().expect("the program starts");
        let mut stdout = BufReader::new(child.stdout.take().expect("an output"));
        let stderr = BufReader::new(child.stderr.take().expect("an output"));
        let mut line = String::new();
        let read = stdout.read_line(&mut line);
        tokio::time::timeout(TIMEOUT, read).await.expect("a line comes in time").expect("a line");
        let mut serving = ServerProcess { child, stdout, stderr, base: String::new() };
        match line.trim_end().strip_prefix("listening on ") {
            Some(base) => base.clone_into(&mut serving.base),
            None => panic!("{line:?} {}", serving.remaining_stderr().await),
        }
        serving
    }

    /// Creates a workspace and a key with these scopes by commands, and returns the key's secret.
    pub async fn key(&self, scopes: &str) -> String {
        let owner = ["--owner-email", "owner@acme.example"];
        self.run(&[&["workspaces", "create", "--key", "acme", "--name", "Acme"][..], &owner].concat()).await;
        let args = ["keys", "create", "--workspace", "acme", "--name", "story", "--scope", scopes];
        let created = self.run(&args).await;
        assert_eq!(created.code, Some(0), "{created:?}");
        created.stdout.trim_end().to_owned()
    }
}

/// A running process that listens.
pub struct ServerProcess {
    pub child: Child,
    pub base: String,
    pub stdout: BufReader<ChildStdout>,
    stderr: BufReader<ChildStderr>,
}

impl ServerProcess {
    /// Sends a signal such as `TERM` or `KILL`.
    pub async fn signal(&self, name: &str) {
        let pid = self.child.id().expect("it runs").to_string();
        let sent = Command::new("kill").args([&format!("-{name}"), &pid]).status().await;
        assert!(sent.expect("kill is there").success());
    }

    /// Stops the process with SIGTERM, waits for its end, and returns the exit code.
    pub async fn stop(mut self) -> Option<i32> {
        self.signal("TERM").await;
        self.wait_for_exit().await
    }

    /// Waits for the end of the process and returns the exit code.
    pub async fn wait_for_exit(&mut self) -> Option<i32> {
        tokio::time::timeout(TIMEOUT, self.child.wait()).await.expect("it ends").expect("it ends").code()
    }

    /// Waits for a line on stderr that contains this text.
    pub async fn wait_for_log(&mut self, args: &str) {
        let mut line = String::new();
        while !line.contains(args) {
            line.clear();
            let read = tokio::time::timeout(TIMEOUT, self.stderr.read_line(&mut line))
                .await
                .expect("a line in time");
            assert_ne!(read.expect("a line"), 0, "it ended without printing {args:?}");
        }
    }

    /// Waits for the end of the process and returns the rest of its standard error.
    async fn remaining_stderr(&mut self) -> String {
        let mut text = String::new();
        self.stderr.read_to_string(&mut text).await.expect("its output");
        text
    }

    /// Returns a key for this server.
    pub fn key(&self, app: &TestApp, secret: &str) -> Key {
        Key { secret: secret.to_owned(), id: String::new(), base: self.base.clone(), http: app.http.clone() }
    }
}
