//! Sends an exception, a message and a session to each DSN of its standard input, as an application does.
use std::{fmt, io::Read, time::Duration};

#[derive(Debug)]
struct NoApples;

impl fmt::Display for NoApples {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("no apples left")
    }
}

impl std::error::Error for NoApples {}

#[inline(never)]
fn pick() {
    sentry::capture_error(&NoApples);
}

fn main() {
    let mut given = String::new();
    std::io::stdin().read_to_string(&mut given).expect("DSNs");
    for dsn in given.split('"').skip(1).step_by(2) {
        let mut options = sentry::ClientOptions::default();
        options.release = Some("orchard@1.0".into());
        options.environment = Some("autumn".into());
        options.attach_stacktrace = true;
        let guard = sentry::init((dsn, options));
        sentry::start_session();
        pick();
        sentry::capture_message("the harvest is late", sentry::Level::Warning);
        sentry::end_session();
        guard.close(Some(Duration::from_secs(5)));
    }
}
