"""Sends an exception, a message and a session to each DSN of its standard input, as an application does."""

import json
import sys

import sentry_sdk


def pick():
    raise ValueError("no apples left")


for dsn in json.load(sys.stdin):
    sentry_sdk.init(dsn=dsn, release="orchard@1.0", environment="autumn", auto_session_tracking=False)
    scope = sentry_sdk.get_isolation_scope()
    scope.start_session()
    try:
        pick()
    except ValueError:
        sentry_sdk.capture_exception()
    sentry_sdk.capture_message("the harvest is late", level="warning")
    scope.end_session()
    sentry_sdk.flush(timeout=5)
