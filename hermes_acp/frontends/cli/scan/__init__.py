"""`hermes-acp scan`: check files for hidden or hostile instructions."""
