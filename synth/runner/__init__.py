"""`farm synth run` from its plan to its report: the writer, vLLM, Ray, tables and pages."""
