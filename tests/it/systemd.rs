//! The program as a service of systemd: the socket that it receives, the notification, upgrades, health checks and backups.

use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::process::Command;

use crate::support::program::{ServerProcess, TestProgram};
use crate::support::{skip, wait_until};

/// Moves the socket from the standard input to file descriptor 3, as systemd passes it.
const PASS_SOCKET: &str = "exec 3<&0 </dev/null; export LISTEN_FDS=1 LISTEN_PID=$$; true";

/// Builds a command that receives a listening socket, as from systemd.
fn with_socket(program: &TestProgram, listener: &TcpListener, args: &[&str]) -> Command {
    let mut command = program.command_after(PASS_SOCKET, args);
    // Nothing reads the log while clients send requests.
    command.env("CREATOR_API_LOG_FILTER", "warn");
    command.stdin(Stdio::from(OwnedFd::from(listener.try_clone().unwrap())));
    command
}

#[tokio::test]
async fn a_server_uses_the_socket_of_systemd_and_notifies_it() {
    let program = TestProgram::new().await;
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let path = program.app.folder().join("notify");
    let notifications = UnixDatagram::bind(&path).unwrap();
    notifications.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let mut command = with_socket(&program, &listener, &["serve", "--listen", "127.0.0.1:1"]);
    command.env("NOTIFY_SOCKET", &path);
    let server = program.start_server(command).await;
    assert_eq!(server.base_url, format!("http://{address}"));
    let mut message = [0; 64];
    let length = notifications.recv(&mut message).unwrap();
    assert_eq!(&message[..length], b"READY=1\n");

    let health = ["health", "--listen", &address.to_string()];
    let healthy = program.run(&health).await;
    assert_eq!((healthy.code, healthy.stdout.as_str()), (Some(0), "ready\n"), "{healthy:?}");
    assert_eq!(server.stop().await, Some(0));

    // A socket that does not listen keeps other tests from using its port.
    let closed = tokio::net::TcpSocket::new_v4().unwrap();
    closed.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let address = closed.local_addr().unwrap().to_string();
    let unavailable = program.run(&["health", "--listen", &address]).await;
    assert_eq!(unavailable.code, Some(1), "{unavailable:?}");
    assert!(unavailable.stderr.contains("/readyz is not available: Connection refused"), "{unavailable:?}");
}

#[tokio::test]
async fn a_socket_that_the_server_cannot_use_is_refused() {
    let program = TestProgram::new().await;
    let command = program.command_after("export LISTEN_FDS=2 LISTEN_PID=$$; true", &["serve"]);
    let refused = program.run_command(command).await;
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(refused.stderr.contains("systemd passed 2 sockets"), "{refused:?}");

    let command =
        program.command_after("exec 3</dev/null; export LISTEN_FDS=1 LISTEN_PID=$$; true", &["serve"]);
    let refused = program.run_command(command).await;
    assert!(refused.code == Some(1) && refused.stderr.contains("set ListenStream="), "{refused:?}");
}

/// Sends requests on one connection until the server closes it after a response, then on the next one. Counts the responses. An
/// error on a connection is a failed request, also if the connection was used before.
async fn send_requests(address: String, secret: String, stop: Arc<AtomicBool>, count: Arc<AtomicUsize>) {
    let request =
        format!("GET /api/v1/courses HTTP/1.1\r\nHost: api\r\nAuthorization: Bearer {secret}\r\n\r\n");
    while !stop.load(Ordering::Relaxed) {
        let mut stream = TcpStream::connect(&address).await.unwrap();
        while !stop.load(Ordering::Relaxed) {
            stream.write_all(request.as_bytes()).await.unwrap();
            let head = read_response(&mut stream).await;
            assert!(head.starts_with("http/1.1 200 ") || head.starts_with("http/1.1 429 "), "{head}");
            count.fetch_add(1, Ordering::Relaxed);
            if head.contains("\r\nconnection: close\r\n") {
                break;
            }
            // The connection is idle for a while, as in a pool of connections.
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

/// Reads a response with a `Content-Length`, and returns its head in lowercase.
async fn read_response(stream: &mut TcpStream) -> String {
    let mut received = Vec::new();
    loop {
        let read = stream.read_buf(&mut received).await.expect("the connection is not reset");
        assert!(read > 0, "the server closed the connection before its response");
        let text = String::from_utf8_lossy(&received).to_ascii_lowercase();
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).expect("a length");
        if body.len() >= length.parse::<usize>().unwrap() {
            return format!("{head}\r\n");
        }
    }
}

#[tokio::test]
#[ignore = "slow"]
async fn an_upgrade_on_the_socket_of_systemd_fails_no_request() {
    let program = TestProgram::new().await;
    let secret = program.create_key("read:courses").await;
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let start = async || -> ServerProcess {
        program.start_server(with_socket(&program, &listener, &["serve", "--drain-seconds", "5"])).await
    };
    let mut server = start().await;
    let (stop, count) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let clients: Vec<_> = (0..8)
        .map(|_| tokio::spawn(send_requests(address.clone(), secret.clone(), stop.clone(), count.clone())))
        .collect();
    let more_requests = async || {
        let before = count.load(Ordering::Relaxed);
        wait_until("requests are answered", async || count.load(Ordering::Relaxed) > before + 20).await;
    };
    for _ in 0..5 {
        more_requests().await;
        server.signal("TERM").await;
        assert_eq!(server.wait_for_exit().await, Some(0));
        server = start().await;
    }
    more_requests().await;
    stop.store(true, Ordering::Relaxed);
    for client in clients {
        client.await.expect("no request failed");
    }
    assert_eq!(server.stop().await, Some(0));
}

/// Returns the names of the files in a folder, sorted.
fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort_unstable();
    names
}

#[tokio::test]
async fn a_backup_into_a_folder_deletes_the_oldest() {
    let program = TestProgram::new().await;
    if program.app.uses_postgres() {
        return skip("SQLite only");
    }
    let folder: PathBuf = program.app.folder().join("backups");
    std::fs::create_dir(&folder).unwrap();
    let other_files = ["creator-api-2020-01-01.db", "notes.txt", "creator-api-2020-01-01T00-00-00Z.db.old"];
    let old = ["creator-api-2020-01-01T00-00-00Z.db", "creator-api-2021-01-01T00-00-00Z.db"];
    for name in other_files.iter().chain(&old) {
        std::fs::write(folder.join(name), "").unwrap();
    }
    let backup = program.run(&["backup", "--folder", "backups", "--keep", "2"]).await;
    assert_eq!(backup.code, Some(0), "{backup:?}");
    assert!(backup.stdout.contains("creator-api-2020-01-01T00-00-00Z.db: deleted"), "{backup:?}");
    let names = names(&folder);
    assert_eq!(names.len(), 5, "{names:?}");
    assert!(!names.contains(&old[0].to_owned()) && names.contains(&old[1].to_owned()), "{names:?}");
    let created = names.iter().filter(|name| name.as_str() > old[1] && name.ends_with("Z.db")).count();
    assert_eq!(created, 1, "{names:?}");

    // A failed backup deletes nothing.
    let failed = program
        .run(&["backup", "--folder", "backups", "--keep", "1", "--database-url", "sqlite:/nowhere/a.db"])
        .await;
    assert_ne!(failed.code, Some(0), "{failed:?}");
    for (args, message) in [
        (&["backup"][..], "required arguments were not provided"),
        (&["backup", "a.db", "--folder", "backups"], "cannot be used with"),
        (&["backup", "a.db", "--keep", "1"], "cannot be used with"),
    ] {
        let refused = program.run(args).await;
        assert!(refused.code == Some(2) && refused.stderr.contains(message), "{refused:?}");
    }
}

#[tokio::test]
async fn there_is_a_manual_page_for_each_command_and_a_completion_script_for_each_shell() {
    let program = TestProgram::new().await;
    let folder = program.app.folder().join("man");
    std::fs::create_dir(&folder).unwrap();
    assert_eq!(program.run(&["man", "man"]).await.code, Some(0));
    let pages = names(&folder);
    let page = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    let help = program.run(&["--help"]).await.stdout;
    let commands: Vec<&str> = help
        .lines()
        .filter_map(|line| line.strip_prefix("  ")?.split("  ").next())
        .filter(|name| name.starts_with(|first: char| first.is_ascii_lowercase()))
        .collect();
    assert!(commands.len() > 15 && commands.contains(&"completions"), "{help}");
    let scripts: Vec<String> = {
        let mut scripts = Vec::new();
        for shell in ["bash", "zsh", "fish"] {
            let script = program.run(&["completions", shell]).await;
            assert_eq!(script.code, Some(0), "{script:?}");
            scripts.push(script.stdout);
        }
        scripts
    };
    for command in commands {
        assert!(pages.contains(&format!("creator-api-{command}.1")), "{command}: {pages:?}");
        for script in &scripts {
            assert!(script.contains(command), "{command}");
        }
    }
    assert!(pages.contains(&"creator-api-keys-create.1".to_owned()), "{pages:?}");
    assert!(page("creator-api.1").contains("creator\\-api"), "{}", page("creator-api.1"));
    assert!(page("creator-api-serve.1").contains("\\-\\-drain\\-seconds"), "{}", page("creator-api-serve.1"));
}
