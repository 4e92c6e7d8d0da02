"""Move the folders of a fleet's runs to other machines."""
