//! Kernel modules of the guest, and their loading order.

use std::collections::{BTreeMap, BTreeSet};

use super::{Error, deb, elf};

/// Queueing disciplines, for programs that use the kernel's own instead of the testbed's links. `fq_codel`
/// and the FIFOs are built into Debian's kernels.
const DISCIPLINES: [&str; 8] = [
    "sch_codel",
    "sch_dualpi2",
    "sch_fq",
    "sch_fq_pie",
    "sch_netem",
    "sch_pie",
    "sch_red",
    "sch_tbf",
];

/// TUN and veth devices, and the port for the answer. Some kernels have them built in.
const DRIVERS: [&str; 4] = [
    "drivers/char/virtio_console",
    "drivers/net/tun",
    "drivers/net/veth",
    "drivers/virtio/virtio_pci",
];

/// True if the guest gets a module for its own use: drivers, all TCP modules (its algorithms and `tcp_diag`),
/// and queueing disciplines.
fn wanted(place: &str) -> bool {
    let discipline = place.strip_prefix("net/sched/");
    DRIVERS.contains(&place)
        || place.starts_with("net/ipv4/tcp_")
        || discipline.is_some_and(|name| DISCIPLINES.contains(&name))
}

/// Name and contents of a module.
pub(super) type Module = (String, Vec<u8>);

/// Returns the modules of a kernel's packages for the guest, each after the modules that it needs.
pub(super) fn choose(packages: &[deb::Contents]) -> Result<Vec<Module>, Error> {
    let of_all = |wanted: &dyn Fn(&str) -> bool| {
        let mut all = BTreeMap::new();
        for package in packages {
            all.extend(package.modules(wanted)?);
        }
        Ok(all)
    };
    let mut modules = of_all(&wanted)?;
    loop {
        let needs = needs(&modules)?;
        let missing: BTreeSet<&String> =
            needs.values().flatten().filter(|name| !modules.contains_key(*name)).collect();
        if missing.is_empty() {
            let order = order(&needs);
            return Ok(order.into_iter().filter_map(|name| modules.remove_entry(&name)).collect());
        }
        let more = of_all(&|place| missing.contains(&deb::name_of(place)))?;
        if more.is_empty() {
            let names: Vec<&str> = missing.into_iter().map(String::as_str).collect();
            let names = names.join(", ");
            return Err(Error::Image(format!(
                "the kernel's package lacks modules that others need: {names}"
            )));
        }
        modules.extend(more);
    }
}

fn needs(modules: &BTreeMap<String, Vec<u8>>) -> Result<BTreeMap<String, Vec<String>>, Error> {
    let of = |(name, bytes): (&String, &Vec<u8>)| match elf::needed_modules(bytes) {
        Ok(needs) => Ok((name.clone(), needs)),
        Err(e) => Err(Error::Image(format!("the kernel's module {name} is damaged: {e}"))),
    };
    modules.iter().map(of).collect()
}

/// Returns the names in an order in which each is after the names that it needs.
fn order(needs: &BTreeMap<String, Vec<String>>) -> Vec<String> {
    fn visit(name: &str, needs: &BTreeMap<String, Vec<String>>, order: &mut Vec<String>) {
        if order.iter().any(|done| done == name) {
            return;
        }
        for needed in needs.get(name).into_iter().flatten() {
            visit(needed, needs, order);
        }
        order.push(name.to_string());
    }
    let mut order = Vec::new();
    for name in needs.keys() {
        visit(name, needs, &mut order);
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_module_is_after_the_modules_that_it_needs() {
        let needs = [("a", vec!["m"]), ("b", vec![]), ("m", vec!["z", "b"]), ("z", vec![])];
        let needs =
            needs.map(|(name, of)| (name.into(), of.into_iter().map(String::from).collect()));
        assert_eq!(order(&BTreeMap::from(needs)), ["z", "b", "m", "a"]);
    }

    #[test]
    fn tcp_algorithms_are_wanted_and_other_modules_are_not() {
        assert!(
            wanted("net/ipv4/tcp_yeah")
                && wanted("net/sched/sch_netem")
                && wanted("drivers/net/tun")
        );
        assert!(
            !wanted("net/ipv4/ip_gre")
                && !wanted("fs/ext4/ext4")
                && !wanted("net/sched/sch_netem/x")
        );
    }
}
