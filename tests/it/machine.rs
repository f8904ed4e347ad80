//! A machine on which the built program is run as a person runs it: as a process, with flags and variables.

use std::process::{Output, Stdio};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStderr, ChildStdout, Command};

use crate::support::{Key, TestApp};

/// How long a process may take for what it is asked.
const PATIENCE: Duration = Duration::from_secs(120);

/// A folder, a database, and the program.
pub struct Machine {
    /// Reads what the processes wrote. Its own server is stopped.
    pub app: TestApp,
}

/// What a process left behind.
#[derive(Debug)]
pub struct Ran {
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

    /// The program with these words: in the machine's folder, on its database, and with no other variable.
    pub fn command(&self, words: &[&str]) -> Command {
        self.on_database(self.bare(words))
    }

    /// The same, by a shell that does this first.
    pub fn after(&self, first: &str, words: &[&str]) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", &format!("{first} && exec \"$0\" \"$@\""), env!("CARGO_BIN_EXE_creator-api")]);
        command.args(words);
        self.on_database(self.alone(command))
    }

    /// The program without any configuration.
    pub fn bare(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_creator-api"));
        command.args(words);
        self.alone(command)
    }

    fn alone(&self, mut command: Command) -> Command {
        command.current_dir(self.app.folder()).env_clear().kill_on_drop(true);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn on_database(&self, mut command: Command) -> Command {
        command.env("CREATOR_API_DATA_DIR", self.app.folder()).env("DATABASE_URL", self.app.url());
        command
    }

    /// Runs it to its end.
    pub async fn run(&self, words: &[&str]) -> Ran {
        self.end(self.command(words)).await
    }

    /// Runs a command to its end.
    pub async fn end(&self, mut command: Command) -> Ran {
        let child = command.spawn().expect("the program starts");
        self.ran(
            tokio::time::timeout(PATIENCE, child.wait_with_output())
                .await
                .expect("it ends")
                .expect("its output"),
        )
    }

    /// Runs it on this input.
    pub async fn fed(&self, words: &[&str], input: &str) -> Ran {
        let mut child = self.command(words).stdin(Stdio::piped()).spawn().expect("the program starts");
        let mut stdin = child.stdin.take().expect("an input");
        stdin.write_all(input.as_bytes()).await.expect("it reads");
        drop(stdin);
        self.ran(child.wait_with_output().await.expect("its output"))
    }

    fn ran(&self, output: Output) -> Ran {
        let text = |bytes| self.plain(&String::from_utf8(bytes).expect("output is UTF-8"));
        Ran { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }

    /// The text without what differs from run to run: database and folder.
    pub fn plain(&self, text: &str) -> String {
        let folder = self.app.folder().display().to_string();
        text.replace(&self.app.app.db.place(), "DATABASE").replace(&folder, "FOLDER")
    }

    /// Starts `serve`, or another command that listens, on a free port.
    pub async fn serve(&self, words: &[&str]) -> Serving {
        let mut command = self.command(words);
        command.env("CREATOR_API_LISTEN", "127.0.0.1:0");
        self.listen(command).await
    }

    /// Starts a command that listens, and waits for the line that says where.
    pub async fn listen(&self, mut command: Command) -> Serving {
        let mut child = command.spawn().expect("the program starts");
        let mut stdout = BufReader::new(child.stdout.take().expect("an output"));
        let stderr = BufReader::new(child.stderr.take().expect("an output"));
        let mut line = String::new();
        let read = stdout.read_line(&mut line);
        tokio::time::timeout(PATIENCE, read).await.expect("a line comes in time").expect("a line");
        let mut serving = Serving { child, stdout, stderr, base: String::new() };
        match line.trim_end().strip_prefix("listening on ") {
            Some(base) => base.clone_into(&mut serving.base),
            None => panic!("{line:?} {}", serving.rest().await),
        }
        serving
    }

    /// A workspace and a key with these scopes, made by commands; the key's secret.
    pub async fn key(&self, scopes: &str) -> String {
        let owner = ["--owner-email", "owner@acme.example"];
        self.run(&[&["workspaces", "create", "--key", "acme", "--name", "Acme"][..], &owner].concat()).await;
        let words = ["keys", "create", "--workspace", "acme", "--name", "story", "--scope", scopes];
        let made = self.run(&words).await;
        assert_eq!(made.code, Some(0), "{made:?}");
        made.stdout.trim_end().to_owned()
    }
}

/// A process that listens.
pub struct Serving {
    pub child: Child,
    pub base: String,
    pub stdout: BufReader<ChildStdout>,
    stderr: BufReader<ChildStderr>,
}

impl Serving {
    /// Sends it a signal: `TERM`, `KILL`.
    pub async fn signal(&self, name: &str) {
        let pid = self.child.id().expect("it runs").to_string();
        let sent = Command::new("kill").args([&format!("-{name}"), &pid]).status().await;
        assert!(sent.expect("kill is there").success());
    }

    /// Asks it to stop, and waits until it has: the exit code.
    pub async fn stop(mut self) -> Option<i32> {
        self.signal("TERM").await;
        self.ended().await
    }

    /// Waits for its end: the exit code.
    pub async fn ended(&mut self) -> Option<i32> {
        tokio::time::timeout(PATIENCE, self.child.wait()).await.expect("it ends").expect("it ends").code()
    }

    /// Waits for a line on stderr that holds these words.
    pub async fn says(&mut self, words: &str) {
        let mut line = String::new();
        while !line.contains(words) {
            line.clear();
            let read = tokio::time::timeout(PATIENCE, self.stderr.read_line(&mut line))
                .await
                .expect("a line in time");
            assert_ne!(read.expect("a line"), 0, "it ended without saying {words:?}");
        }
    }

    /// What else it wrote on stderr; waits for its end.
    async fn rest(&mut self) -> String {
        let mut text = String::new();
        self.stderr.read_to_string(&mut text).await.expect("its output");
        text
    }

    /// A key on this server.
    pub fn key(&self, app: &TestApp, secret: &str) -> Key {
        Key { secret: secret.to_owned(), id: String::new(), base: self.base.clone(), http: app.http.clone() }
    }
}
