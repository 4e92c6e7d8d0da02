"""Connect to model endpoints: vendors' formats, facts about models, and the choice of the next model to try."""
