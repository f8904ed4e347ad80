//! The jobs of `tests/clients/jobs.toml`: each generates a client, compiles it, and checks it through an adapter.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, anyhow, bail};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::JobContext;
use super::table::{Cell, Row};
use super::toolchain::{self, Toolchain};

/// The file with the jobs.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobFile {
    /// The Debian packages of programs.
    pub debian: BTreeMap<String, String>,
    #[serde(rename = "job")]
    pub jobs: Vec<MatrixJob>,
    pub unavailable: Vec<Unavailable>,
}

/// A generator that cannot be run here.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Unavailable {
    pub name: String,
    pub language: String,
    pub reason: String,
    /// What its issue tracker reports about features that the contract uses.
    pub trouble: String,
}

/// A job. The comment of the file describes the fields.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct MatrixJob {
    pub name: String,
    pub language: String,
    packages: Vec<String>,
    document: String,
    sources: Vec<String>,
    pub needs: Vec<String>,
    steps: Vec<Vec<String>>,
    #[serde(default)]
    adapter: Vec<String>,
    #[serde(default)]
    program: Vec<String>,
    generated: Option<String>,
    #[serde(default)]
    without: BTreeMap<String, String>,
    #[serde(default)]
    issues: BTreeMap<String, KnownIssue>,
}

/// The output of a command that succeeded.
struct StepOutput {
    /// The standard output.
    text: String,
    /// The standard error.
    errors: String,
}

/// A fault of a generator.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct KnownIssue {
    /// A part of the note of the failed cell. Other failures of the cell are not known.
    failure: String,
    /// What the table says instead.
    note: String,
}

/// The result of an earlier run.
#[derive(Deserialize, Serialize)]
struct StoredRow {
    inputs: String,
    row: Row,
}

impl JobFile {
    /// Reads the file of a workspace.
    ///
    /// # Errors
    /// Returns an error when the file cannot be read or has an unknown field.
    pub fn read(workspace: &Path) -> anyhow::Result<Self> {
        let path = workspace.join("tests/clients/jobs.toml");
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        toml::from_str(&text).with_context(|| format!("{} is invalid", path.display()))
    }

    /// Describes how to install a missing program.
    pub fn installation_hint(&self, program: &str) -> String {
        match self.debian.get(program) {
            Some(packages) => format!("{program} (on Debian: `apt-get install {packages}`)"),
            None => format!("{program} (`cargo xtask clients --install` installs it)"),
        }
    }

    /// Returns the packages of Debian that a job needs. Programs can be installed without the libraries among them.
    pub fn debian_packages(&self, job: &MatrixJob) -> Vec<&str> {
        job.needs.iter().filter_map(|name| self.debian.get(name)).map(String::as_str).collect()
    }
}

impl MatrixJob {
    /// Returns the programs that are missing.
    pub fn missing(&self, toolchain: &Toolchain) -> Vec<&str> {
        self.needs.iter().map(String::as_str).filter(|name| toolchain.program(name).is_none()).collect()
    }

    /// Returns the row of an earlier run with the same inputs, or runs the job. `is_new` is whether it was run.
    ///
    /// # Errors
    /// Returns an error when a file cannot be read or written.
    pub fn run_or_resume(&self, context: &JobContext, rerun: bool) -> anyhow::Result<(Row, bool)> {
        let results = context.toolchain.folder.join("results");
        let file = results.join(format!("{}.json", self.slug()));
        let inputs = self.inputs(context)?;
        let stored = fs::read_to_string(&file).ok().and_then(|text| serde_json::from_str(&text).ok());
        if let Some(StoredRow { row, .. }) =
            stored.filter(|stored: &StoredRow| stored.inputs == inputs && !rerun)
        {
            return Ok((row, false));
        }
        let row = self.run(context)?;
        if row.has_passed() {
            fs::create_dir_all(&results).context("cannot create the folder of the results")?;
            let stored = StoredRow { inputs, row };
            fs::write(&file, serde_json::to_string(&stored)?).context("cannot store the result")?;
            return Ok((stored.row, true));
        }
        Ok((row, true))
    }

    fn run(&self, context: &JobContext) -> anyhow::Result<Row> {
        let folder = context.folder(&format!("jobs/{}", self.slug()))?;
        let document = context.workspace.join("src/api/generated").join(&self.document);
        fs::copy(&document, folder.join("v1.json")).context("cannot copy the document")?;
        for source in &self.sources {
            copy_into(&context.source(source), &folder)?;
        }
        let compiled = self.steps.iter().try_for_each(|step| {
            let output = self.step(context, &folder, step)?;
            // Compilers start the lines of their warnings with the word, or with the position in a file.
            let is_warning = |line: &&str| line.starts_with("warning:") || line.contains(": warning:");
            let warning = output.text.lines().chain(output.errors.lines()).find(is_warning);
            warning.map_or(Ok(()), |warning| Err(anyhow!("{}: {}", step.join(" "), brief(warning))))
        });
        let mut cells = BTreeMap::new();
        if let Err(error) = &compiled {
            cells.insert("compile".to_owned(), Cell::failed(&format!("{error:#}")));
        } else {
            // A tool without steps has no client that could be compiled.
            cells.extend((!self.steps.is_empty()).then(|| ("compile".to_owned(), Cell::passed())));
            let output = self.step(context, &folder, &self.check_command(context));
            match output.and_then(|output| {
                Ok(serde_json::from_str::<BTreeMap<String, Cell>>(last_line(&output.text))?)
            }) {
                Ok(checked) => cells.extend(checked),
                Err(error) => {
                    drop(cells.insert("operations".to_owned(), Cell::failed(&format!("{error:#}"))))
                }
            }
        }
        for (name, cell) in &mut cells {
            if let Some(issue) = self.issues.get(name) {
                cell.explain(&issue.failure, &issue.note);
            }
        }
        let packages =
            self.packages.iter().map(|name| with_version(context, name)).collect::<Result<_, _>>()?;
        let (name, language, document) = (self.name.clone(), self.language.clone(), self.document.clone());
        Ok(Row { name, language, packages, document, cells })
    }

    /// Returns the command that prints the cells.
    fn check_command(&self, context: &JobContext) -> Vec<String> {
        if !self.program.is_empty() {
            return self.program.clone();
        }
        let checks = context.source("checks.py").to_string_lossy().into_owned();
        let mut command = vec!["python3".to_owned(), checks];
        command.extend(
            self.without
                .iter()
                .flat_map(|(cell, reason)| ["--without".to_owned(), format!("{cell}={reason}")]),
        );
        command.extend(self.generated.iter().flat_map(|folder| ["--names".to_owned(), folder.clone()]));
        command.push("--".to_owned());
        command.extend(self.adapter.iter().cloned());
        command
    }

    /// Runs a command in the folder of the job and returns its output.
    fn step(&self, context: &JobContext, folder: &Path, step: &[String]) -> anyhow::Result<StepOutput> {
        let toolchain = &context.toolchain;
        let fill = |argument: &String| -> anyhow::Result<String> {
            let mut filled = argument.clone();
            let folders = [
                ("{node}", toolchain.node()),
                ("{repository}", context.workspace.clone()),
                // Each job has its own `adapter`, but the dependencies are compiled once.
                ("{cargo}", toolchain.folder.join("cargo")),
            ];
            for (placeholder, folder) in folders {
                filled = filled.replace(placeholder, &folder.to_string_lossy());
            }
            if filled.contains("{jar}") {
                filled = filled.replace("{jar}", &toolchain.openapi_generator_jar()?.to_string_lossy());
            }
            Ok(filled)
        };
        let [program, arguments @ ..] = step else { bail!("a step is empty") };
        let program = fill(program)?;
        let mut command =
            Command::new(toolchain.program(&program).unwrap_or_else(|| PathBuf::from(&program)));
        command.args(arguments.iter().map(fill).collect::<Result<Vec<_>, _>>()?).current_dir(folder);
        context.set_environment(&mut command);
        let output = command.output().with_context(|| format!("cannot start {program}"))?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        if !output.status.success() {
            bail!("{program}: {}", brief(&format!("{text}{errors}")));
        }
        Ok(StepOutput { text, errors })
    }

    /// Returns a digest of everything that the result depends on.
    fn inputs(&self, context: &JobContext) -> anyhow::Result<String> {
        let mut files = vec![context.workspace.join("src/api/generated").join(&self.document)];
        files.extend(self.sources.iter().map(|source| context.source(source)));
        let shared = ["checks.py", "changing_server.py", "scripted"];
        files.extend(shared.iter().chain(&toolchain::PINS).map(|name| context.source(name)));
        // The test servers read the document of the contract and the vectors, whatever the job generates from.
        let shared = ["openapi/clients", "src/api/generated/v1.json", "src/webhooks/vectors.json"];
        files.extend(shared.map(|path| context.workspace.join(path)));
        let mut digest = Sha256::new();
        digest.update(serde_json::to_string(self)?);
        for file in files {
            add_to_digest(&file, &mut digest)?;
        }
        Ok(hex::encode(digest.finalize()))
    }

    fn slug(&self) -> String {
        self.name.replace(|character: char| !character.is_ascii_alphanumeric(), "-")
    }
}

/// Copies a file, or the content of a folder, into a folder.
fn copy_into(source: &Path, folder: &Path) -> anyhow::Result<()> {
    let failed = || format!("cannot copy {}", source.display());
    if source.is_dir() {
        for entry in fs::read_dir(source).with_context(failed)? {
            copy_into(&entry.with_context(failed)?.path(), folder)?;
        }
        return Ok(());
    }
    let name = source.file_name().with_context(failed)?;
    fs::copy(source, folder.join(name)).with_context(failed)?;
    Ok(())
}

/// Adds a file, or the files of a folder that git does not ignore by their names, to a digest.
fn add_to_digest(path: &Path, digest: &mut Sha256) -> anyhow::Result<()> {
    const BUILT: [&str; 8] =
        ["node_modules", "dist", "target", "out", "generated", "__pycache__", "schema.ts", "readme.ts"];
    let failed = || format!("cannot read {}", path.display());
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    if BUILT.contains(&&*name)
        || name.ends_with("lock.json")
        || name.ends_with(".lock")
        || name.starts_with("table.")
    {
        return Ok(());
    }
    digest.update(&name);
    if path.is_dir() {
        let entries: Vec<_> =
            fs::read_dir(path).with_context(failed)?.collect::<Result<_, _>>().with_context(failed)?;
        let mut paths: Vec<PathBuf> = entries.into_iter().map(|entry| entry.path()).collect();
        paths.sort();
        return paths.iter().try_for_each(|path| add_to_digest(path, digest));
    }
    digest.update(fs::read(path).with_context(failed)?);
    Ok(())
}

/// Returns a package with its version, which is in one of the files of pinned versions.
fn with_version(context: &JobContext, package: &str) -> anyhow::Result<String> {
    for file in toolchain::PINS.iter().chain(&["rust/progenitor/Cargo.toml"]) {
        let text = fs::read_to_string(context.source(file)).with_context(|| format!("cannot read {file}"))?;
        let found = text.lines().find_map(|line| {
            let rest = line.trim().trim_start_matches('"').strip_prefix(package)?;
            let version = rest.trim_start_matches(['"', ':', '=', ' ']);
            (version.len() < rest.len()).then(|| version.trim_end_matches(['"', ',']).to_owned())
        });
        if let Some(version) = found {
            return Ok(format!("{package} {version}"));
        }
    }
    bail!("no pinned version of {package}")
}

/// Returns the last lines of an output that are not empty, on one line.
fn brief(output: &str) -> String {
    let lines: Vec<&str> = output.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let text = lines[lines.len().saturating_sub(12)..].join(" | ");
    text.chars().take(700).collect()
}

fn last_line(text: &str) -> &str {
    text.trim_end().lines().next_back().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_has_at_least_sixteen_jobs_with_names_of_their_own() {
        let file = JobFile::read(&crate::workspace()).expect("the file is valid");
        assert!(file.jobs.len() >= 16, "{} jobs", file.jobs.len());
        let names: std::collections::BTreeSet<String> = file.jobs.iter().map(MatrixJob::slug).collect();
        assert_eq!(names.len(), file.jobs.len());
        for job in &file.jobs {
            assert_ne!(
                job.adapter.is_empty(),
                job.program.is_empty(),
                "{} has an adapter or a program",
                job.name
            );
        }
    }

    #[test]
    fn each_package_has_at_most_400_lines_of_code() {
        for (folder, extension) in [("typescript/src", "ts"), ("python/src", "py"), ("rust/src", "rs")] {
            let folder = crate::workspace().join("openapi/clients").join(folder);
            let (mut folders, mut lines) = (vec![folder], 0);
            while let Some(folder) = folders.pop() {
                for entry in fs::read_dir(folder).expect("the folder exists").flatten() {
                    let (path, name) = (entry.path(), entry.file_name());
                    if path.is_dir() && name != "generated" {
                        folders.push(path);
                    } else if path.extension().is_some_and(|found| found == extension) && name != "schema.ts"
                    {
                        let text = fs::read_to_string(path).expect("the file can be read");
                        let code = text.lines().map(str::trim).filter(|line| !line.is_empty());
                        lines += code.filter(|line| !line.starts_with(['#', '*', '/'])).count();
                    }
                }
            }
            assert!((50..=400).contains(&lines), "{extension}: {lines} lines");
        }
    }

    #[test]
    fn the_end_of_an_output_is_brief() {
        assert_eq!(brief("a\n\n  b \n"), "a | b");
        assert_eq!(last_line("progress\n{}\n\n"), "{}");
    }
}
