"""Reports: pure functions of a profile. One view model, one file a format in ``formats/``."""
