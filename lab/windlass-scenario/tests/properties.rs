//! Properties of every scenario, and of every text that is not a scenario.

use proptest::prelude::*;
use windlass_scenario::Scenario;

/// A text that is a valid scenario, over the whole schema.
fn any_scenario() -> impl Strategy<Value = String> {
    let head = (1u64..1_000_000, 0u64..1 << 62, "[a-z\"\\\\\n\t#é]{0,12}", stack());
    let head = head.prop_map(|(ms, seed, description, stack)| {
        let description = toml::Value::String(description).to_string();
        format!(
            "duration = \"{}ms\"\nseed = {seed}\ndescription = {description}\nstack = {stack}\n",
            ms + 60_000
        )
    });
    let links = proptest::collection::vec(line(), 1..5).prop_map(|lines| {
        let link = |(i, line): (usize, String)| {
            format!("[[link]]\nbetween = [\"n{i}\", \"n{}\"]\n{line}", i + 1)
        };
        (lines.len(), lines.into_iter().enumerate().map(link).collect::<String>())
    });
    let parts = (
        head,
        links,
        proptest::option::of(cell()),
        proptest::collection::vec(flow(), 1..4),
        record(),
    );
    parts.prop_map(|(head, (n, links), cell, flows, record)| {
        let flow = |body| format!("[[flow]]\nfrom = \"n0\"\nto = \"n{n}\"\n{body}");
        let flows: String = flows.into_iter().map(flow).collect();
        head + &links + &cell.unwrap_or_default() + &flows + &record
    })
}

/// A cell around the first node, or one without an access point.
fn cell() -> impl Strategy<Value = String> {
    let standard =
        prop::sample::select(vec!["802.11b", "802.11b-short", "802.11g", "802.11ah-1mhz"]);
    let who = prop_oneof![
        (1u32..20).prop_map(|n| format!("access_point = \"n0\"\nstations = \"w*\"\ncount = {n}\n")),
        (-9_000i64..9_000, 1u64..500).prop_map(|(mm, n)| format!(
            "access_point = {{ node = \"n0\", at = [\"{mm}mm\", \"1m\"], queue = \"{n}kB\" }}\n\
             stations = [\"w1\", {{ node = \"w2\", at = [\"0m\", \"{mm}mm\"] }}]\n"
        )),
        Just("mode = \"ad-hoc\"\nstations = \"w*\"\ncount = 3\n".to_owned()),
        Just(
            "mode = \"ad-hoc\"\nstations = [\"w1\", \"w2\", \"w3\"]\n\
             hops = [[\"w1\", \"w2\"], [\"w3\", \"w1\"]]\n"
                .to_owned()
        ),
    ];
    let air = prop_oneof![
        (10.0f64..40.0, 2.0f64..3.0).prop_map(|(dbm, n)| format!(
            "power = \"{dbm}dBm\"\npath_loss = {{ exponent = {n} }}\nloss = {{ model = \"snr\" }}\n"
        )),
        Just("path_loss = { model = \"friis\" }\ncapture = \"10dB\"\neifs = false\n".to_owned()),
        loss().prop_map(|loss| format!(
            "path_loss = {{ model = \"disc\", receive = \"30m\", sense = \"60m\" }}\nloss = {{ {loss} }}\n"
        )),
    ];
    let rts = prop::sample::select(vec!["never", "always", "0B", "700B"]);
    (standard, who, air, 1u64..12_000, rts, 1u32..256).prop_map(|(standard, who, air, mm, rts, limit)| {
        format!(
            "[[wifi]]\nstandard = \"{standard}\"\n{who}{air}radius = \"{mm}mm\"\nrts = \"{rts}\"\n\
             short_retry_limit = {limit}\n"
        )
    })
}

fn line() -> impl Strategy<Value = String> {
    let queue = prop_oneof![
        (0u64..1000).prop_map(|n| format!("{n}pkt")),
        (0u64..1 << 40).prop_map(|n| format!("{n}B")),
        (0u64..10_000_000).prop_map(|n| format!("{}.{:06}bdp", n / 1_000_000, n % 1_000_000)),
        Just("unlimited".to_owned()),
    ];
    let queue = prop_oneof![
        2 => queue.clone().prop_map(|limit| format!("\"{limit}\"")),
        1 => (queue.clone(), disciplines()).prop_map(|(limit, rest)| format!("{{ limit = \"{limit}\", {rest} }}")),
        1 => (queue, disciplines(), 1u64..1_000_000).prop_map(|(limit, rest, device)| {
            format!("{{ limit = \"{limit}\", device = \"{device}pkt\", {rest} }}")
        }),
    ];
    let framing = prop::sample::select(vec!["none", "ethernet", "ppp"]);
    let errors = (proptest::option::of(losses()), proptest::collection::vec(1u64..1 << 50, 0..3));
    (1u64..1 << 40, 0u64..1 << 40, queue, 600u32..=65_535, framing, errors).prop_map(
        |(rate, delay, queue, mtu, framing, (loss, down))| {
            let loss = loss.map_or_else(String::new, |loss| format!("loss = {loss}\n"));
            let mut time = 0;
            let down = down.into_iter().map(|ns| {
                let begin = time + ns;
                time = begin + ns;
                format!("[\"{begin}ns\", \"{time}ns\"]")
            });
            let down = down.collect::<Vec<_>>().join(", ");
            let loss = format!("{loss}down = [{down}]\n");
            format!(
                "rate = \"{rate}bps\"\ndelay = \"{delay}ns\"\nqueue = {queue}\n\
                 mtu = \"{mtu}B\"\nframing = \"{framing}\"\n{loss}"
            )
        },
    )
}

fn disciplines() -> impl Strategy<Value = String> {
    let ecn = || any::<bool>();
    let red = (1u64..50, 0u64..50, 1e-6f64..=1.0, 0f64..=1.0, any::<bool>(), ecn());
    prop_oneof![
        Just("discipline = \"drop-tail\"".to_owned()),
        red.prop_map(|(min, more, weight, max, gentle, ecn)| format!(
            "discipline = \"red\", min_threshold = \"0.{min:02}bdp\", max_threshold = \"0.{:02}bdp\", \
             weight = {weight}, max_probability = {max}, gentle = {gentle}, ecn = {ecn}",
            min + more
        )),
        (1u64..10_000).prop_map(|size| format!(
            "discipline = \"red\", adaptive = true, mean_packet = \"{size}B\""
        )),
        (0u64..1 << 40, 1u64..1 << 46, ecn()).prop_map(|(target, interval, ecn)| format!(
            "discipline = \"codel\", target = \"{target}ns\", interval = \"{interval}ns\", ecn = {ecn}"
        )),
        (1u32..65_536, 1u32.., ecn()).prop_map(|(flows, quantum, ecn)| format!(
            "discipline = \"fq-codel\", flows = {flows}, quantum = \"{quantum}B\", ecn = {ecn}"
        )),
        (0f64..1000.0, 0f64..1000.0, ecn()).prop_map(|(alpha, beta, ecn)| format!(
            "discipline = \"pie\", alpha = {alpha}, beta = {beta}, ecn = {ecn}, mark_limit = \"5%\""
        )),
        (0f64..1000.0, 1f64..100.0, any::<bool>(), 1u64..1 << 40).prop_map(|(beta, k, linux, ns)| {
            let variant = if linux { "linux" } else { "rfc9332" };
            format!(
                "discipline = \"dualpi2\", variant = \"{variant}\", max_rtt = \"{ns}ns\", \
                 beta = {beta}, coupling = {k}, scheduler = \"time-shifted\", classic_share = \"5%\""
            )
        }),
        (0u64..1000, 0u32..=1000)
            .prop_map(|(k, p)| format!("discipline = \"threshold\", mark = \"{k}pkt\", probability = 0.{p:03}")),
    ]
}

fn losses() -> impl Strategy<Value = String> {
    let direction = prop::sample::select(vec!["forward", "backward", "both"]);
    prop_oneof![
        (loss(), direction).prop_map(|(loss, d)| format!("{{ {loss}, direction = \"{d}\" }}")),
        (loss(), loss())
            .prop_map(|(a, b)| format!("[{{ {a} }}, {{ {b}, direction = \"backward\" }}]")),
    ]
}

fn loss() -> impl Strategy<Value = String> {
    let formula = prop::sample::select(vec!["exact", "linear"]);
    prop_oneof![
        (0f64..=1.0).prop_map(|p| format!("model = \"drop\", probability = {p}")),
        (0f64..=1e-3, formula)
            .prop_map(|(r, f)| format!("model = \"ber\", rate = \"{r}\", formula = \"{f}\"")),
        (0f64..=100.0, 0f64..=1.0, 0f64..=1.0).prop_map(|(a, b, c)| format!(
            "model = \"gilbert-elliott\", good_to_bad = \"{a}%\", bad_to_good = {b}, loss_good = {c}"
        )),
        proptest::collection::vec(1u32.., 0..6)
            .prop_map(|packets| format!("model = \"list\", packets = {packets:?}")),
    ]
}

fn stack() -> impl Strategy<Value = String> {
    let preset = prop::sample::select(vec!["rfc", "riverbed"]);
    let window = prop::sample::select(vec!["2mss", "14600B", "rfc5681", "rfc6928"]);
    let recovery = prop::sample::select(vec!["auto", "tahoe", "reno", "newreno"]);
    let mss = prop::sample::select(vec!["auto", "536B", "100B"]);
    (preset, window, recovery, mss, 0f64..=1.0, any::<bool>(), 1u64..1 << 40).prop_map(
        |(preset, window, recovery, mss, gain, nagle, buffer)| {
            format!(
                "{{ preset = \"{preset}\", initial_window = \"{window}\", mss = \"{mss}\", \
                 recovery = \"{recovery}\", nagle = {nagle}, receive_buffer = \"{buffer}B\", \
                 rto = {{ beta = {gain:?}, min = \"1500us\" }} }}"
            )
        },
    )
}

fn flow() -> impl Strategy<Value = String> {
    let algorithm = prop::sample::select(vec!["tahoe", "reno", "newreno"]);
    let increase = prop::sample::select(vec!["per-ack", "per-byte", "per-rtt"]);
    let ends = (traffic(), proptest::option::of(multipath()));
    let tcp = (algorithm, increase, 1u64..1 << 40, stack(), ends).prop_map(
        |(algorithm, increase, ssthresh, stack, (traffic, multipath))| {
            let multipath = multipath.map_or_else(String::new, |m| format!("multipath = {m}\n"));
            format!(
                "algorithm = \"{algorithm}\"\nstack = {stack}\ntraffic = {traffic}\n\
                 params = {{ increase = \"{increase}\", initial_ssthresh = \"{ssthresh}B\" }}\n\
                 {multipath}"
            )
        },
    );
    let udp = (1u32..500, 1u64..8_000_000).prop_map(|(packet, rate)| {
        format!(
            "traffic = {{ kind = \"cbr\", transport = \"udp\", packet = \"{packet}B\", \
             rate = \"{rate}bps\", stop = \"60s\" }}\n"
        )
    });
    let media = (1u32..500, 1u64..8_000_000, any::<bool>()).prop_map(|(packet, rate, ecn)| {
        format!(
            "traffic = {{ kind = \"media\", packet = \"{packet}B\", min_rate = \"{rate}bps\", \
             max_rate = \"{}bps\", ecn = {ecn}, stop = \"60s\" }}\n",
            2 * rate
        )
    });
    let timer = prop::sample::select(vec!["coap", "cocoa", "cocoa+", "fasor", "rfc6298"]);
    let keys = (1u32..400, 0u32..400, 0u32..9, any::<bool>(), 1u32..9);
    let security = prop::sample::select(vec![
        "",
        "security = \"dtls-1.3-rpk\", ",
        "security = \"dtls-1.3-0rtt-cid\", handshake = \"per-request\", ",
    ]);
    let coap = (timer, keys, security, 1u64..1 << 40).prop_map(
        |(timer, (size, response, token, flag, nstart), security, every)| {
            let nstart = if security.contains("per-request") { 1 } else { nstart };
            let response = match response {
                0 => String::new(),
                bytes => format!("response = \"{bytes}B\", "),
            };
            format!(
                "traffic = {{ kind = \"coap\", every = \"{every}ns\", size = \"{size}B\", {response}{security}\
                 token = \"{token}B\", confirmable = {flag}, nstart = {nstart}, gaps = \"pareto\", \
                 rto = {{ algorithm = \"{timer}\" }}, stop = \"60s\", deadline = \"3s\" }}\n"
            )
        },
    );
    (prop_oneof![4 => tcp, 1 => udp, 1 => media, 1 => coap], 0u64..50_000, 1u32..4, reading())
        .prop_map(|(body, start, count, read)| {
            format!(
                "{body}start = \"{start}ms\"\ncount = {count}\nstagger = \"1s\"\nread = {read}\n"
            )
        })
}

fn multipath() -> impl Strategy<Value = String> {
    let scheduler = prop::sample::select(vec!["lowest-rtt", "round-robin", "redundant", "ecf"]);
    let subflow = prop_oneof![
        Just("via = [\"n0\"]"),
        Just("algorithm = \"cubic\", params = { c = 0.5 }"),
        Just("slow_start = \"hystart\""),
        Just("via = [\"n1\", \"n0\", \"n1\"]"),
    ];
    let subflows = proptest::collection::vec(subflow, 1..=8);
    (scheduler, subflows, 1u64..1 << 40, any::<bool>(), 1u32.., 1u64..1 << 40).prop_map(
        |(scheduler, subflows, buffer, flag, timeouts, retry)| {
            let subflows = subflows.iter().map(|s| format!("{{ {s} }}")).collect::<Vec<_>>();
            format!(
                "{{ scheduler = \"{scheduler}\", receive_buffer = \"{buffer}B\", \
                 penalise = {flag}, checksum = {flag}, timeouts_to_fail = {timeouts}, \
                 join_retry = \"{retry}ns\", subflows = [{}] }}",
                subflows.join(", ")
            )
        },
    )
}

fn traffic() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("{ kind = \"bulk\" }".to_owned()),
        (1u64..1 << 40).prop_map(|n| format!("{{ kind = \"bulk\", bytes = \"{n}B\" }}")),
        (1u64..1 << 40, 1u32..1000, 0u64..1 << 40).prop_map(|(n, requests, think)| format!(
            "{{ kind = \"request-response\", request = \"1B\", response = \"{n}B\", \
             requests = {requests}, think = \"{think}ns\" }}"
        )),
        (1u64..8_000_000_000, 1u32..9000).prop_map(|(rate, packet)| format!(
            "{{ kind = \"cbr\", rate = \"{rate}bps\", packet = \"{packet}B\" }}"
        )),
    ]
}

fn reading() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("{ kind = \"immediate\" }".to_owned()),
        (1u64..1 << 40).prop_map(|ns| format!("{{ kind = \"delayed\", after = \"{ns}ns\" }}")),
        (1u64..1 << 40).prop_map(|bps| format!("{{ kind = \"rate\", rate = \"{bps}bps\" }}")),
    ]
}

fn record() -> impl Strategy<Value = String> {
    let series = prop::sample::subsequence(vec!["cwnd_bytes", "srtt_ns", "rto_ns"], 0..=3);
    (series, any::<u32>(), any::<bool>()).prop_map(|(series, ns, captured)| {
        let capture = if captured { "[\"n0-n1\"]" } else { "[]" };
        format!("[record]\nseries = {series:?}\ninterval = \"{ns}ns\"\ncapture = {capture}\n")
    })
}

proptest! {
    #[test]
    fn the_resolved_form_reads_back_as_an_equal_scenario(text in any_scenario()) {
        let scenario = Scenario::from_str(&text, "s.toml")
            .map_err(|e| TestCaseError::fail(format!("{e}\n{text}")))?;
        let resolved = scenario.resolved_toml();
        let again = Scenario::from_str(&resolved, "t.toml")
            .map_err(|e| TestCaseError::fail(format!("{e}\n{resolved}")))?;
        prop_assert_eq!(&again, &scenario);
        prop_assert_eq!(again.resolved_toml(), resolved);
        prop_assert_eq!(again.hash(), scenario.hash());
    }

    #[test]
    fn a_damaged_scenario_is_read_or_refused_with_a_place(
        text in any_scenario(),
        at in any::<prop::sample::Index>(),
        length in 0usize..20,
        instead in "\\PC{0,3}|[\\[\\]{}=\"'\n.0-9eE_-]{0,6}",
    ) {
        let chars: Vec<char> = text.chars().collect();
        let at = at.index(chars.len());
        let rest = chars.iter().skip(at + length);
        let damaged: String =
            chars[..at].iter().copied().chain(instead.chars()).chain(rest.copied()).collect();
        if let Err(error) = Scenario::from_str(&damaged, "s.toml") {
            let error = error.to_string();
            let mut parts = error.splitn(4, ':');
            prop_assert_eq!(parts.next(), Some("s.toml"));
            let line: usize = parts.next().unwrap().parse().unwrap();
            let column: usize = parts.next().unwrap().parse().unwrap();
            let lines: Vec<&str> = damaged.split('\n').collect();
            prop_assert!((1..=lines.len()).contains(&line), "{}", error);
            prop_assert!((1..=lines[line - 1].chars().count() + 1).contains(&column), "{}", error);
        }
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in "\\PC*|([a-z]{1,4}(=|\\.|\\]|\\[|\"|\n|\\{|\\}|[0-9]){1,3}){0,20}") {
        let _ = Scenario::from_str(&text, "s.toml");
    }

    #[test]
    fn an_override_is_applied_or_refused_by_name(
        text in any_scenario(),
        key in prop_oneof![
            "\\PC{0,20}",
            "(link|wifi|flow|stack|record|seed)(\\.(0|1|7|n0-n1|wifi|path_loss|rate|loss|rto|min|stack|params|mtu|name)){0,4}",
        ],
        value in "\\PC{0,12}|[0-9]{1,3}(ms|Mbps|B|pkt|%)?|\\{\\}|\\[\\]",
    ) {
        let set = [(key.clone(), value.clone())];
        if let Err(error) = Scenario::with_overrides(&text, "s.toml", &set) {
            let prefix = format!("--set {key}={value}: ");
            prop_assert!(error.to_string().starts_with(&prefix), "{}", error);
        }
    }
}
