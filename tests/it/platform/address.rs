//! `--platform-listen`: the Platform API on an address of its own.

use tokio::io::AsyncBufReadExt as _;

use crate::support::program::TestProgram;
use crate::support::send;

const EVENTS: &str = "/platform/v1/events";

#[tokio::test]
async fn the_platform_api_can_have_an_address_of_its_own() {
    let program = TestProgram::new().await;
    let created =
        program.run(&["platform-tokens", "create", "--name", "sync", "--scope", "read:events"]).await;
    let token = created.stdout.trim();
    let mut server = program.serve(&["serve", "--platform-listen", "127.0.0.1:0"]).await;
    let mut line = String::new();
    server.stdout.read_line(&mut line).await.expect("stdout can be read");
    let platform_url = line.trim_end().strip_prefix("Platform API on ").expect("a URL");

    let get = async |base: &str, path: &str| {
        send(program.app.http.get(format!("{base}{path}")).bearer_auth(token)).await
    };
    get(platform_url, EVENTS).await.assert_status(200);
    get(&server.base_url, EVENTS).await.assert_status(404);
    for path in ["/api/v1/courses", "/dashboard", "/docs/"] {
        get(platform_url, path).await.assert_status(404);
    }
    for (operation, is_elsewhere) in
        [("platform/operations/listEvents", true), ("operations/listCourses", false)]
    {
        let page = get(&server.base_url, &format!("/docs/{operation}")).await.assert_status(200);
        let page = String::from_utf8_lossy(&page.body).into_owned();
        assert_eq!(page.contains("of this server has its own address"), is_elsewhere, "{operation}");
    }
    server.wait_for_log("platform_token.id=ptk_").await;
    assert_eq!(server.stop().await, Some(0));
}
