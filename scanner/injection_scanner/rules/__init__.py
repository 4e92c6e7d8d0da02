"""Match rules and phrases in many languages."""
