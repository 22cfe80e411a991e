//! Spellings, errors, and values that are written and read back.

use proptest::prelude::*;

use super::*;

fn message<T: FromStr<Err = UnitError> + fmt::Debug>(text: &str) -> String {
    text.parse::<T>().expect_err(text).to_string()
}

#[test]
fn rates_read_in_every_documented_spelling() {
    let spellings = [
        ("10Mbps", 10_000_000),
        ("10Mbit/s", 10_000_000),
        ("10 Mbit", 10_000_000),
        (" 250kbps ", 250_000),
        ("250Kbps", 250_000),
        ("1.5Gbps", 1_500_000_000),
        ("1MB/s", 8_000_000),
        ("1KiB/s", 8_192),
        ("1e6bps", 1_000_000),
        ("10_000 bps", 10_000),
        ("0.0000001Gbps", 100),
        ("18446744073709551615bps", u64::MAX),
    ];
    for (text, bits) in spellings {
        assert_eq!(text.parse(), Ok(BitRate(bits)), "{text}");
    }
}

#[test]
fn times_read_in_every_documented_spelling() {
    let spellings = [
        ("30ms", 30_000_000),
        ("20 ms", 20_000_000),
        ("1.5s", 1_500_000_000),
        ("2min", 120_000_000_000),
        ("100us", 100_000),
        ("100µs", 100_000),
        ("5ns", 5),
        ("1h", 3_600_000_000_000),
        ("0.1ms", 100_000),
        ("0s", 0),
        ("-0s", 0),
    ];
    for (text, ns) in spellings {
        assert_eq!(text.parse(), Ok(Duration(Span(ns))), "{text}");
    }
}

#[test]
fn sizes_packets_queues_and_windows_read_in_every_documented_spelling() {
    let sizes = [("536B", 536), ("64KiB", 65_536), ("64kB", 64_000), ("1TiB", 1 << 40)];
    for (text, bytes) in sizes {
        assert_eq!(text.parse(), Ok(Bytes(bytes)), "{text}");
    }
    for text in ["100pkt", "100p", "100packets", "100 packets", "100pkts"] {
        assert_eq!(text.parse(), Ok(Packets(100)), "{text}");
        assert_eq!(text.parse(), Ok(QueueLimit::Packets(100)), "{text}");
    }
    assert_eq!("0.5bdp".parse(), Ok(QueueLimit::BdpMillionths(500_000)));
    assert_eq!("64KiB".parse(), Ok(QueueLimit::Bytes(65_536)));
    assert_eq!("unlimited".parse(), Ok(QueueLimit::Unlimited));
    assert_eq!("Unlimited".parse(), Ok(QueueLimit::Unlimited));
    assert_eq!("2mss".parse(), Ok(Window(InitialWindow::Segments(2))));
    assert_eq!("14600B".parse(), Ok(Window(InitialWindow::Bytes(14_600))));
    assert_eq!("rfc6928".parse(), Ok(Window(InitialWindow::Rfc6928)));
}

#[test]
fn probabilities_are_numbers_or_percentages_and_exact_to_the_last_bit() {
    let spellings = [("1%", 0.01), ("0.01", 0.01), ("1e-6", 1e-6), ("0", 0.0), ("100%", 1.0)];
    for (text, value) in spellings {
        assert_eq!(text.parse(), Ok(Probability(value)), "{text}");
    }
    assert_eq!("0.07%".parse(), Ok(Probability(0.0007)));
    assert_eq!("1e-400".parse(), Ok(Probability(0.0)));
}

#[test]
fn errors_name_the_fault_and_the_admissible_values() {
    let rate = "write a rate such as `10Mbps`, `250kbps` or `1MB/s`";
    assert_eq!(message::<BitRate>("10"), format!("`10` has no unit; {rate}"));
    assert_eq!(message::<BitRate>("-2Mbps"), format!("`-2Mbps` is negative; {rate}"));
    assert_eq!(message::<BitRate>("fast"), format!("`fast` is not a rate; {rate}"));
    assert_eq!(
        message::<BitRate>("10mbps"),
        format!("`10mbps` has the unknown unit `mbps` (`m` is milli, `M` is mega); {rate}")
    );
    assert_eq!(
        message::<Duration>("30000000000h"),
        "`30000000000h` is longer than the simulator can count (584 years)"
    );
    assert_eq!(
        message::<Duration>("18446744073709551615ns"),
        "`18446744073709551615ns` is longer than the simulator can count (584 years)"
    );
    assert_eq!(message::<Duration>("0.5ns"), "`0.5ns` is not a whole number of nanoseconds");
    assert_eq!(message::<Bytes>("0.1KiB"), "`0.1KiB` is not a whole number of bytes");
    assert_eq!(
        message::<Bytes>("64kb"),
        "`64kb` has the unknown unit `kb` (`b` is a bit, `B` is a byte); write a size such as \
         `536B`, `64KiB` or `10MB`"
    );
    let queue = "write a queue length such as `100pkt`, `64KiB`, `0.5bdp` or `unlimited`";
    assert_eq!(message::<QueueLimit>("100"), format!("`100` has no unit; {queue}"));
    assert_eq!(message::<QueueLimit>("-1bdp"), format!("`-1bdp` is negative; {queue}"));
    let probability = "write a number from 0 to 1, or from `0%` to `100%`";
    for (text, what) in [
        ("120%", "is more than 100 %"),
        ("1.5", "is more than 100 %"),
        ("1e999999", "is more than 100 %"),
        ("-1%", "is negative"),
        ("nan", "is not a probability"),
        ("inf", "is not a probability"),
        ("1 in 10", "is not a probability"),
    ] {
        assert_eq!(message::<Probability>(text), format!("`{text}` {what}; {probability}"));
    }
}

#[test]
fn digits_beyond_any_integer_are_refused_not_rounded() {
    let long = format!("{}B", "9".repeat(200));
    assert!(message::<Bytes>(&long).contains("is larger than the simulator can count"));
    let fine = format!("0.{}1s", "0".repeat(200));
    assert!(message::<Duration>(&fine).contains("is not a whole number of nanoseconds"));
    assert!(message::<Bytes>("1e99999999999999999999B").contains("is not a size"));
    assert_eq!(format!("1.{}B", "0".repeat(200)).parse(), Ok(Bytes(1)));
}

fn round_trip<T>(value: T) -> Result<(), TestCaseError>
where
    T: FromStr<Err = UnitError> + fmt::Display + fmt::Debug + PartialEq,
{
    let text = value.to_string();
    prop_assert_eq!(text.parse::<T>(), Ok(value), "{}", text);
    Ok(())
}

proptest! {
    #[test]
    fn written_values_read_back(n: u64, scale in 0u32..19, small: u32, unit in 0.0f64..=1.0) {
        let round = n / 10u64.pow(scale) * 10u64.pow(scale);
        for value in [n, round, n >> scale << scale] {
            round_trip(BitRate(value))?;
            round_trip(Duration(Span(value.min(u64::MAX - 1))))?;
            round_trip(Bytes(value))?;
            round_trip(Packets(value))?;
            round_trip(QueueLimit::Packets(value))?;
            round_trip(QueueLimit::Bytes(value))?;
            round_trip(QueueLimit::BdpMillionths(value))?;
            round_trip(Window(InitialWindow::Bytes(value)))?;
        }
        round_trip(Window(InitialWindow::Segments(small)))?;
        round_trip(Probability(unit))?;
        round_trip(Probability(unit.powi(20)))?;
    }

    #[test]
    fn times_agree_with_integer_arithmetic(whole in 0u64..1_000_000, micros in 0u64..1_000_000) {
        let text = format!("{whole}.{micros:06}s");
        let ns = whole * 1_000_000_000 + micros * 1_000;
        prop_assert_eq!(text.parse(), Ok(Duration(Span(ns))));
    }

    #[test]
    fn no_text_makes_a_parser_panic(text in "\\PC*|[-+0-9._eE%a-zA-Zµ/ ]{0,40}") {
        let _ = text.parse::<BitRate>();
        let _ = text.parse::<Duration>();
        let _ = text.parse::<Bytes>();
        let _ = text.parse::<Packets>();
        let _ = text.parse::<QueueLimit>();
        let _ = text.parse::<Probability>();
        let _ = text.parse::<Window>();
    }
}
