//! Joins the findings about requests with a usage report: which API keys a breaking change concerns.
//!
//! The report contains the requests that the server accepted and the revision would reject, each with the JSON pointer of
//! the failing keyword. A rejected request belongs to the finding at this keyword, or else at its nearest ancestor. The
//! digests of an operation in the report must be those of both documents; otherwise the report says nothing about it.
//!
//! A server does not see which fields of a response a client reads, so that a finding that is not about requests is never unused. It
//! names the keys that call the operation.

use std::collections::{BTreeMap, HashMap};

use anyhow::{Result, ensure};
use contract::node::Node;
use contract::operations::{self, OperationPair};
use contract::plain_text::plain_text;
use contract::source::Span;
use contract::usage::{Direction, KeyUsage, OperationUsage, UsageFinding, UsageReport};
use jiff::civil::Date;
use jiff::{Timestamp, ToSpan as _};
use serde::Serialize;

use super::config::Settings;
use super::document::OpenApiDocument;
use super::finding::Finding;
use super::report::count;
use super::rule::Level;

/// The window without a policy, in days.
const DEFAULT_DAYS: i32 = 30;
/// The maximum number of keys that are shown to people; further ones are only counted.
const MAX_SHOWN_KEYS: usize = 5;

/// What the traffic says about a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Verdict {
    /// More requests than the threshold break.
    Used,
    /// At most as many requests as the threshold break, and every request was checked.
    Unused,
    /// The report does not cover all requests, or requests do not show the change.
    Unknown,
}

/// The consumers of what a finding breaks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Usage {
    /// The verdict.
    pub verdict: Verdict,
    /// Why the verdict is unknown; empty otherwise.
    pub reason: String,
    /// The window in days.
    pub days: i32,
    /// The number of requests that break, estimated from the sample; 0 if the finding is not about requests.
    pub requests: u64,
    /// The number of keys that called the affected operations.
    pub active_keys: u64,
    /// The keys that sent these requests, those with the most requests first. If the finding is not about requests, the callers of the
    /// affected operations.
    pub keys: Vec<Consumer>,
    /// Whether the policy lowered the level.
    pub lowered: bool,
}

/// An API key that sent requests that break.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Consumer {
    /// The key and the name of the workspace.
    pub workspace: String,
    /// The name of the workspace.
    pub workspace_name: String,
    /// The id of the API key.
    pub key: String,
    /// The name of the API key.
    pub key_name: String,
    /// The number of requests.
    pub requests: u64,
    /// The last request.
    pub last_at: Timestamp,
    /// The request id of an example, while the request log contains it.
    pub request_id: Option<String>,
}

impl Usage {
    /// Describes the usage in one sentence without a period.
    pub(crate) fn sentence(&self) -> String {
        let days = count(usize::try_from(self.days).unwrap_or_default(), "day", "days");
        let keys =
            count(usize::try_from(self.active_keys).unwrap_or(usize::MAX), "active key", "active keys");
        match self.verdict {
            Verdict::Unused if self.requests == 0 => {
                format!("unused: none of the requests of {keys} in {days} breaks")
            }
            Verdict::Unknown => format!("unknown: {}", self.reason),
            Verdict::Used | Verdict::Unused => {
                let name = if self.verdict == Verdict::Used { "used" } else { "unused" };
                let consumers: Vec<String> =
                    self.keys.iter().take(MAX_SHOWN_KEYS).map(Consumer::sentence).collect();
                let further = further(&self.keys);
                let requests = usize::try_from(self.requests).unwrap_or(usize::MAX);
                let requests = count(requests, "request breaks", "requests break");
                format!("{name}: {requests} in {days}: {}{further}", consumers.join("; "))
            }
        }
    }
}

/// Describes the keys that are not shown.
fn further(keys: &[Consumer]) -> String {
    match keys.len().saturating_sub(MAX_SHOWN_KEYS) {
        0 => String::new(),
        further => format!("; and {}", count(further, "further key", "further keys")),
    }
}

impl Consumer {
    fn sentence(&self) -> String {
        let example = self.request_id.as_ref().map(|id| format!(", for example {id}")).unwrap_or_default();
        format!(
            "{} from key `{}` of {}, last on {}{example}",
            self.requests,
            self.key_name,
            self.workspace_name,
            self.last_at.strftime("%F")
        )
    }
}

/// Sets the usage of findings about requests. Lowers unused ones to warnings if the policy says so.
///
/// # Errors
/// Returns an error if the report is about other contracts, or is older than the window.
pub(crate) fn apply(
    report: &UsageReport,
    (base, revision): (&OpenApiDocument, &OpenApiDocument),
    settings: &Settings,
    findings: &mut [Finding],
    today: Date,
) -> Result<()> {
    let policy = settings.policies.usage.as_ref();
    let (days, threshold) = policy.map_or((DEFAULT_DAYS, 0), |policy| (policy.days, policy.threshold));
    let last_day = report.last_day();
    ensure!(
        today.checked_sub(days.days())? <= last_day,
        "the usage report is from {last_day}, more than {} ago; create a new one with `creator-api candidate report --json`",
        count(usize::try_from(days).unwrap_or_default(), "day", "days")
    );
    let pairs = operations::pairs(&base.root, &revision.root);
    let first_day = last_day.checked_sub((days - 1).days())?;
    let is_old = last_day < today.checked_sub(1.day())?;
    let join = Join { report, root: &revision.root, days, first_day, old: is_old.then_some(last_day) };
    let coverage: HashMap<&str, Coverage<'_>> =
        pairs.iter().map(|pair| (&*pair.base.id, join.coverage(pair))).collect();
    ensure!(
        report.operations.is_empty()
            || pairs.is_empty()
            || coverage.values().any(|coverage| coverage.is_known),
        "the usage report is about other contracts: no operation has the same digests; create it on a server whose contract \
         is the base and whose --candidate-contract is the revision"
    );
    let is_invisible = |finding: &&mut Finding| !finding.is_about_requests && finding.level != Level::Info;
    for finding in findings.iter_mut().filter(is_invisible) {
        finding.usage = join.callers(finding, &coverage);
    }
    let (mut hits, doubts) = join.assign(&coverage, findings);
    for (index, finding) in findings.iter_mut().enumerate().filter(|(_, finding)| finding.is_about_requests) {
        let mut usage =
            join.usage(finding, &coverage, doubts.get(&index), hits.remove(&index).unwrap_or_default());
        if usage.verdict != Verdict::Unknown || usage.requests > threshold {
            let is_used = usage.requests > threshold;
            usage.verdict = if is_used { Verdict::Used } else { Verdict::Unused };
            usage.reason.clear();
        }
        if policy.is_some() && usage.verdict == Verdict::Unused && finding.level == Level::Error {
            finding.level = Level::Warning;
            usage.lowered = true;
        }
        finding.usage = Some(usage);
    }
    Ok(())
}

/// What the report says about an operation.
struct Coverage<'p> {
    /// The digests of the operation in both documents.
    contracts: (&'p str, &'p str),
    /// Whether the report contains the operation with the digests of both documents.
    is_known: bool,
    /// Why requests are missing from the report, if some are.
    gap: Option<String>,
    /// Whether the revision has the operation at the same path, apart from the version.
    is_kept: bool,
    /// The number of keys that called the operation.
    keys: u64,
    /// These keys; empty in a report of an earlier release.
    callers: &'p [KeyUsage],
}

struct Join<'a> {
    report: &'a UsageReport,
    root: &'a Node,
    days: i32,
    first_day: Date,
    /// The last day of a report that does not reach until yesterday.
    old: Option<Date>,
}

impl<'a> Join<'a> {
    fn coverage<'p>(&self, pair: &'p OperationPair) -> Coverage<'p>
    where
        'a: 'p,
    {
        let contracts = (&*pair.base.digest, pair.candidate_digest());
        let is_kept = pair.candidate.is_some() && !pair.is_moved();
        let is_same = |usage: &&OperationUsage| {
            usage.operation == pair.base.id && (&*usage.base, &*usage.candidate) == contracts
        };
        let Some(usage) = self.report.operations.iter().find(is_same) else {
            let gap = format!("the report does not contain `{}` with these contracts", pair.base.id);
            return Coverage { contracts, is_known: false, gap: Some(gap), is_kept, keys: 0, callers: &[] };
        };
        let window: Vec<_> = usage.days.iter().filter(|day| day.day >= self.first_day).collect();
        let (dropped, unchecked) = window.iter().fold((0, 0), |(dropped, unchecked), day| {
            (dropped + day.dropped, unchecked + day.seen.saturating_sub(day.checked + day.dropped))
        });
        let total = i32::try_from(window.len()).unwrap_or(i32::MAX);
        let gap = match self.old {
            Some(last_day) => Some(format!("the report ends on {last_day}")),
            None if total < self.days => {
                Some(format!("`{}` was observed on {total} of {} days", pair.base.id, self.days))
            }
            None if dropped > 0 => {
                Some(format!("{dropped} requests of `{}` were dropped from the sample", pair.base.id))
            }
            None if unchecked > 0 => {
                Some(format!("{unchecked} requests of `{}` are not in the sample", pair.base.id))
            }
            None => None,
        };
        let (keys, callers) = (usage.keys, usage.callers.as_slice());
        Coverage { contracts, is_known: true, gap, is_kept, keys, callers }
    }

    /// Returns who calls the operations of a finding that is not about requests. `None` if the report says nothing about them.
    fn callers(&self, finding: &Finding, coverage: &HashMap<&str, Coverage<'_>>) -> Option<Usage> {
        let affected = finding.operations.iter().filter_map(|affected| coverage.get(&*affected.operation));
        let is_told = |coverage: &&Coverage<'_>| {
            coverage.is_known && (coverage.keys == 0 || !coverage.callers.is_empty())
        };
        let operations: Vec<&Coverage<'_>> = affected.filter(is_told).collect();
        let keys = self.consumers(operations.iter().flat_map(|coverage| coverage.callers));
        let shown: Vec<String> = keys.iter().take(MAX_SHOWN_KEYS).map(Consumer::sentence).collect();
        let reason = match (operations.is_empty(), shown.is_empty()) {
            (true, _) => return None,
            (false, true) => "no key called it".to_owned(),
            (false, false) => {
                format!(
                    "requests do not show whether it breaks a client; requests of the callers: {}{}",
                    shown.join("; "),
                    further(&keys)
                )
            }
        };
        Some(Usage {
            verdict: Verdict::Unknown,
            reason: plain_text(&reason),
            days: self.days,
            requests: 0,
            active_keys: keys.len() as u64,
            keys,
            lowered: false,
        })
    }

    /// Returns the keys of these usages in the window, those with the most requests first.
    fn consumers<'u>(&self, usages: impl Iterator<Item = &'u KeyUsage>) -> Vec<Consumer> {
        let window =
            |usage: &&KeyUsage| usage.last_at.to_zoned(jiff::tz::TimeZone::UTC).date() >= self.first_day;
        let mut consumers: BTreeMap<&str, Consumer> = BTreeMap::new();
        for usage in usages.filter(window) {
            let consumer = consumers.entry(&usage.key).or_insert_with(|| consumer(usage));
            consumer.requests += usage.requests;
            if usage.last_at >= consumer.last_at {
                consumer.last_at = usage.last_at;
                consumer.request_id =
                    usage.request_id.as_deref().map(plain_text).or(consumer.request_id.take());
            }
        }
        let mut keys: Vec<Consumer> = consumers.into_values().collect();
        keys.sort_by(|left, right| (right.requests, &left.key).cmp(&(left.requests, &right.key)));
        keys
    }

    /// Returns the rejected requests of each finding, by its index, and why other rejected requests may break because of a finding,
    /// too: they belong to no breaking finding, or were rejected before everything was compared.
    fn assign(
        &self,
        coverage: &HashMap<&str, Coverage<'_>>,
        findings: &[Finding],
    ) -> (HashMap<usize, Vec<&'a UsageFinding>>, HashMap<usize, String>) {
        let mut by_operation: HashMap<&str, Vec<usize>> = HashMap::new();
        for (index, finding) in findings.iter().enumerate().filter(|(_, finding)| finding.is_about_requests) {
            for affected in &finding.operations {
                by_operation.entry(&affected.operation).or_default().push(index);
            }
        }
        let (mut assigned, mut doubts) = (HashMap::<usize, Vec<&UsageFinding>>::new(), HashMap::new());
        let is_known = |hit: &&UsageFinding| {
            let contracts = coverage.get(&*hit.operation).map(|coverage| coverage.contracts);
            contracts == Some((&*hit.base, &*hit.candidate))
        };
        for hit in
            self.report.findings.iter().filter(|hit| hit.direction == Direction::Request).filter(is_known)
        {
            let candidates = by_operation.get(&*hit.operation).map(Vec::as_slice).unwrap_or_default();
            // A harmless finding near the keyword does not explain why the request is rejected.
            let breaking: Vec<usize> =
                candidates.iter().copied().filter(|index| findings[*index].level != Level::Info).collect();
            let mut matching = self.matching(hit, &breaking, findings);
            let is_explained = !matching.is_empty();
            if !is_explained {
                matching = self.matching(hit, candidates, findings);
            }
            let doubt = match is_explained {
                false => Some("belong to no breaking finding"),
                true => hides_others(&hit.code).then_some("can hide this change"),
            };
            for index in candidates.iter().filter(|index| doubt.is_some() && !matching.contains(index)) {
                let reason =
                    || format!("rejected requests of `{}` {}", hit.operation, doubt.unwrap_or_default());
                doubts.entry(*index).or_insert_with(reason);
            }
            matching.into_iter().for_each(|index| assigned.entry(index).or_default().push(hit));
        }
        (assigned, doubts)
    }

    /// Returns the findings to which a rejected request belongs.
    fn matching(&self, hit: &UsageFinding, candidates: &[usize], findings: &[Finding]) -> Vec<usize> {
        let select = |is_match: &dyn Fn(&Finding) -> bool| -> Vec<usize> {
            candidates.iter().copied().filter(|index| is_match(&findings[*index])).collect()
        };
        if hit.code == REMOVED {
            return select(&|finding| is_removal(&finding.id));
        }
        // The key of a parameter, such as `query limit`.
        if hit.name.contains(' ') {
            let of_parameter = select(&|finding| finding.details == hit.name);
            let is_about_presence = ["-required", "-unknown"].iter().any(|end| hit.code.ends_with(end));
            if is_about_presence && !of_parameter.is_empty() {
                return of_parameter;
            }
        }
        let ancestors = ancestors(self.root, &hit.pointer);
        // The nearest object that contains a finding about the same property.
        let of_name = ancestors.iter().filter(|_| !hit.name.is_empty()).find_map(|(_, range)| {
            let found = select(&|finding| finding.details == hit.name && contains(*range, finding.revision));
            (!found.is_empty()).then_some(found)
        });
        let first = |found: Vec<usize>| (!found.is_empty()).then_some(found);
        let at = |(spans, _): &([Span; 2], Span)| first(select(&|finding| spans.contains(&finding.revision)));
        let within =
            |(_, range): &([Span; 2], Span)| first(select(&|finding| contains(*range, finding.revision)));
        let nearest = || ancestors.first().and_then(|nearest| at(nearest).or_else(|| within(nearest)));
        let at_ancestor = || ancestors.iter().find_map(at);
        let within_ancestor = || ancestors.iter().find_map(within);
        // An object can have its properties from others, such as those of `allOf`.
        let named = || first(select(&|finding| !hit.name.is_empty() && finding.details == hit.name));
        of_name
            .or_else(named)
            .or_else(nearest)
            .or_else(at_ancestor)
            .or_else(within_ancestor)
            .unwrap_or_default()
    }

    fn usage(
        &self,
        finding: &Finding,
        coverage: &HashMap<&str, Coverage<'_>>,
        doubt: Option<&String>,
        hits: Vec<&UsageFinding>,
    ) -> Usage {
        let affected = || finding.operations.iter().map(|affected| &*affected.operation);
        let gap = affected().find_map(|operation| match coverage.get(operation) {
            None => Some(format!("`{operation}` is not an operation of the base")),
            Some(coverage) if coverage.is_kept && is_removal(&finding.id) => {
                Some(format!("the candidate has `{operation}` with another version in its path"))
            }
            Some(coverage) => coverage.gap.clone(),
        });
        let reason = match finding.is_validated {
            false => Some("validation of requests does not show this change".to_owned()),
            true => gap.or_else(|| doubt.cloned()),
        };
        let keys = self.consumers(hits.iter().flat_map(|hit| &hit.keys));
        Usage {
            verdict: if reason.is_some() { Verdict::Unknown } else { Verdict::Unused },
            reason: plain_text(&reason.unwrap_or_default()),
            days: self.days,
            requests: keys.iter().map(|key| key.requests).sum(),
            active_keys: affected()
                .filter_map(|operation| coverage.get(operation))
                .map(|coverage| coverage.keys)
                .max()
                .unwrap_or_default(),
            keys,
            lowered: false,
        }
    }
}

/// The code of requests to an operation that the candidate does not have.
const REMOVED: &str = "request-operation-removed";

fn consumer(usage: &KeyUsage) -> Consumer {
    Consumer {
        workspace: plain_text(&usage.workspace),
        workspace_name: plain_text(&usage.workspace_name),
        key: plain_text(&usage.key),
        key_name: plain_text(&usage.key_name),
        requests: 0,
        last_at: usage.last_at,
        request_id: None,
    }
}

/// Whether a rule reports a removed operation.
pub(crate) fn is_removal(id: &str) -> bool {
    ["api-removed-", "api-path-removed-", "api-path-sunset-parse"].iter().any(|start| id.starts_with(start))
}

/// Whether a rule that is not a schema rule is about requests that the revision rejects, so that validating requests against
/// the revision finds each of them. Only unknown parameters of the query are rejected.
pub(crate) fn is_validated_rule(id: &str, details: &str) -> bool {
    const RULES: [&str; 7] = [
        "request-parameter-removed",
        "new-required-request-",
        "request-property-removed",
        "request-body-added-required",
        "request-body-became-required",
        "request-body-media-type-removed",
        "request-body-media-type-schema-added",
    ];
    let is_rejected = id != "request-parameter-removed" || details.starts_with("query ");
    is_removal(id) || is_rejected && RULES.iter().any(|start| id.starts_with(start))
}

/// Whether a rule that is not a schema rule is about requests.
pub(crate) fn is_request_rule(id: &str) -> bool {
    is_removal(id)
        || ["request-", "new-required-request-", "new-request-"].iter().any(|start| id.starts_with(start))
}

/// Whether a validator that rejects a request with this code does not compare the rest of it.
fn hides_others(code: &str) -> bool {
    const ENDS: [&str; 9] = [
        "-one-of",
        "-any-of",
        "-not",
        "-if",
        "-contains",
        "-media-type",
        "-syntax",
        "-discriminator",
        "-type",
    ];
    ENDS.iter().any(|end| code.ends_with(end))
}

fn contains(range: Span, span: Span) -> bool {
    range.start <= span.start && span.start < range.end
}

/// Returns the existing nodes on the way to a JSON pointer, the nearest first, without the objects that contain several operations or
/// schemas. The pointer can lead through references. Each node has the spans of its key and its value, and the range of both.
fn ancestors(root: &Node, pointer: &str) -> Vec<([Span; 2], Span)> {
    /// The number of steps to an operation, such as `/paths/~1a/get`, or to a component.
    const SHARED_STEPS: usize = 3;
    let mut found = Vec::new();
    let mut node = root;
    for (index, token) in pointer.split('/').skip(1).enumerate() {
        let key = token.replace("~1", "/").replace("~0", "~");
        if node.entry(&key).is_none() {
            node = root.follow(node);
        }
        let next = match (node.entry(&key), node.items()) {
            (Some(entry), _) => Some((entry.key.span, &entry.value)),
            (None, Some(items)) => {
                token.parse::<usize>().ok().and_then(|index| items.get(index)).map(|item| (item.span, item))
            }
            (None, None) => None,
        };
        let Some((key, next)) = next else { break };
        if index + 1 >= SHARED_STEPS {
            let range = Span { start: key.start, end: next.span.end.max(key.end) };
            found.push(([key, next.span], range));
        }
        node = next;
    }
    found.reverse();
    found
}
