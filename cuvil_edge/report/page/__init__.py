"""The sections of the HTML report."""
