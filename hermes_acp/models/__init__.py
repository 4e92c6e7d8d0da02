"""Connect to model endpoints: vendors' formats, facts about models, and the choice of which model to try next."""
