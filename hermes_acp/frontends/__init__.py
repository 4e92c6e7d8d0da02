"""The interfaces for editors, terminals, browsers and scripts. No frontend depends on another."""
