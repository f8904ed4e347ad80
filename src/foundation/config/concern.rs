//! One declaration a setting, from which everything else about it is made.

/// What is known of one setting before any value is.
#[derive(Debug)]
pub struct Setting {
    /// Its key in the file; its flag is the same with dashes.
    pub key: &'static str,
    /// Its environment variable.
    pub variable: &'static str,
    /// How its value is named in a usage line.
    pub value_name: &'static str,
    /// What it is, in sentences, with its unit.
    pub help: &'static [&'static str],
    /// The text that stands when nothing is given; `None` leaves it without a value.
    pub default: Option<&'static str>,
    /// The key of the file that holds the value, when it may come from one: `master_key_file`. The variable is the
    /// setting's own with `_FILE` after it.
    pub file_key: Option<&'static str>,
    /// The kind of value a file must hold.
    pub shape: super::value::Shape,
    /// True when the whole value is secret, so that no command line may carry it.
    pub hidden: bool,
}

impl Setting {
    /// The long flag without its dashes: `data-dir`.
    pub fn flag(&self) -> String {
        self.key.replace('_', "-")
    }

    /// The help text on one line.
    pub fn help_text(&self) -> String {
        self.help.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ")
    }

    /// The variable that names the file that holds the value, when it may come from one.
    pub fn file_variable(&self) -> Option<String> {
        self.file_key.map(|_| format!("{}_FILE", self.variable))
    }
}

/// Declares the settings of one concern and the struct of their typed values.
///
/// A line is: documentation (which becomes the flag's help), key and type, default, variable, name of the value.
macro_rules! concern {
    (
        $(#[doc = $about:literal])+
        $name:ident, $heading:literal {
            $(
                $(#[doc = $help:literal])+
                $key:ident: $kind:ty = $default:expr, $variable:literal, $value_name:literal;
            )+
        }
    ) => {
        $(#[doc = $about])+
        #[derive(Debug, Clone)]
        pub struct $name {
            $(
                $(#[doc = $help])+
                #[doc = concat!("\n\nVariable `", $variable, "`; the flag and the key of the file are the field's name.")]
                pub $key: $kind,
            )+
        }

        impl $name {
            /// The heading these settings stand under.
            pub const HEADING: &str = $heading;
            /// What can be set here.
            pub const SETTINGS: &[$crate::config::Setting] = &[$(
                $crate::config::Setting {
                    key: stringify!($key),
                    variable: $variable,
                    value_name: $value_name,
                    help: &[$($help),+],
                    default: $default,
                    shape: <$kind as $crate::config::value::Field>::SHAPE,
                    file_key: match <$kind as $crate::config::value::Field>::SECRET {
                        true => Some(concat!(stringify!($key), "_file")),
                        false => None,
                    },
                    hidden: <$kind as $crate::config::value::Field>::HIDDEN,
                },
            )+];

            /// The typed values; a fault goes to `given` and leaves `None`.
            pub(super) fn read(given: &mut $crate::config::Given) -> Option<Self> {
                $(let $key = given.field(stringify!($key));)+
                Some(Self { $($key: $key?),+ })
            }
        }
    };
}

pub(super) use concern;
