//! Counts the instructions of eight paths in callgrind, and compares the counts with their budgets.
//!
//! Unlike a duration, a count is almost the same in each run, on a busy machine too. The test `tests/it/instructions.rs` runs the paths,
//! in the `dev` profile that the other tests use. Connections, heads of requests and copies of memory are not part of the counts.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use serde::{Deserialize, Serialize};

use super::StepContext;
use super::executables::run_and_print;
use super::install::{SystemPackages, apt, find_in_path};
use super::steps::cargo_program;

/// The package of callgrind.
const PACKAGE: SystemPackages = SystemPackages {
    name: "Valgrind",
    debian: &["valgrind"],
    other_systems: "Fedora, Arch and Alpine: valgrind; not available for macOS",
};
/// The file with the budgets.
const BUDGETS: &str = "tests/instructions.json";
/// By how much a count may exceed its budget.
const TOLERANCE: f64 = 1.03;
/// How many functions of a path are recorded: those that execute the most instructions themselves.
const RECORDED_FUNCTIONS: usize = 40;
/// How many functions are printed that execute more instructions than recorded.
const PRINTED_FUNCTIONS: usize = 10;

/// Functions whose instructions do not count. Callgrind counts one per byte, and most bytes are those of futures, which the optimizer
/// does not copy.
const COPIES: [&str; 2] = ["__memcpy", "__memmove"];

/// What one execution of a path costs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct PathCost {
    instructions: u64,
    /// The instructions that a function executes itself, without those of the functions that it calls.
    functions: BTreeMap<String, u64>,
}

/// The costs by path.
type Costs = BTreeMap<String, PathCost>;

/// The recorded costs, and the compiler with which they were measured. Another compiler produces other instructions.
#[derive(Debug, Serialize, Deserialize)]
struct Budgets {
    compiler: String,
    paths: Costs,
}

/// Measures all paths. Writes their costs to the budgets if the context says so, otherwise compares them.
///
/// # Errors
/// Returns an error when a path exceeds its budget, or when callgrind cannot be run.
pub(super) fn run(context: &StepContext) -> Result<()> {
    let compiler = compiler()?;
    if context.records_budgets {
        let paths =
            measure(context)?.iter().map(|(path, cost)| (path.clone(), cost.most_expensive())).collect();
        let text = serde_json::to_string_pretty(&Budgets { compiler, paths })?;
        return fs::write(BUDGETS, text + "\n").with_context(|| format!("cannot write {BUDGETS}"));
    }
    let text = fs::read_to_string(BUDGETS).with_context(|| format!("cannot read {BUDGETS}"))?;
    let budgets: Budgets = serde_json::from_str(&text).with_context(|| format!("{BUDGETS} is malformed"))?;
    if budgets.compiler != compiler {
        println!(
            "note: the budgets were recorded with {}, so they do not apply to {compiler}",
            budgets.compiler
        );
        return Ok(());
    }
    let exceeded = compare(&measure(context)?, &budgets.paths);
    ensure!(
        exceeded.is_empty(),
        "{}. Make it faster, or record the new counts with `cargo xtask test --only instructions --record-budgets` and give the reason \
         in the commit",
        exceeded.join(", "),
    );
    Ok(())
}

/// Returns the version of the compiler and its platform, such as `rustc 1.95.0 (f2d3ce0bd 2026-03-21) for x86_64-unknown-linux-gnu`.
fn compiler() -> Result<String> {
    let output = Command::new(cargo_program().with_file_name("rustc")).arg("-vV").output()?;
    let text = String::from_utf8(output.stdout)?;
    let version = text.lines().next().unwrap_or_default();
    let host = text.lines().find_map(|line| line.strip_prefix("host: ")).unwrap_or_default();
    Ok(format!("{version} for {host}"))
}

fn measure(context: &StepContext) -> Result<Costs> {
    let valgrind = find_or_install(context.install)?;
    let folder = std::path::absolute("target/instructions")?;
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder)?;
    let test = context.compilation()?.integration_tests()?.command();
    let mut command = Command::new(&valgrind);
    command.args(["--tool=callgrind", "--quiet", "--instr-atstart=no"]);
    command.arg(format!("--callgrind-out-file={}", folder.join("costs").display()));
    command.arg(test.get_program()).args(["--exact", "instructions::eight_paths_stay_within_their_budgets"]);
    if let Some(tests_folder) = test.get_current_dir() {
        command.current_dir(tests_folder).env("CARGO_MANIFEST_DIR", tests_folder);
    }
    command.env_remove("DATABASE_URL").env_remove("TEST_POSTGRES_URL");
    command.env("CALLGRIND_CONTROL", valgrind.with_file_name("callgrind_control"));
    let log = folder.with_extension("log");
    command.stderr(fs::File::create(&log)?);
    run_and_print(&mut command).with_context(|| format!("the log is {}", log.display()))?;
    let files = fs::read_dir(&folder)?.map(|entry| Ok(entry?.path())).collect::<Result<Vec<PathBuf>>>()?;
    let mut costs = Costs::new();
    for file in files {
        let Some((path, cost)) = read(&file)? else { continue };
        // What else happens in the process only adds to a count.
        let lowest = costs.entry(path).or_insert_with(|| cost.clone());
        if cost.instructions < lowest.instructions {
            *lowest = cost;
        }
    }
    Ok(costs)
}

fn find_or_install(install: bool) -> Result<PathBuf> {
    if find_in_path(&["valgrind"]).is_none() {
        apt(&PACKAGE, install)?;
    }
    find_in_path(&["valgrind"])
        .context("Valgrind is installed, but `valgrind` is not in PATH; add it to PATH")
}

/// Reads a file of callgrind. Returns the path and its cost, or `None` if the file is the rest at the end of the process.
fn read(file: &Path) -> Result<Option<(String, PathCost)>> {
    let text = fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    Ok(parse(&text))
}

/// Parses the format of callgrind: the number of executions and the path in the reason of the dump, then lines `fn=(id) name`,
/// followed by lines `position count` with the instructions of the function. A line after `calls=` counts those of a called function.
fn parse(text: &str) -> Option<(String, PathCost)> {
    let name = text.lines().find_map(|line| line.strip_prefix("desc: Trigger: dump "))?;
    let (executions, path) = name.split_once(' ')?;
    let executions: u64 = executions.parse().ok()?;
    let mut names = BTreeMap::new();
    let mut functions = BTreeMap::<String, u64>::new();
    let (mut function, mut is_call) = (String::new(), false);
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("fn=") {
            function = full_name(name, &mut names);
        } else if let Some(name) = line.strip_prefix("cfn=") {
            full_name(name, &mut names);
        } else if line.starts_with("calls=") {
            is_call = true;
        } else if line.starts_with(|first: char| first.is_ascii_digit() || "+-*".contains(first)) {
            let count = line.split(' ').nth(1).and_then(|count| count.parse::<u64>().ok());
            let is_copy = COPIES.iter().any(|copy| function.starts_with(copy));
            if !is_call
                && !is_copy
                && let Some(count) = count
            {
                *functions.entry(function.clone()).or_default() += count;
            }
            is_call = false;
        }
    }
    functions.values_mut().for_each(|count| *count /= executions);
    Some((path.to_owned(), PathCost { instructions: functions.values().sum(), functions }))
}

/// Returns the name in `(id) name`, or the name that was defined for `(id)` before.
fn full_name(text: &str, names: &mut BTreeMap<String, String>) -> String {
    let (id, name) = text.split_once(' ').unwrap_or((text, ""));
    if name.is_empty() {
        return names.get(id).cloned().unwrap_or_default();
    }
    // Recursive calls are counted apart: `name'2`.
    let name = name.split('\'').next().unwrap_or(name).to_owned();
    names.insert(id.to_owned(), name.clone());
    name
}

impl PathCost {
    /// Returns the cost with the most expensive functions only.
    fn most_expensive(&self) -> Self {
        let mut functions: Vec<(&String, &u64)> = self.functions.iter().collect();
        functions.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        let functions = functions.into_iter().take(RECORDED_FUNCTIONS);
        Self {
            instructions: self.instructions,
            functions: functions.map(|(name, count)| (name.clone(), *count)).collect(),
        }
    }

    /// Returns the functions that grew, with their counts and the recorded ones, by growth. A function that is not recorded was
    /// below all recorded ones.
    fn growth<'a>(&'a self, budget: &PathCost) -> Vec<(&'a str, u64, u64)> {
        let smallest = budget.functions.values().min().copied().unwrap_or_default();
        let grown = self.functions.iter().filter_map(|(name, count)| {
            let recorded = budget.functions.get(name).copied().unwrap_or(smallest);
            (*count > recorded).then_some((name.as_str(), *count, recorded))
        });
        let mut grown: Vec<_> = grown.collect();
        grown.sort_by_key(|(_, count, recorded)| std::cmp::Reverse(count - recorded));
        grown
    }
}

/// Prints the costs beside their budgets. Returns what is wrong with paths that exceed theirs or were not measured.
fn compare(costs: &Costs, budgets: &Costs) -> Vec<String> {
    println!("{:<16} {:>12} {:>12} {:>6}", "path", "instructions", "budget", "ratio");
    let mut exceeded = Vec::new();
    for (path, cost) in costs {
        let budget = budgets.get(path).cloned().unwrap_or_default();
        let ratio = cost.instructions as f64 / budget.instructions as f64;
        println!("{path:<16} {:>12} {:>12} {ratio:>6.3}", cost.instructions, budget.instructions);
        if ratio > TOLERANCE {
            exceeded.push(format!("{path} is more than {:.0} % over its budget", (TOLERANCE - 1.0) * 100.0));
            for (name, count, recorded) in cost.growth(&budget).into_iter().take(PRINTED_FUNCTIONS) {
                println!("    {recorded:>8} -> {count:>8}  {name}");
            }
        }
    }
    let unmeasured = budgets.keys().filter(|path| !costs.contains_key(*path));
    exceeded.extend(unmeasured.map(|path| format!("{path} was not measured")));
    exceeded
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTPUT: &str = "desc: Trigger: dump 5 getCourse\nfn=(1) a\n5 400\ncfn=(2) b\ncalls=1 9\n6 2000\n+1 200\n\nfn=(2)\n9 2000\nfn=(3) a'2\n1 400\n";

    fn costs(text: &str) -> Costs {
        parse(text).into_iter().collect()
    }

    #[test]
    fn each_function_is_counted_without_those_that_it_calls() {
        let (path, cost) = parse(OUTPUT).unwrap();
        assert_eq!((path.as_str(), cost.instructions), ("getCourse", 600));
        assert_eq!(cost.functions, BTreeMap::from([("a".to_owned(), 200), ("b".to_owned(), 400)]));
        assert_eq!(parse("desc: Trigger: Program termination\nfn=(1) a\n5 400\n"), None);
    }

    #[test]
    fn a_path_that_exceeds_its_budget_is_found_with_the_functions_that_grew() {
        let budgets = costs(OUTPUT);
        assert_eq!(compare(&budgets, &budgets), Vec::<String>::new());
        let slower = costs(&OUTPUT.replace("9 2000", "9 2100"));
        assert_eq!(compare(&slower, &budgets), ["getCourse is more than 3 % over its budget"]);
        assert_eq!(slower["getCourse"].growth(&budgets["getCourse"]), [("b", 420, 400)]);
        assert_eq!(compare(&costs(&OUTPUT.replace("9 2000", "9 2080")), &budgets), Vec::<String>::new());
        assert_eq!(compare(&Costs::new(), &budgets), ["getCourse was not measured"]);
    }
}
