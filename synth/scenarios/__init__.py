"""Scenarios whose reward can be trusted: certificates, and scenarios made backward from what the tools can do."""
