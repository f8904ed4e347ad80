//! The fields of forms: label, hint, and what is wrong beside the field, tied together for screen readers.

use askama::Template;

use super::piece;

piece!(Field<'_>);

/// One choice of a list.
#[derive(Debug, Clone)]
pub(crate) struct Choice<'a> {
    /// What is sent.
    pub value: &'a str,
    /// What is read.
    pub label: &'a str,
    /// More about it.
    pub hint: &'a str,
    /// Whether it is chosen.
    pub chosen: bool,
}

/// What a field looks like.
#[derive(Debug, Clone)]
enum Control<'a> {
    /// One line; the type of the input: `text`, `email`, `password`, `number`, `search`, `date`.
    Line(&'a str),
    /// A moment, in UTC as the server reads it.
    Moment,
    /// Many lines.
    Prose,
    /// One of a list.
    Select(Vec<Choice<'a>>),
    /// Any of a list, as boxes.
    Boxes(Vec<Choice<'a>>),
}

/// A field: made by [`field`], and shaped by its methods.
#[derive(Template)]
#[template(path = "ui/field.html")]
pub(crate) struct Field<'a> {
    name: &'a str,
    label: &'a str,
    value: &'a str,
    hint: &'a str,
    example: &'a str,
    fault: Option<&'a str>,
    control: Control<'a>,
    required: bool,
    autocomplete: &'a str,
}

/// A field of one line, with this name and label.
pub(crate) fn field<'a>(name: &'a str, label: &'a str) -> Field<'a> {
    let control = Control::Line("text");
    Field {
        name,
        label,
        value: "",
        hint: "",
        example: "",
        fault: None,
        control,
        required: false,
        autocomplete: "off",
    }
}

impl<'a> Field<'a> {
    /// What it holds. A password's field never shows what it held.
    pub(crate) fn value(self, value: &'a str) -> Self {
        Self { value, ..self }
    }

    /// A sentence below the label.
    pub(crate) fn hint(self, hint: &'a str) -> Self {
        Self { hint, ..self }
    }

    /// What stands in the empty field: what may be written there.
    pub(crate) fn example(self, example: &'a str) -> Self {
        Self { example, ..self }
    }

    /// What is wrong with it: `faults.of("name")`. It goes on after the label: "must have 1 to 200 characters".
    pub(crate) fn fault(self, fault: Option<&'a str>) -> Self {
        Self { fault, ..self }
    }

    /// The type of the input: `email`, `password`, `number`, `search`, `date`, `url`.
    pub(crate) fn kind(self, kind: &'a str) -> Self {
        Self { control: Control::Line(kind), ..self }
    }

    /// A moment, read and given back in UTC. A browser that runs our script shows it in its own zone, says so, and sends UTC.
    pub(crate) fn moment(self) -> Self {
        Self { control: Control::Moment, ..self }
    }

    /// Text of many lines.
    pub(crate) fn prose(self) -> Self {
        Self { control: Control::Prose, ..self }
    }

    /// One of a list.
    pub(crate) fn select(self, choices: Vec<Choice<'a>>) -> Self {
        Self { control: Control::Select(choices), ..self }
    }

    /// Any of a list.
    pub(crate) fn boxes(self, choices: Vec<Choice<'a>>) -> Self {
        Self { control: Control::Boxes(choices), ..self }
    }

    /// The browser insists on it.
    pub(crate) fn required(self) -> Self {
        Self { required: true, ..self }
    }

    /// What a password manager may put here: `username`, `current-password`, `new-password`.
    pub(crate) fn autocomplete(self, autocomplete: &'a str) -> Self {
        Self { autocomplete, ..self }
    }

    fn is_moment(&self) -> bool {
        matches!(self.control, Control::Moment)
    }

    /// The ids that describe the input.
    fn described(&self) -> String {
        let hint = if self.hint.is_empty() { String::new() } else { format!("{}-hint", self.name) };
        match self.fault {
            Some(_) => format!("{hint} {}-fault", self.name).trim_start().to_owned(),
            None => hint,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_is_tied_to_its_input_and_nothing_is_believed() {
        let html = field("name", "Name")
            .value("\"><script>alert(1)</script>")
            .hint("For you")
            .fault(Some("must be shorter"))
            .required()
            .to_string();
        assert!(!html.contains("<script>"), "{html}");
        assert!(html.contains("aria-describedby=\"name-hint name-fault\""), "{html}");
        assert!(html.contains("aria-invalid=\"true\""), "{html}");
    }

    #[test]
    fn a_moment_says_its_zone() {
        let html = field("from", "Made from").moment().value("2026-03-02T10:00").to_string();
        assert!(html.contains("Made from, <span data-zone>UTC</span></label>"), "{html}");
        assert!(html.contains("type=\"datetime-local\" value=\"2026-03-02T10:00\" data-moment"), "{html}");
    }

    #[test]
    fn a_password_is_not_given_back() {
        let html = field("password", "Password").kind("password").value("secret").to_string();
        assert!(!html.contains("secret"), "{html}");
    }
}
