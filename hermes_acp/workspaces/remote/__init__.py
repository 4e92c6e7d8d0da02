"""Commands and files on remote machines with a POSIX shell."""
