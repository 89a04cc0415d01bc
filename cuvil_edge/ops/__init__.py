"""The words of the intermediate representation: one file an operation."""
