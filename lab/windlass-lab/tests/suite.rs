//! The tests of the laboratory, in one program, because linking a program takes a second.

mod adversary;
mod assess;
mod audit;
mod catalogue;
mod choose;
mod crosscheck;
mod messages;
mod packet_train;
mod paper_ccm_ss;
mod paper_cocoa3plus;
mod paper_folders;
mod paper_mfvl;
mod paper_mistakes;
mod paper_reno_ber;
mod paper_support;
mod paper_tcp_modified;
mod papers;
mod patient_ward;
mod scenario_energy;
mod scenario_grid;
mod scenario_multipath;
mod scenario_wifi;
mod scenario_wifi_errors;
mod why;
