"""Work on runs within the quota of the user whom this process serves."""

from hermes_acp.core.ports.quota_ports import UserQuota
from hermes_acp.core.ports.run_ports import DriveOutcome, Driver, Failed, InputRequired, Lease, RunOrder


class QuotaDriver:
    """Works on runs as long as the quota allows it. A run that waited for an answer counts only once."""

    def __init__(self, driver: Driver, quota: UserQuota) -> None:
        self._driver = driver
        self._quota = quota
        self._counted: set[str] = set()

    async def drive(self, order: RunOrder, lease: Lease) -> DriveOutcome:
        """Work on a run until it ends or is suspended; if no new run may start, the run fails."""
        if order.id not in self._counted:
            if refusal := self._quota.refuse_run():
                return Failed("budget", refusal)
            self._counted.add(order.id)
            self._quota.count_run()
        outcome = await self._driver.drive(order, lease)
        if not isinstance(outcome, InputRequired):
            self._counted.discard(order.id)
        return outcome
