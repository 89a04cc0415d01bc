"""Ways to reach a device, one file each: over SSH, this machine itself, this machine under qemu."""
