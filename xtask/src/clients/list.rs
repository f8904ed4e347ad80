//! The clients that are not in the table: those of the Platform API and the Developer API, and the samples of the documentation. Each function
//! generates a client, compiles it if its language is compiled, and calls all operations.

use std::fs;

use anyhow::Context;

use super::toolchain::Tool;
use super::{ClientJob, JobContext, run_quietly, snippets};

pub(super) const NODE: Tool = Tool::System("node", "nodejs");
const PYTHON: Tool = Tool::Python("python");
const OPENAPI_TYPESCRIPT: Tool = Tool::Node("openapi-typescript");
const TSC: Tool = Tool::Node("tsc");
const OPENAPI_PYTHON_CLIENT: Tool = Tool::Python("openapi-python-client");

/// The clients that are not in the table.
pub const JOBS: &[ClientJob] = &[
    ClientJob {
        name: "openapi-typescript-platform",
        description: "TypeScript types from the contract of the Platform API, used with openapi-fetch",
        tools: &[NODE, OPENAPI_TYPESCRIPT, TSC],
        run: openapi_typescript_platform,
    },
    ClientJob {
        name: "openapi-python-client-platform",
        description: "a Python package from the contract of the Platform API",
        tools: &[PYTHON, OPENAPI_PYTHON_CLIENT],
        run: openapi_python_client_platform,
    },
    ClientJob {
        name: "openapi-typescript-developer",
        description: "TypeScript types from the contract of the Developer API, used with openapi-fetch",
        tools: &[NODE, OPENAPI_TYPESCRIPT, TSC],
        run: openapi_typescript_developer,
    },
    ClientJob {
        name: "openapi-python-client-developer",
        description: "a Python package from the contract of the Developer API",
        tools: &[PYTHON, OPENAPI_PYTHON_CLIENT],
        run: openapi_python_client_developer,
    },
    ClientJob {
        name: "snippets",
        description: "the samples of the documentation in seven languages",
        tools: snippets::TOOLS,
        run: snippets::run,
    },
];

fn openapi_typescript_platform(context: &JobContext) -> anyhow::Result<()> {
    typescript_client(context, "typescript-platform", "platform", "platform-v1")
}

fn openapi_typescript_developer(context: &JobContext) -> anyhow::Result<()> {
    typescript_client(context, "typescript-developer", "developer", "developer-v1")
}

/// Generates types from the contract `api`, and compiles and runs the program `program.ts` with them.
fn typescript_client(context: &JobContext, folder: &str, program: &str, api: &str) -> anyhow::Result<()> {
    let folder = context.folder(folder)?;
    let program_file = format!("{program}.ts");
    for file in [&*program_file, "tsconfig.json", "package.json"] {
        fs::copy(context.source("typescript").join(file), folder.join(file))
            .with_context(|| format!("cannot copy {file}"))?;
    }
    let modules = context.toolchain.node().join("node_modules");
    std::os::unix::fs::symlink(modules, folder.join("node_modules")).context("cannot link node_modules")?;
    let types = format!("{api}.d.ts");
    let mut generate = context.program(&OPENAPI_TYPESCRIPT)?;
    run_quietly(generate.args([&*json_url(context, api), "-o", &*types]).current_dir(&folder))?;
    run_quietly(context.program(&TSC)?.args(["-p", "."]).current_dir(&folder))?;
    let mut verify = context.program(&NODE)?;
    print!("{}", run_quietly(verify.arg(format!("out/{program}.js")).current_dir(&folder))?);
    Ok(())
}

fn openapi_python_client_platform(context: &JobContext) -> anyhow::Result<()> {
    python_client(context, "attrs-platform", "platform_client.py", "platform-v1", "platform_api", JSON_LINES)
}

/// The generator does not support JSON lines, but one line is a JSON document.
const JSON_LINES: &str = "content_type_overrides:\n  application/x-ndjson: application/json\n";

fn openapi_python_client_developer(context: &JobContext) -> anyhow::Result<()> {
    python_client(
        context,
        "attrs-developer",
        "developer_client.py",
        "developer-v1",
        "developer_api",
        JSON_LINES,
    )
}

/// Generates a package from the contract `api`, and runs a program with it. `config` contains further lines of the
/// generator's configuration.
fn python_client(
    context: &JobContext,
    folder: &str,
    program: &str,
    api: &str,
    package: &str,
    config: &str,
) -> anyhow::Result<()> {
    let folder = context.folder(folder)?;
    fs::write(folder.join("config.yml"), format!("package_name_override: {package}\n{config}"))
        .context("cannot write config.yml")?;
    let mut generate = context.program(&OPENAPI_PYTHON_CLIENT)?;
    generate.args(["generate", "--meta", "none", "--output-path", package, "--config", "config.yml"]);
    run_quietly(generate.args(["--url", &json_url(context, api)]).current_dir(&folder))?;
    let mut verify = context.program(&PYTHON)?;
    verify.arg(context.source("python").join(program)).env("PYTHONPATH", &folder);
    print!("{}", run_quietly(&mut verify)?);
    Ok(())
}

/// Returns the URL of the contract `api` for client generators.
fn json_url(context: &JobContext, api: &str) -> String {
    format!("{}/openapi/{api}.clients.json", context.base_url)
}
