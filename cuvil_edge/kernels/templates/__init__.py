"""One file a kernel family: which operations it computes and the C++ that instantiates it."""
