//! Finds words that this project does not use in code, comments, messages, pages and documents.
//!
//! Names count like prose: `EnrolPage` and `enrol_page` are both read as "enrol page".

use std::sync::LazyLock;

use regex::Regex;

use super::TidyFinding;

/// A group of words to avoid.
struct Avoided {
    /// A regular expression over lowercase words that are separated by single spaces.
    words: &'static str,
    /// What to write instead.
    instead: &'static str,
    /// Technical uses: text of the line that matches this expression is ignored, such as `run_upkeep` of a library.
    allowed: &'static str,
    /// Files and folders in which the words are terms of their field, or stored values.
    allowed_in: &'static [&'static str],
}

/// The words to avoid. Extend `allowed` for a technical use of a word, such as the drawing of a chart.
const AVOIDED: &[Avoided] = &[
    Avoided {
        words: "(taken|takes?|taking|took) (it |them |changes? )?in|(comes?|came) in as",
        instead: "import, ingest or apply",
        allowed: "(taken|takes?|taking|took) in (memory|order|turn|the|a|each|this|round|seconds?|milliseconds?)",
        allowed_in: &[],
    },
    Avoided {
        words: "outlooks?|barren|an? look|the look|upkeep",
        instead: "poll policy, empty poll, poll or read, maintenance job",
        allowed: "a look and feel|run upkeep|upkeep timeout",
        allowed_in: &[],
    },
    Avoided {
        words: "lanes?|landings?|flights?",
        instead: "endpoint slot, drain, in-flight set",
        allowed: "in flight",
        allowed_in: &["src/domain/passwords.rs"],
    },
    Avoided {
        words: "hand ?offs?|desks?|born|bells?",
        instead: "fast path, registration, pre-leased, wake signal",
        allowed: "desktop",
        allowed_in: &[],
    },
    Avoided {
        words: "standings?|drew|drawn",
        instead: "status, decision, diagnostic with source excerpt",
        allowed: "chart|axis|line is drawn",
        allowed_in: &["src/dashboard/chart/", "tests/it/dashboard_overview.rs"],
    },
    Avoided {
        words: "rooms?|houses?|doors?|fronts?|the way of",
        instead: "capacity, project, API state, flow",
        allowed: "in front of|front end|pop front|push front|front matter",
        allowed_in: &[],
    },
    Avoided {
        words: "gates?",
        instead: "request pipeline",
        allowed: "breaking change gates?|coverage gates?|openapi gate|aggregate",
        allowed_in: &["tests/it/coverage.rs", "xtask/breaking/", "xtask/check/"],
    },
    Avoided {
        words: "visits?|gathered|twins?|noted",
        instead: "request, collected, counterpart, audited",
        allowed: "(fn|impl|de|serde|error|v|self|node|tree) visit|visit (str|map|seq|bytes|unit|none|some|u64|i64|f64|bool|string|borrowed|value)",
        allowed_in: &["tests/it/support/crawl.rs", "xtask/"],
    },
    Avoided {
        words: "told|mended|given up|gives? up|gave up|believed?|believes|swallow(s|ed)?",
        instead: "notified, fixed, dead-lettered, trusted, lost",
        allowed: "",
        allowed_in: &["migration/"],
    },
    Avoided {
        words: "moved clock|drops? doubles|ledgers?",
        instead: "simulated clock, deduplicates, counts reconcile",
        allowed: "",
        allowed_in: &[],
    },
    Avoided {
        words: "when the (database|query|transaction|write|store|server) does",
        instead: "Returns [`DbErr`] when the query fails",
        allowed: "(does) (not|so|the|its|this)",
        allowed_in: &[],
    },
    Avoided {
        words: "enrol",
        instead: "American spelling",
        // A stored action of the audit log.
        allowed: "student enrol",
        allowed_in: &[],
    },
    Avoided {
        words: "cancelled|catalogues?",
        instead: "American spelling",
        allowed: "canceled cancelled|is cancelled",
        // Stored values and the names of benchmarks.
        allowed_in: &[
            "src/domain/courses/catalog/mod.rs",
            "tests/bench/",
            "xtask/breaking/tests/",
            "xtask/src/bench/",
        ],
    },
    Avoided {
        words: "enrol(s|ment|ments)|licences?|behaviours?|colours?|honours?|favours?|neighbours?|centre[sd]?|cancelling|labell(ed|ing)|\
                (seriali|recogni|initiali|normali|authori|organi|optimi|summari|synchroni|minimi|capitali)s(e|es|ed|ing|ations?)|judgements?|grey",
        instead: "American spelling",
        allowed: "",
        allowed_in: &[],
    },
    Avoided {
        words: "the seed s|(the )?seed (s )?\\d+( \\d+)?",
        instead: "the section of the contract or of README.md",
        allowed: "seed (s )?\\d+ (gives|generates)|the seed s (random|number)",
        allowed_in: &["src/feed/"],
    },
    Avoided {
        words: "whoever|what there is|says how many|given back|gives? back|gave back|(goes|go|went) on where",
        instead: "a short declarative sentence",
        allowed: "",
        allowed_in: &[],
    },
];

static EXPRESSIONS: LazyLock<Vec<(Regex, Option<Regex>, &'static Avoided)>> = LazyLock::new(|| {
    let whole = |words: &str| Regex::new(&format!(r"\b(?:{words})\b")).expect("valid expression");
    let allowed = |words: &'static str| (!words.is_empty()).then(|| whole(words));
    AVOIDED.iter().map(|avoided| (whole(avoided.words), allowed(avoided.allowed), avoided)).collect()
});

/// Files with text of other projects, stored data, or words to avoid that are quoted on purpose.
const UNCHECKED_FILES: &[&str] = &[
    ".licenses/",
    "Cargo.lock",
    "openapi/released/",
    "src/dashboard/static/htmx",
    "src/feed/demo.ndjson",
    "tests/it/browser/axe/",
    "xtask/breaking/tests/oasdiff.txt",
    "xtask/src/tidy/wording.rs",
];

/// Returns whether the wording of a file is checked: text that people of this project write.
pub(super) fn is_checked(file: &str) -> bool {
    !UNCHECKED_FILES.iter().any(|unchecked| file.starts_with(unchecked)) && !file.ends_with(".snap")
}

/// Returns a finding for each line that contains a word to avoid.
pub(super) fn check(file: &str, text: &str) -> Vec<TidyFinding> {
    let lines = (1..).zip(text.lines());
    lines
        .filter_map(|(number, line)| {
            let line = words(line);
            let (avoided_words, instead) = EXPRESSIONS.iter().find_map(|(words, allowed, avoided)| {
                if avoided.allowed_in.iter().any(|path| file.starts_with(path)) {
                    return None;
                }
                let checked_line = match allowed {
                    Some(allowed) => allowed.replace_all(&line, ""),
                    None => (&*line).into(),
                };
                Some((words.find(&checked_line)?.as_str().to_owned(), avoided.instead))
            })?;
            Some(TidyFinding::new(
                file,
                number,
                format!("the wording \"{avoided_words}\""),
                format!("write: {instead}"),
            ))
        })
        .collect()
}

/// Returns the words of a line in lowercase, separated by single spaces. The words of a name count one by one.
fn words(line: &str) -> String {
    let mut words = String::with_capacity(line.len() + 16);
    let mut follows_lowercase = false;
    for character in line.chars() {
        let starts_word = character.is_uppercase() && follows_lowercase;
        follows_lowercase = character.is_lowercase() || character.is_ascii_digit();
        if (starts_word || !character.is_alphanumeric()) && !words.is_empty() && !words.ends_with(' ') {
            words.push(' ');
        }
        if character.is_alphanumeric() {
            words.extend(character.to_lowercase());
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        check("src/a.rs", text).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_word_is_found_in_prose_and_in_names() {
        assert_eq!(
            found("//! Fine.\n// The licence of a library.\n"),
            ["src/a.rs:2: the wording \"licence\"; write: American spelling"]
        );
        assert_eq!(found("struct EnrolPage;\nfn enrol_page() {}\nlet unroll = 1;\n").len(), 2);
    }

    #[test]
    fn technical_uses_are_accepted() {
        assert_eq!(
            found("/// The proxy in front of the server; deliveries in_flight; fn visit_str\n"),
            [""; 0]
        );
        assert_eq!(found("/// The front of the proxy in front of the server.\n").len(), 1);
    }
}
