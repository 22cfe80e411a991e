//! Scenarios to begin with.

/// The repository's scenarios that stand for themselves.
macro_rules! templates {
    ($($name:literal)*) => {
        /// Name and text of each.
        pub const TEMPLATES: &[(&str, &str)] =
            &[$(($name, include_str!(concat!("../../../scenarios/", $name, ".toml")))),*];
    };
}

templates! { "dumbbell" "lossy-download" "patient-ward" "two-path" "two-rates" "wifi-cell" }
