"""The intermediate representation: types, symbolic dimensions, operations, graphs and plans."""
