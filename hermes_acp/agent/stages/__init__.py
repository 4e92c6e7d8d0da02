"""What happens before each step, one small thing a file; their order stands in `assembly`."""
