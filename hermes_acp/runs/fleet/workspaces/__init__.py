"""The folders of a fleet's runs, and moving them to another machine."""
