"""A simulation of many agents on one engine, one record store and one model account: what saturates first."""
