//! Scenarios as templates.

/// The repository's scenarios that need no other file.
macro_rules! templates {
    ($($name:literal)*) => {
        /// Name and text of each template.
        pub const TEMPLATES: &[(&str, &str)] =
            &[$(($name, include_str!(concat!("../../../scenarios/", $name, ".toml")))),*];
    };
}

templates! { "dumbbell" "lossy-download" "patient-ward" "two-path" "two-rates" "wifi-cell" }
