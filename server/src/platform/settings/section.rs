//! Sections of settings: every setting is declared once, by the module that uses it.
//!
//! A declaration gives the struct, its reading from the layers, its defaults, and the text of the
//! reference. The environment variable is `TELLTALE_` and the key in capitals, with underscores for
//! dots; a few settings have a second, shorter variable.

use super::error::ConfigError;
use super::reader::Reader;

/// The declaration of a setting, for the reference and the layers.
#[derive(Debug)]
pub struct Setting {
    /// The section and the name, joined with a dot.
    pub key: &'static str,
    /// The default, as it would be written in an environment variable.
    pub default: &'static str,
    /// A second environment variable.
    pub short_variable: Option<&'static str>,
    /// A flag of its own, in addition to `--set`.
    pub flag: Option<&'static str>,
    /// A description of valid values.
    pub expects: &'static str,
    /// Whether a value in the environment or in a flag may be a TOML list.
    pub is_list: bool,
    /// The description of the setting.
    pub doc: &'static str,
}

impl Setting {
    /// Returns the environment variable derived from the key.
    pub fn variable(&self) -> String {
        format!("TELLTALE_{}", self.key.replace('.', "_").to_uppercase())
    }
}

/// The declaration of a section of the file.
#[derive(Debug)]
pub struct Section {
    /// The name in square brackets.
    pub path: &'static str,
    /// The description of the section.
    pub doc: &'static str,
    /// Its settings, in order.
    pub settings: &'static [Setting],
}

/// A struct with the settings of one section. `settings_section!` declares it.
pub trait SettingsSection: Sized {
    /// The declaration.
    const DECLARATION: Section;

    /// Reads every setting from the highest layer that sets it.
    fn read(reader: &mut Reader<'_>) -> Result<Self, ConfigError>;

    /// Returns the section with the declared defaults.
    ///
    /// # Panics
    ///
    /// If a declared default is invalid.
    fn defaults() -> Self {
        let path = Self::DECLARATION.path;
        match Self::read(&mut Reader::of_defaults()) {
            Ok(section) => section,
            Err(error) => panic!("the section {path} declares an invalid default: {error}"),
        }
    }
}

/// Declares the struct of a section with its settings. `settings_section!` is for files that `use`
/// nothing of this module: all names it needs are paths.
macro_rules! settings_section {
    (
        $(#[doc = $section_doc:literal])+
        #[derive($($derive:ident),+)]
        $path:literal $Section:ident {$(
            $(#[doc = $doc:literal])+
            $name:ident: $type:ty = $default:literal $(, variable $variable:literal)? $(, flag $flag:literal)?;
        )+}
    ) => {
        $(#[doc = $section_doc])+
        #[derive($($derive),+)]
        pub struct $Section {$(
            $(#[doc = $doc])+
            pub $name: $type,
        )+}

        impl $crate::platform::settings::SettingsSection for $Section {
            const DECLARATION: $crate::platform::settings::Section =
                $crate::platform::settings::Section {
                    path: $path,
                    doc: concat!($($section_doc),+),
                    settings: &[$($crate::platform::settings::Setting {
                        key: concat!($path, ".", stringify!($name)),
                        default: $default,
                        short_variable: $crate::platform::settings::optional!($($variable)?),
                        flag: $crate::platform::settings::optional!($($flag)?),
                        expects: <$type as $crate::platform::settings::SettingValue>::EXPECTS,
                        is_list: <$type as $crate::platform::settings::SettingValue>::IS_LIST,
                        doc: concat!($($doc),+),
                    }),+],
                };

            fn read(
                reader: &mut $crate::platform::settings::Reader<'_>,
            ) -> Result<Self, $crate::platform::settings::ConfigError> {
                Ok(Self {$(
                    $name: reader.value(concat!($path, ".", stringify!($name)), $default)?,
                )+})
            }
        }

        impl Default for $Section {
            fn default() -> Self {
                <Self as $crate::platform::settings::SettingsSection>::defaults()
            }
        }
    };
}

macro_rules! optional {
    () => {
        None
    };
    ($value:literal) => {
        Some($value)
    };
}

pub(crate) use {optional, settings_section};
