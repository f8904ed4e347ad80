//! Runs the built program as a separate process, with arguments and environment variables.

use std::process::{Output, Stdio};
use std::time::Duration;

use foundation::secret::MasterKeys;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStderr, ChildStdout, Command};

use super::masked_ids::mask_ids;
use super::{TestApp, TestKey};

/// The maximum time that a test waits for a process: for its end, or for a line of output.
pub const TIMEOUT: Duration = Duration::from_secs(120);

/// The built program with its own data folder and database.
pub struct TestProgram {
    /// Reads what the processes have written. The server in it is stopped.
    pub app: TestApp,
    /// The database of the processes, if it is not that of `app`.
    pub database_url: Option<String>,
}

/// The output and exit code of a process.
#[derive(Debug)]
pub struct CommandOutput {
    /// The exit code; `None` if a signal ended the process.
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl TestProgram {
    /// Creates a data folder with a master key, and a migrated database.
    pub async fn new() -> Self {
        let mut app = TestApp::start().await;
        app.stop().await;
        MasterKeys::create(app.folder()).expect("a master key is created");
        Self { app, database_url: None }
    }

    /// Builds a command that runs the program with these arguments. The only environment variables are those of the
    /// data folder and the database.
    pub fn command(&self, args: &[&str]) -> Command {
        self.on_database(self.command_without_config(args))
    }

    /// Like [`command`](Self::command), but a shell runs `shell_command` first, for example to set a limit.
    pub fn command_after(&self, shell_command: &str, args: &[&str]) -> Command {
        let mut command = Command::new("sh");
        command.args([
            "-c",
            &format!("{shell_command} && exec \"$0\" \"$@\""),
            env!("CARGO_BIN_EXE_creator-api"),
        ]);
        command.args(args);
        self.on_database(self.isolated(command))
    }

    /// Builds a command that runs the program with these arguments and without environment variables.
    pub fn command_without_config(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_creator-api"));
        command.args(args);
        self.isolated(command)
    }

    /// Runs the command in the data folder, without environment variables or input, and captures its output.
    fn isolated(&self, mut command: Command) -> Command {
        command.current_dir(self.app.folder()).env_clear().kill_on_drop(true);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Sets the environment variables of the data folder and the database.
    fn on_database(&self, mut command: Command) -> Command {
        let url = self.database_url.clone().unwrap_or_else(|| self.app.database_url());
        command.env("CREATOR_API_DATA_DIR", self.app.folder()).env("DATABASE_URL", url);
        command
    }

    /// Runs the program with these arguments until it exits.
    pub async fn run(&self, args: &[&str]) -> CommandOutput {
        self.run_command(self.command(args)).await
    }

    /// Runs a command until it exits.
    pub async fn run_command(&self, mut command: Command) -> CommandOutput {
        let child = command.spawn().expect("the program starts");
        self.command_output(
            tokio::time::timeout(TIMEOUT, child.wait_with_output())
                .await
                .expect("the program exits in time")
                .expect("the output can be read"),
        )
    }

    /// Runs the program with these arguments and this standard input until it exits.
    pub async fn run_with_input(&self, args: &[&str], input: &str) -> CommandOutput {
        let mut child = self.command(args).stdin(Stdio::piped()).spawn().expect("the program starts");
        let mut stdin = child.stdin.take().expect("stdin is piped");
        let output = tokio::time::timeout(TIMEOUT, async {
            stdin.write_all(input.as_bytes()).await.expect("the program reads stdin");
            drop(stdin);
            child.wait_with_output().await.expect("the output can be read")
        });
        self.command_output(output.await.expect("the program exits in time"))
    }

    fn command_output(&self, output: Output) -> CommandOutput {
        let text = |bytes| self.without_paths(&String::from_utf8(bytes).expect("output is UTF-8"));
        CommandOutput { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }

    /// Replaces the location of the database and the path of the folder, which differ from run to run.
    pub fn without_paths(&self, text: &str) -> String {
        let folder = self.app.folder().display().to_string();
        text.replace(&self.app.app.db.location(), "DATABASE").replace(&folder, "FOLDER")
    }

    /// Starts `serve` or another command that listens, on a free port.
    pub async fn serve(&self, args: &[&str]) -> ServerProcess {
        let mut command = self.command(args);
        command.env("CREATOR_API_LISTEN", "127.0.0.1:0");
        self.start_server(command).await
    }

    /// Starts a command that listens, and reads its URL from the first line of its output.
    pub async fn start_server(&self, mut command: Command) -> ServerProcess {
        let mut child = command.spawn().expect("the program starts");
        let mut stdout = BufReader::new(child.stdout.take().expect("stdout is piped"));
        let stderr = BufReader::new(child.stderr.take().expect("stderr is piped"));
        let mut line = String::new();
        let read = stdout.read_line(&mut line);
        tokio::time::timeout(TIMEOUT, read).await.expect("a line in time").expect("stdout can be read");
        let mut server = ServerProcess { child, stdout, stderr, base_url: String::new() };
        match line.trim_end().strip_prefix("listening on ") {
            Some(base_url) => base_url.clone_into(&mut server.base_url),
            None => panic!("the first line is {line:?}; stderr: {}", server.remaining_stderr().await),
        }
        server
    }

    /// Creates the workspace `acme` and an API key with these scopes by commands, and returns the key's secret. The
    /// workspace may already exist.
    pub async fn create_key(&self, scopes: &str) -> String {
        let owner = ["--owner-email", "owner@acme.example"];
        self.run(&[&["workspaces", "create", "--key", "acme", "--name", "Acme"][..], &owner].concat()).await;
        let args = ["keys", "create", "--workspace", "acme", "--name", "billing", "--scope", scopes];
        let created = self.run(&args).await;
        assert_eq!(created.code, Some(0), "{created:?}");
        created.stdout.trim_end().to_owned()
    }
}

/// A running process of the program that listens.
pub struct ServerProcess {
    pub child: Child,
    /// The URL of the server, without a slash at the end.
    pub base_url: String,
    /// The output after the first line.
    pub stdout: BufReader<ChildStdout>,
    stderr: BufReader<ChildStderr>,
}

impl ServerProcess {
    /// Sends a signal such as `TERM` or `KILL`.
    pub async fn signal(&self, name: &str) {
        let pid = self.child.id().expect("the process runs").to_string();
        let status = Command::new("kill").args([&format!("-{name}"), &pid]).status().await;
        assert!(status.expect("`kill` runs").success());
    }

    /// Stops the process with SIGTERM, waits until it exits, and returns the exit code.
    pub async fn stop(mut self) -> Option<i32> {
        self.signal("TERM").await;
        self.wait_for_exit().await
    }

    /// Stops the process with SIGTERM, waits until it exits, and returns the rest of stderr.
    pub async fn stop_and_read_log(mut self) -> String {
        self.signal("TERM").await;
        self.remaining_stderr().await
    }

    /// Waits until the process exits, and returns the exit code.
    pub async fn wait_for_exit(&mut self) -> Option<i32> {
        tokio::time::timeout(TIMEOUT, self.child.wait())
            .await
            .expect("the process exits in time")
            .expect("the process can be awaited")
            .code()
    }

    /// Waits for a line on stderr that contains this text.
    pub async fn wait_for_log(&mut self, text: &str) {
        let mut line = String::new();
        while !line.contains(text) {
            line.clear();
            let read = tokio::time::timeout(TIMEOUT, self.stderr.read_line(&mut line))
                .await
                .expect("a line in time");
            assert_ne!(read.expect("stderr can be read"), 0, "the process ended without printing {text:?}");
        }
    }

    /// Waits until the process exits, and returns the rest of stderr.
    async fn remaining_stderr(&mut self) -> String {
        let mut text = String::new();
        tokio::time::timeout(TIMEOUT, self.stderr.read_to_string(&mut text))
            .await
            .expect("the process exits in time")
            .expect("stderr can be read");
        text
    }

    /// Returns an existing API key, for requests to this server.
    pub fn key(&self, app: &TestApp, secret: &str) -> TestKey {
        TestKey {
            secret: secret.to_owned(),
            id: String::new(),
            base_url: self.base_url.clone(),
            http: app.http.clone(),
        }
    }
}

/// Runs a command that must fail with this code and print nothing to stdout, and returns its standard error.
pub async fn failure_message(program: &TestProgram, code: i32, command: Command) -> String {
    let output = program.run_command(command).await;
    assert_eq!((output.code, output.stdout.as_str()), (Some(code), ""), "{}", output.stderr);
    output.stderr
}

/// Returns the records that a list command prints as JSON, with ids masked and times replaced as by [`replace_times`].
pub async fn list_as_json(program: &TestProgram, args: &[&str]) -> Value {
    let output = program.run(&[args, &["--json"]].concat()).await;
    assert_eq!(output.code, Some(0), "{output:?}");
    let mut records: Value = serde_json::from_str(&output.stdout).expect("JSON");
    assert!(records.is_array(), "the command prints a list");
    replace_times(&mut records);
    mask_ids(&records)
}

/// Asserts the format of each time, a string in a field whose name ends with `_at`, and replaces it with `TIME`.
fn replace_times(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(replace_times),
        Value::Object(fields) => {
            for (name, value) in fields {
                if let Some(text) = value.as_str().filter(|_| name.ends_with("_at")) {
                    let is_time = text.parse::<jiff::Timestamp>().is_ok();
                    assert!(is_time && text.len() == 24 && text.ends_with('Z'), "{text}");
                    *value = json!("TIME");
                }
                replace_times(value);
            }
        }
        _ => {}
    }
}
