//! Runs the samples of the documentation in all languages, with the scripts in `tests/clients/snippets`.

use anyhow::bail;

use super::JobContext;
use super::list::NODE;
use super::toolchain::Tool;

/// The programs of the languages.
pub const TOOLS: &[Tool] = &[
    NODE,
    Tool::System("curl", "curl"),
    Tool::System("python3", "python3-requests"),
    Tool::System("go", "golang-go"),
    Tool::System("php", "php-cli php-curl"),
    Tool::System("ruby", "ruby"),
    Tool::System("javac", "default-jdk-headless"),
];

/// Tests the generated programs, and sends the requests of all pages with each.
pub fn run(context: &JobContext) -> anyhow::Result<()> {
    let folder = context.source("snippets");
    for arguments in [&["--test", "snippets.test.mjs"][..], &["run.mjs"]] {
        let mut node = context.program(&NODE)?;
        node.args(arguments).current_dir(&folder);
        node.env("SNIPPETS", context.workspace.join("src/portal/static/snippets.mjs"));
        // The samples run with the programs of the system, not with the Python environment of the clients.
        node.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        let status = node.status()?;
        if !status.success() {
            bail!("node {} failed: {status}", arguments.join(" "));
        }
    }
    Ok(())
}
