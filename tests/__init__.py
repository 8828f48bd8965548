"""Tests are sentences about behaviour; the doubles that several of them share stand beside them."""
