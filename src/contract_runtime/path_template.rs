//! Path templates: `/courses/{id}`.

use super::call::PathParameters;
use super::validate::query;

/// A path template, split into segments.
pub(crate) struct PathTemplate {
    /// The template up to its first parameter. Most paths differ there already.
    literal_start: &'static str,
    segments: Vec<Segment>,
}

enum Segment {
    Literal(&'static str),
    Parameter(&'static str),
}

impl PathTemplate {
    /// Parses a template.
    pub(crate) fn new(template: &'static str) -> Self {
        let segments = template.trim_start_matches('/').split('/').map(|segment| {
            match segment.strip_prefix('{').and_then(|inner| inner.strip_suffix('}')) {
                Some(name) => Segment::Parameter(name),
                None => Segment::Literal(segment),
            }
        });
        let literal_start = template.split('{').next().unwrap_or_default();
        Self { literal_start, segments: segments.collect() }
    }

    /// Returns the order in which templates are matched. OpenAPI 3.1, Paths Object: a concrete path is matched before a
    /// templated one. `false` sorts first.
    pub(crate) fn order(&self) -> Vec<bool> {
        self.segments.iter().map(|segment| matches!(segment, Segment::Parameter(_))).collect()
    }

    /// Returns the path parameters, or `None` when the path does not match. A path with an empty or malformed parameter
    /// does not match.
    pub(crate) fn parameters(&self, path: &str) -> Option<PathParameters> {
        if !path.starts_with(self.literal_start) {
            return None;
        }
        let mut segments = path.strip_prefix('/')?.split('/');
        let mut parameters = PathParameters::new();
        for segment in &self.segments {
            let value = segments.next()?;
            match segment {
                Segment::Literal(literal) if *literal == value => {}
                Segment::Literal(_) => return None,
                Segment::Parameter(name) => {
                    parameters.push((name, query::decode_segment(value).filter(|value| !value.is_empty())?));
                }
            }
        }
        segments.next().is_none().then_some(parameters)
    }
}

/// Returns a template in the notation of poem's router. poem-openapi numbers the parameters: `/courses/:param0`.
pub(crate) fn framework_path(template: &str) -> String {
    let mut number = 0;
    let segments = template.split('/').map(|segment| {
        if !segment.starts_with('{') {
            return segment.to_owned();
        }
        number += 1;
        format!(":param{}", number - 1)
    });
    segments.collect::<Vec<_>>().join("/")
}
