//! Form fields: label, hint, input and error message, linked for screen readers.

use askama::Template;

use super::html_safe;

html_safe!(FormField<'_>);

/// An option of a select or checkbox field.
#[derive(Debug, Clone)]
pub(crate) struct FormChoice<'a> {
    /// The submitted value.
    pub value: &'a str,
    /// The displayed label.
    pub label: &'a str,
    /// An explanation below the label; empty for none.
    pub hint: &'a str,
    /// Whether it is selected.
    pub is_selected: bool,
}

/// Returns options without hints, given as value and label.
pub(crate) fn choices<'a>(
    options: impl Iterator<Item = (&'a str, &'a str)>,
    selected: &str,
) -> Vec<FormChoice<'a>> {
    options
        .map(|(value, label)| FormChoice { value, label, hint: "", is_selected: value == selected })
        .collect()
}

/// The control that a field renders.
#[derive(Debug, Clone)]
enum Control<'a> {
    /// A single-line input with its type, such as `text` or `email`.
    SingleLine(&'a str),
    /// A date and time.
    DateTime,
    /// A multi-line input.
    Multiline,
    /// A list with one selected option.
    Select(Vec<FormChoice<'a>>),
    /// Checkboxes.
    Checkboxes(Vec<FormChoice<'a>>),
}

/// A form field. Create it with [`field`] and configure it with its methods.
#[derive(Template)]
#[template(path = "ui/field.html")]
pub(crate) struct FormField<'a> {
    name: &'a str,
    label: &'a str,
    value: &'a str,
    hint: &'a str,
    placeholder: &'a str,
    error: Option<&'a str>,
    control: Control<'a>,
    required: bool,
    autocomplete: &'a str,
}

/// Creates a single-line text field with this name and label.
pub(crate) fn field<'a>(name: &'a str, label: &'a str) -> FormField<'a> {
    let control = Control::SingleLine("text");
    FormField {
        name,
        label,
        value: "",
        hint: "",
        placeholder: "",
        error: None,
        control,
        required: false,
        autocomplete: "off",
    }
}

/// Returns an error message as a sentence. A message that begins with a lowercase letter continues the label: "Name must
/// have 1 to 200 characters."
pub(crate) fn error_sentence(label: &str, message: &str) -> String {
    if message.starts_with(|first: char| first.is_ascii_lowercase()) {
        format!("{label} {message}.")
    } else {
        format!("{message}.")
    }
}

impl<'a> FormField<'a> {
    /// Sets the value. Password fields never render it.
    pub(crate) fn value(self, value: &'a str) -> Self {
        Self { value, ..self }
    }

    /// Sets the hint below the label.
    pub(crate) fn hint(self, hint: &'a str) -> Self {
        Self { hint, ..self }
    }

    /// Sets the placeholder of an empty field.
    pub(crate) fn placeholder(self, placeholder: &'a str) -> Self {
        Self { placeholder, ..self }
    }

    /// Sets the error message: `errors.message_for("name")`. [`error_sentence`] completes it.
    pub(crate) fn error(self, error: Option<&'a str>) -> Self {
        Self { error, ..self }
    }

    /// Sets the type of the input: `email`, `password`, `number`, `search`, `date`, `url`.
    pub(crate) fn input_type(self, input_type: &'a str) -> Self {
        Self { control: Control::SingleLine(input_type), ..self }
    }

    /// Makes the field a date and time. The form must contain [`PageZone::field`](super::PageZone::field).
    pub(crate) fn date_time(self) -> Self {
        Self { control: Control::DateTime, ..self }
    }

    /// Makes the field a multi-line text field.
    pub(crate) fn multiline(self) -> Self {
        Self { control: Control::Multiline, ..self }
    }

    /// Makes the field a list with one selected option.
    pub(crate) fn select(self, choices: Vec<FormChoice<'a>>) -> Self {
        Self { control: Control::Select(choices), ..self }
    }

    /// Makes the field a group of checkboxes.
    pub(crate) fn checkboxes(self, choices: Vec<FormChoice<'a>>) -> Self {
        Self { control: Control::Checkboxes(choices), ..self }
    }

    /// Makes the browser require a value.
    pub(crate) fn required(self) -> Self {
        Self { required: true, ..self }
    }

    /// Sets what a password manager may fill in: `username`, `current-password`, `new-password`.
    pub(crate) fn autocomplete(self, autocomplete: &'a str) -> Self {
        Self { autocomplete, ..self }
    }

    /// Returns the error message as a sentence; empty without an error.
    fn error_sentence(&self) -> String {
        self.error.map(|message| error_sentence(self.label, message)).unwrap_or_default()
    }

    /// Returns the ids of the elements that describe the input.
    fn described_by(&self) -> String {
        let hint = if self.hint.is_empty() { String::new() } else { format!("{}-hint", self.name) };
        match self.error {
            Some(_) => format!("{hint} {}-fault", self.name).trim_start().to_owned(),
            None => hint,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_describes_its_input_and_values_are_escaped() {
        let html = field("name", "Name")
            .value("\"><script>alert(1)</script>")
            .hint("For you")
            .error(Some("must be shorter"))
            .required()
            .to_string();
        assert!(!html.contains("<script>"), "{html}");
        assert!(html.contains("aria-describedby=\"name-hint name-fault\""), "{html}");
        assert!(html.contains("aria-invalid=\"true\""), "{html}");
    }

    #[test]
    fn an_error_continues_its_label_or_is_a_sentence() {
        assert_eq!(error_sentence("Name", "must be shorter"), "Name must be shorter.");
        assert_eq!(error_sentence("Events", "`a.b` is not an event type"), "`a.b` is not an event type.");
    }

    #[test]
    fn a_password_is_never_rendered() {
        let html = field("password", "Password").input_type("password").value("secret").to_string();
        assert!(!html.contains("secret"), "{html}");
    }
}
