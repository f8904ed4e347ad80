//! Samples of requests: as JSON for `snippets.mjs`, and as text for curl and Python, which pages contain without scripts.
//!
//! `snippets.mjs` makes the same two texts from the JSON; a test compares them. The rules:
//! - The URL is the base URL and `path`. The credential is an environment variable, whose name is `variable`.
//! - Each program prints the body of the response, and fails unless the status is 2xx.
//! - curl: `curl -sS --fail-with-body 'URL'`, with `-X METHOD` before the URL unless the method is `GET`, then one option per line,
//!   indented by two spaces, after ` \`: `-H "Authorization: Bearer $VARIABLE"`, `-H 'NAME: VALUE'` for each header in the order of the
//!   JSON, and the body: `-d 'JSON'` with the pretty-printed JSON (two spaces), or `--data-raw 'TEXT'` if it is a string. In single
//!   quotes, `'` is `'\''`.
//!   With `stream`, `-N` is the first option.
//! - Python: `requests.METHOD(...)` with one argument per line: the URL as a JSON string, `headers=`, `json=` with Python literals or
//!   `data=` with a JSON string for each line, and `timeout=30`. Literals are indented by four spaces per level, with a comma after each item; `{}`
//!   and `[]` when empty. With `stream`, `stream=True` is the last argument, and each line is printed when it arrives.

use std::fmt::Write;

use super::json::Json;

/// A request of a sample.
#[derive(Debug, Clone)]
pub(crate) struct Sample {
    /// The method in upper case.
    pub method: &'static str,
    /// Path and query.
    pub path: String,
    /// The headers, without `Authorization`.
    pub headers: Vec<(String, String)>,
    /// The body: JSON, or a string that is sent as it is.
    pub body: Option<Json>,
    /// The environment variable with the credential.
    pub variable: &'static str,
    /// The scope that the credential needs.
    pub scope: Option<&'static str>,
    /// Whether the response consists of lines that are sent one after another.
    pub is_stream: bool,
}

impl Sample {
    /// Returns the JSON of the attribute `data-sample`.
    pub(crate) fn json(&self) -> Json {
        let headers = self.headers.iter().map(|(name, value)| (name.clone(), Json::from(value.as_str())));
        let fields = [
            ("method", Json::from(self.method)),
            ("path", Json::from(self.path.as_str())),
            ("headers", Json::Object(headers.collect())),
            ("body", self.body.clone().unwrap_or(Json::Null)),
            ("variable", Json::from(self.variable)),
            ("stream", Json::Bool(self.is_stream)),
        ];
        Json::Object(fields.map(|(name, value)| (name.to_owned(), value)).into())
    }

    /// Returns the command for curl.
    pub(crate) fn curl(&self, base_url: &str) -> String {
        let mut text = String::from(if self.is_stream { "curl -N " } else { "curl " });
        text += "-sS --fail-with-body ";
        if self.method != "GET" {
            let _ = write!(text, "-X {} ", self.method);
        }
        text += &quote(&format!("{base_url}{}", self.path));
        let _ = write!(text, " \\\n  -H \"Authorization: Bearer ${}\"", self.variable);
        for (name, value) in &self.headers {
            let _ = write!(text, " \\\n  -H {}", quote(&format!("{name}: {value}")));
        }
        match &self.body {
            Some(Json::String(body)) => {
                let _ = write!(text, " \\\n  --data-raw {}", quote(body));
            }
            Some(body) => {
                let _ = write!(text, " \\\n  -d {}", quote(&body.pretty()));
            }
            None => {}
        }
        text
    }

    /// Returns the program for Python with the package `requests`.
    pub(crate) fn python(&self, base_url: &str) -> String {
        let url = quoted(&format!("{base_url}{}", self.path));
        let method = self.method.to_lowercase();
        let mut text = format!(
            "import os\nimport sys\n\nimport requests\n\nresponse = requests.{method}(\n    {url},\n    headers={{\n"
        );
        let _ = writeln!(text, "        \"Authorization\": f\"Bearer {{os.environ['{}']}}\",", self.variable);
        for (name, value) in &self.headers {
            let _ = writeln!(text, "        {}: {},", quoted(name), quoted(value));
        }
        text += "    },\n";
        match &self.body {
            Some(Json::String(body)) => {
                // `requests` encodes text as Latin-1, so bytes are sent.
                let lines: Vec<String> = body.split_inclusive('\n').map(quoted).collect();
                let _ = writeln!(text, "    data=(\n        {}\n    ).encode(),", lines.join("\n        "));
            }
            Some(body) => {
                text += "    json=";
                write_literal(body, 1, &mut text);
                text += ",\n";
            }
            None => {}
        }
        text += "    timeout=30,\n";
        text += if self.is_stream {
            "    stream=True,\n)\nfor line in response.iter_lines():\n    print(line.decode(), flush=True)\n"
        } else {
            ")\nprint(response.text)\n"
        };
        text += "if response.status_code // 100 != 2:\n    sys.exit(1)";
        text
    }
}

/// Returns text as a JSON string, which is also a string in Python.
fn quoted(text: &str) -> String {
    Json::from(text).compact()
}

/// Quotes text for a shell.
fn quote(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Writes a JSON value as a Python literal. `level` is the indentation of the line that it begins on.
fn write_literal(value: &Json, level: usize, text: &mut String) {
    let indentation = "    ".repeat(level + 1);
    let end = "    ".repeat(level);
    match value {
        Json::Null => *text += "None",
        Json::Bool(true) => *text += "True",
        Json::Bool(false) => *text += "False",
        Json::Array(items) if !items.is_empty() => {
            *text += "[\n";
            for item in items {
                *text += &indentation;
                write_literal(item, level + 1, text);
                *text += ",\n";
            }
            *text += &end;
            *text += "]";
        }
        Json::Object(fields) if !fields.is_empty() => {
            *text += "{\n";
            for (name, value) in fields {
                let _ = write!(text, "{indentation}{}: ", quoted(name));
                write_literal(value, level + 1, text);
                *text += ",\n";
            }
            *text += &end;
            *text += "}";
        }
        other => *text += &other.compact(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(body: &str) -> Sample {
        Sample {
            method: "POST",
            path: "/api/v1/students".to_owned(),
            headers: vec![("Content-Type".to_owned(), "application/json".to_owned())],
            body: serde_json::from_str(body).ok(),
            variable: "API_KEY",
            scope: None,
            is_stream: false,
        }
    }

    #[test]
    fn a_quote_in_the_body_ends_no_argument() {
        let curl = sample(r#"{"name": "O'Hara"}"#).curl("https://api.example.com");
        assert_eq!(
            curl,
            "curl -sS --fail-with-body -X POST 'https://api.example.com/api/v1/students' \\\n  -H \"Authorization: Bearer $API_KEY\" \\\n  \
             -H 'Content-Type: application/json' \\\n  -d '{\n  \"name\": \"O'\\''Hara\"\n}'"
        );
    }

    #[test]
    fn python_has_a_string_for_each_line() {
        let python = sample(r#""{\"a\":1}\n{}\n""#).python("http://h");
        let data = "    data=(\n        \"{\\\"a\\\":1}\\n\"\n        \"{}\\n\"\n    ).encode(),\n";
        assert!(python.contains(data), "{python}");
    }

    #[test]
    fn a_stream_is_printed_line_by_line() {
        let sample = Sample { is_stream: true, ..sample("null") };
        assert!(sample.curl("http://h").starts_with("curl -N -sS "));
        let python = sample.python("http://h");
        assert!(python.contains("    stream=True,\n)\nfor line in response.iter_lines():\n"), "{python}");
    }

    #[test]
    fn python_has_its_own_literals() {
        let python = sample(r#"{"name": null, "tags": ["a"], "metadata": {}}"#).python("http://h");
        let json = "    json={\n        \"name\": None,\n        \"tags\": [\n            \"a\",\n        ],\n        \
                    \"metadata\": {},\n    },\n";
        assert!(python.contains(json), "{python}");
    }
}
