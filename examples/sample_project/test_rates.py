"""Run with: python3 -m unittest."""

import unittest

from rates import price_cents


class PriceTest(unittest.TestCase):
    def test_light_parcel(self):
        self.assertEqual(price_cents(500), 420)

    def test_full_step(self):
        self.assertEqual(price_cents(1000), 530)

    def test_started_step(self):
        self.assertEqual(price_cents(501), 530)


if __name__ == "__main__":
    unittest.main()
