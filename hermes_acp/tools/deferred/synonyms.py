"""Synonyms in the names and descriptions of tools."""

from collections.abc import Iterable
from functools import cache
from types import MappingProxyType
from typing import Final

_STOP: Final = """
a about after again all also am an and any are as at be because been before being but by can could did do does doing
for from had has have having he her here him his how i if in into is it its itself just let like may me might mine
more most much must my myself no nor not now of off on once only or our out over own please same she should so some
such tell than that the their them then there these they this those through to too under until up us use used uses
using very want wants was we were what when where which while who whom why will with would you your
able tool tools something someone thing things need needs
"""
STOP_WORDS: Final = frozenset(_STOP.split())
"""Stop words, which say nothing about a tool."""

_WEAK: Final = """
add get give go happen keep list look make new open people person put run see set show start take turn use work
all any every first last latest next now one other today tomorrow yesterday
"""
_GROUPS: Final = """
access permission share grant invite role rights may allowed
add create new insert write append
alarm alert monitor warning notification
announce inform know notify tell post send message
answer reply respond response comment note remark
appointment calendar event meeting invitation
archive backup dump snapshot
article page doc document wiki post
assign owner responsible assignee hand reassign
attendee participant member people person user colleague guest
author writer creator
automatic automatically rule filter automation trigger
available availability busy free
basket cart checkout
bill billing cost costs price spend usage
block blocked blocking lock locks
bold format style
brightness dim light lamp
budget forecast quota limit
bug defect error issue problem ticket
card task todo ticket issue
cancel drop delete remove
change edit modify update set rename adjust
changed changes diff history version versions
chargeback dispute
chat dm message text sms
check inspect status state
choose option pick select
client customer contact buyer user
close end finish complete resolve done tick
cluster node
colour color
computer instance machine server vm
container pod image
convert export turn transform
copies copy replica replicas clone duplicate scale fork
count many number total
crash exception failure failed stable stability error
cron recurring schedule repeat weekly daily nightly
currency money payment pay charge balance
database db sql table
date deadline due
delete remove erase trash discard prune clear purge
deploy release publish rollout ship
directions route navigation
discount coupon promotion voucher
distance duration travel far long
document file attachment doc
door garage lock
download export save
email mail inbox gmail newsletter
emoji like reaction thumbs
employee staff payroll wage salary
erase empty reset wipe
estimate offer quote
exchange transfer
expense receipt
expire expiry ttl lives
explain plan
feedback happy rating ratings review satisfaction
fetch get read show view retrieve
find search look locate lookup query
folder directory
follow watch subscribe
fulfill ship shipped deliver
graph chart panel plot dashboard
hide private internal personal hidden
holiday vacation absence
hour hourly hours time
house home
image picture photo screenshot snapshot
import load upload
income profit revenue earnings sales
inventory stock
invoke run trigger execute launch
join merge combine
language translate translation
latest recent lately last
link relate connect
list overview
log logs output trace
loud louder volume quiet
mockup design prototype wireframe
mute silence snooze ignore pause
move transition transfer status
news announcement
page website site url web
paper research publication study
pause stop hold
people attendees
phone mobile number call
place location address
port firewall
postpone reschedule change move update
pr pull
protect prevent forbid
queue list
record recording
refund reimburse return back money
remaining left quota storage space room
repo repository project
restart rerun retry reboot start
revert undo rollback back
review approve accept
room area
row line record entry
secret password credential key
segment audience group
server service
shut stop shutdown halt terminate kill
sign login
size big large storage
song track music
spreadsheet sheet excel
sun sunset sunrise
team group
thermostat temperature degrees heating
ticket support case
traffic congestion
upload put send attach
vendor supplier
video recording
view visit visits statistics
weather forecast rain sunny snow storm
window tab
"""
"""Words with roughly the same meaning, one group per line."""

WEAK_WORDS: Final = frozenset(_WEAK.split())
"""Words that occur in all kinds of requests and say little."""


@cache
def _by_word() -> MappingProxyType[str, tuple[str, ...]]:
    found: dict[str, dict[str, None]] = {}
    for group in _GROUPS.splitlines():
        words = group.split()
        for word in words:
            found.setdefault(word, {}).update(dict.fromkeys(words))
    return MappingProxyType({word: tuple(others) for word, others in found.items()})


def synonyms_of(words: Iterable[str]) -> list[str]:
    """Return the synonyms of the words, each once."""
    table = _by_word()
    found: dict[str, None] = {}
    for word in words:
        for form in (word, word.removesuffix("s"), word.removesuffix("ed"), word.removesuffix("ing")):
            if form in table:
                found |= dict.fromkeys(table[form])
                break
    return list(found)
