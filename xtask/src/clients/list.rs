//! The clients. Each function generates a client, compiles it if its language is compiled, and calls all operations.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;

use super::toolchain::Tool;
use super::{ClientJob, JobContext, run_quietly, snippets};

pub(super) const NODE: Tool = Tool::System("node", "nodejs");
const JAVA: Tool = Tool::System("java", "default-jre-headless");
const PYTHON: Tool = Tool::Python("python");
const OPENAPI_TYPESCRIPT: Tool = Tool::Node("openapi-typescript");
const TSC: Tool = Tool::Node("tsc");
const OPENAPI_PYTHON_CLIENT: Tool = Tool::Python("openapi-python-client");
const OPENAPI_GENERATOR: Tool = Tool::Python("openapi-generator-cli");
const CARGO: Tool = Tool::System("cargo", "cargo");
const CURL: Tool = Tool::System("curl", "curl");

/// The clients.
pub const JOBS: &[ClientJob] = &[
    ClientJob {
        name: "openapi-typescript",
        description: "TypeScript types from the contract, compiled with tsc and used with openapi-fetch",
        tools: &[NODE, OPENAPI_TYPESCRIPT, TSC],
        run: openapi_typescript,
    },
    ClientJob {
        name: "openapi-python-client",
        description: "a Python package from the contract",
        tools: &[PYTHON, OPENAPI_PYTHON_CLIENT],
        run: openapi_python_client,
    },
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
        name: "openapi-generator-python",
        description: "a Python package from the 3.0 document",
        tools: &[PYTHON, JAVA, OPENAPI_GENERATOR],
        run: openapi_generator_python,
    },
    ClientJob {
        name: "openapi-generator-rust",
        description: "a Rust crate from the 3.0 document",
        tools: &[CARGO, JAVA, OPENAPI_GENERATOR],
        run: openapi_generator_rust,
    },
    ClientJob {
        name: "progenitor",
        description: "a Rust client that progenitor's macro generates from the 3.0 document",
        tools: &[CARGO, CURL],
        run: progenitor,
    },
    ClientJob {
        name: "snippets",
        description: "the samples of the documentation in seven languages",
        tools: snippets::TOOLS,
        run: snippets::run,
    },
];

fn openapi_typescript(context: &JobContext) -> anyhow::Result<()> {
    typescript_client(context, "typescript", "verify", "v1")
}

fn openapi_typescript_platform(context: &JobContext) -> anyhow::Result<()> {
    typescript_client(context, "typescript-platform", "platform", "platform-v1")
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

fn openapi_python_client(context: &JobContext) -> anyhow::Result<()> {
    python_client(context, "attrs", "attrs_client.py", "v1", "contract_client", "")
}

fn openapi_python_client_platform(context: &JobContext) -> anyhow::Result<()> {
    // The generator does not support JSON lines, but one line is a JSON document.
    let config = "content_type_overrides:\n  application/x-ndjson: application/json\n";
    python_client(context, "attrs-platform", "platform_client.py", "platform-v1", "platform_api", config)
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

fn openapi_generator_python(context: &JobContext) -> anyhow::Result<()> {
    let folder = context.folder("pydantic")?;
    let mut generate = context.program(&OPENAPI_GENERATOR)?;
    generate.args(["generate", "-g", "python", "--package-name", "generated_client", "-o"]).arg(&folder);
    run_quietly(generate.args(["-i", &json_3_0_url(context)]))?;
    let mut verify = context.program(&PYTHON)?;
    verify.arg(context.source("python/pydantic_client.py")).env("PYTHONPATH", &folder);
    print!("{}", run_quietly(&mut verify)?);
    Ok(())
}

fn openapi_generator_rust(context: &JobContext) -> anyhow::Result<()> {
    let folder = copy_package(context, "generator")?;
    let mut generate = context.program(&OPENAPI_GENERATOR)?;
    generate.args(["generate", "-g", "rust", "--library", "reqwest", "--package-name", "generated_client"]);
    generate.args([
        "--additional-properties",
        "useSingleRequestParameter=true",
        "-i",
        &json_3_0_url(context),
        "-o",
    ]);
    run_quietly(generate.arg(folder.join("generated")))?;
    compile_and_run(context, &folder)
}

fn progenitor(context: &JobContext) -> anyhow::Result<()> {
    let folder = copy_package(context, "progenitor")?;
    let mut fetch = context.program(&CURL)?;
    fetch.args(["--fail", "--silent", "--show-error", "--noproxy", "*", "--output", "v1.openapi-3.0.json"]);
    run_quietly(fetch.arg(json_3_0_url(context)).current_dir(&folder))?;
    compile_and_run(context, &folder)
}

/// Returns the URL of the contract `api` that the server serves as JSON.
fn json_url(context: &JobContext, api: &str) -> String {
    format!("{}/openapi/{api}.json", context.base_url)
}

/// Returns the URL of the OpenAPI 3.0 document that the server serves.
fn json_3_0_url(context: &JobContext) -> String {
    format!("{}/openapi/v1.openapi-3.0.json", context.base_url)
}

/// Copies a package of `tests/clients/rust` to the folder of the job.
fn copy_package(context: &JobContext, name: &str) -> anyhow::Result<PathBuf> {
    let (folder, source) = (context.folder(name)?, context.source("rust").join(name));
    for file in ["Cargo.toml", "main.rs"] {
        fs::copy(source.join(file), folder.join(file)).with_context(|| format!("cannot copy {file}"))?;
    }
    Ok(folder)
}

/// Compiles and runs a package. Both packages share a target folder for their dependencies.
fn compile_and_run(context: &JobContext, folder: &Path) -> anyhow::Result<()> {
    let mut cargo = context.program(&CARGO)?;
    cargo.args(["run", "--quiet", "--bin", "verify"]).current_dir(folder);
    cargo.env("CARGO_TARGET_DIR", context.toolchain.folder.join("cargo"));
    print!("{}", run_quietly(&mut cargo)?);
    Ok(())
}
