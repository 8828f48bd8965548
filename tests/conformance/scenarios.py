"""Which scenarios of the suite we run, on what, and which cannot apply; README.md says the reasons at length.

`instance` is a real one behind the door. `fixture` is the suite's server behind the same door: an environment has tools
alone, and none that answers with an image.
"""

from typing import Literal, TypeAlias

Target: TypeAlias = Literal["instance", "fixture"]

OLD, NEW = "2025-11-25", "2026-07-28"

BOTH_ERAS_ON_FIXTURE = (
    "completion-complete",
    "dns-rebinding-protection",
    "json-schema-2020-12",
    "prompts-get-embedded-resource",
    "prompts-get-simple",
    "prompts-get-with-args",
    "prompts-get-with-image",
    "prompts-list",
    "resources-list",
    "resources-read-binary",
    "resources-read-text",
    "resources-templates-read",
    "tools-call-audio",
    "tools-call-embedded-resource",
    "tools-call-error",
    "tools-call-image",
    "tools-call-mixed-content",
    "tools-call-simple-text",
    "tools-list",
)

RUN: dict[tuple[Target, str], tuple[str, ...]] = {
    ("instance", OLD): ("dns-rebinding-protection", "ping", "server-initialize", "tools-list"),
    ("instance", NEW): (
        "caching",
        "dns-rebinding-protection",
        "http-header-validation",
        "server-sse-multiple-streams",
        "server-stateless",
        "tools-list",
    ),
    ("fixture", OLD): ("ping", "server-initialize", *BOTH_ERAS_ON_FIXTURE),
    ("fixture", NEW): (
        "caching",
        "http-custom-header-server-validation",
        "http-header-validation",
        "sep-2164-resource-not-found",
        "server-sse-multiple-streams",
        "server-stateless",
        *BOTH_ERAS_ON_FIXTURE,
    ),
}

BEYOND_AN_INSTANCE: dict[str, tuple[str, ...]] = {
    "caching": (
        "sep-2549-prompts-list-caching-hints",
        "sep-2549-resources-list-caching-hints",
        "sep-2549-resources-templates-list-caching-hints",
    ),
    "server-stateless": ("sep-2575-missing-capability-http-400", "sep-2575-server-rejects-undeclared-capability"),
}
"""Checks of generic scenarios that want a prompt, a resource or a tool of the fixture."""

NO_STREAM = "every request has one JSON body for its answer: there is no stream for notifications on the way"
NO_WAY_BACK = "no sessions and no stream: a server cannot ask its client while it answers"
NO_SESSION = "no sessions: there is nothing to keep a level or a subscription in"
NOT_ASKED = "no tool of an environment asks its client back; it would test a fixture of ours, not the door"

INPUT_REQUIRED = (
    "basic-elicitation",
    "basic-list-roots",
    "basic-sampling",
    "capability-check",
    "ignore-extra-params",
    "missing-input-response",
    "multi-round",
    "multiple-input-requests",
    "non-tool-request",
    "request-state",
    "result-type",
    "tampered-state",
    "unsupported-methods",
    "validate-input",
)

EXCLUDED: dict[str, dict[str, str]] = {
    OLD: {
        "elicitation-sep1034-defaults": NO_WAY_BACK,
        "elicitation-sep1330-enums": NO_WAY_BACK,
        "logging-set-level": NO_SESSION,
        "resources-subscribe": NO_SESSION,
        "resources-unsubscribe": NO_SESSION,
        "server-session-lifecycle": NO_SESSION,
        "server-sse-multiple-streams": NO_SESSION,
        "server-sse-polling": NO_STREAM,
        "tools-call-elicitation": NO_WAY_BACK,
        "tools-call-sampling": NO_WAY_BACK,
        "tools-call-with-logging": NO_STREAM,
        "tools-call-with-progress": NO_STREAM,
    },
    NEW: {
        "tools-call-with-progress": NO_STREAM,
        **{f"input-required-result-{name}": NOT_ASKED for name in INPUT_REQUIRED},
    },
}


def known(revision: str) -> set[str]:
    """Every scenario that has a place here; the suite must have no other."""
    run = {name for (_, era), names in RUN.items() if era == revision for name in names}
    return run | EXCLUDED[revision].keys()
