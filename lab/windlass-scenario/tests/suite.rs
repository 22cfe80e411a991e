//! The tests of scenarios: one program, since each takes a second to link.

mod canonical;
mod connections;
mod courses;
mod device;
mod draw;
mod errors;
mod errors_of_overrides;
mod files;
mod link_radio;
mod link_radio_published;
mod links;
mod outlook;
mod properties;
mod saturation;
mod sleep;
mod wifi_used;
