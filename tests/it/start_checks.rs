//! Checks of a starting process. PostgreSQL only.

use std::time::Duration;

use sea_orm::ConnectionTrait;
use tokio::net::TcpStream;

use crate::ports::free_port;
use crate::support::program::TestProgram;
use crate::support::skip;

#[tokio::test]
async fn a_server_accepts_no_connections_before_it_can_respond() {
    let program = TestProgram::new().await;
    if !program.app.uses_postgres() {
        return skip("PostgreSQL only");
    }
    // The connections of a process that was killed are counted for 10 seconds.
    let killed = "INSERT INTO processes (id, heartbeat_at, serves, runs_worker, connections)
        VALUES (1, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint, true, true, 1000000)";
    program.app.app.db.read().execute_unprepared(killed).await.expect("the process is registered");
    let address = format!("127.0.0.1:{}", free_port().expect("a free port"));
    let mut command = program.command(&["serve", "--listen", &address]);
    let mut server = command.spawn().expect("the program starts");
    while TcpStream::connect(&address).await.is_err() {
        tokio::time::sleep(Duration::from_millis(20)).await;
        assert!(server.try_wait().expect("the process can be awaited").is_none(), "the server runs");
    }
    let ready = program.app.http.get(format!("http://{address}/healthz")).timeout(Duration::from_secs(5));
    assert_eq!(ready.send().await.expect("a response").status(), 200);
    server.kill().await.expect("the server is killed");
}

#[tokio::test]
async fn a_process_refuses_to_start_as_a_role_that_cannot_drop_partitions() {
    let mut program = TestProgram::new().await;
    if !program.app.uses_postgres() {
        return skip("PostgreSQL only");
    }
    let role = format!("guest_{}", std::process::id());
    let read = program.app.app.db.read();
    // The name of the schema needs quotes.
    let statements = format!(
        r#"CREATE ROLE {role} LOGIN;
        ALTER ROLE {role} SET search_path = "School";
        ALTER SCHEMA public RENAME TO "School";
        GRANT USAGE ON SCHEMA "School" TO {role};
        GRANT ALL ON ALL TABLES IN SCHEMA "School" TO {role};
        GRANT ALL ON ALL SEQUENCES IN SCHEMA "School" TO {role}"#
    );
    read.execute_unprepared(&statements).await.expect("the statements run");
    let mut url: reqwest::Url = program.app.database_url().parse().expect("a URL");
    url.set_username(&role).expect("a user");
    program.database_url = Some(url.to_string());
    for command in ["serve", "worker"] {
        let output = program.run(&[command]).await;
        assert_eq!(output.code, Some(1), "{output:?}");
        let expected = format!(
            "the PostgreSQL role {role} does not own the table api_requests, so it can neither create nor drop its partitions"
        );
        assert!(output.stderr.contains(&expected), "{}", output.stderr);
    }
    // Other commands need no partitions.
    assert_eq!(program.run(&["workspaces", "list"]).await.code, Some(0));
    let drop = format!("DROP OWNED BY {role}; DROP ROLE {role}");
    program.app.app.db.read().execute_unprepared(&drop).await.expect("the role is dropped");
}
