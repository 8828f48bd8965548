"""What exported environments carry along as text: Envfarm's Database handle over the standard library alone."""
