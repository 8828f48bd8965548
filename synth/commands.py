"""The commands that write environments and scenarios: `farm synth …`, `farm certify`."""

import typer

from synth.scenarios.commands import certify, scenarios

app = typer.Typer()
synth = typer.Typer(no_args_is_help=True, help="Write environments with a language model, and prove them.")
app.add_typer(synth, name="synth")
app.command()(certify)
synth.command("scenarios")(scenarios)
synth.callback()(lambda: None)  # one command alone is still called by its name
