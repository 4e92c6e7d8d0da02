"""Words with similar meanings in software work, and words that say nothing about a task."""

from types import MappingProxyType
from typing import Final

_STOP: Final = """
a about actually after again all almost already also always am an and another any anybody anyone anything are aren as
at away back be because been before behind being below between both but by came can cannot come could couldn did didn
do does doesn doing don done down each either else enough etc even ever every everybody everyone everything few first
for from get gets getting give given go goes going gone good got had has hasn have haven having he hello her here hi
him his how i if in inside instead into is isn it its itself just keep kind know last least left let lets like little
ll long look lot made make makes making many may maybe me might mine more most much must my myself need needs never
new next no nobody none nor not nothing now of off often ok old on once one only onto or other others our out over own
people per please put quite rather re really right same say says see she should shouldn show since so some somebody
someone something soon sort start still stuff such sure take takes tell than thank thanks that the their them then
there these they thing things this those three through till to today together tomorrow too try two under until up upon
us use used user uses using ve very via want wants was wasn way we well went were what when where whether which while
who whole whom whose why will with within without won work working works would wrong yes yesterday yet you your yours
"""
STOP_WORDS: Final = frozenset(_STOP.split())

_EVERYDAY: Final = """
app argument arguments array attribute bigger block branch bug button case change class click code color comment
condition config constant constants crash data default delete dialog dictionary empty error exception explain field
file files fix folder footer form function handle header hint hints id image import imports index input interface item
key line lines list log login loop main message method mode module move name names null number object open option
order output page paragraph parameter parse path position print problem program project property question read regex
remove rename repo result return row rows run save screen script set settings sidebar sort string summarise summary
table task test text time timeout title toggle type types update user users validate value variable version view
warning window word words write
"""
EVERYDAY_WORDS: Final = frozenset(_EVERYDAY.split())
"""Words that occur in everyday prompts to a coding agent and therefore say little about which skill is needed."""

_PHRASES: Final = """
a11y=accessibility, action items=minutes, agpl=license, any missing=review, app crash=crash, app store=appstore, are
down=incident, at random=intermittent, auth=authentication, back end=backend, bank transfer=payment, bit by
bit=stepwise, blog post=blog article, board meeting=meeting presentation, booking=reservation, both changed=conflict,
both modified=conflict, can not log in=incident, cannot log in=incident, charged twice=refund, clear text=security,
code base=code, code review=review, command line interface=cli, command line=cli, commit message=commit reword, commit
messages=commit reword, config=configuration, continuous delivery=deployment, continuous integration=ci, core web
vitals=lighthouse, cost center=accounting, credit card=payment, cross site=xss, data quality=dbt, data warehouse=etl,
db=database, debit card=payment, deep learning=machinelearning, dependency injection=design, design document=adr,
design system=component, docs=documentation, does not apply=conflict, doing nothing=idle, double charge=refund, end to
end=e2e, feature flag=featureflag, feature flags=featureflag, feature toggle=featureflag, feature toggles=featureflag,
first paint=performance, five whys=postmortem, from time to time=intermittent, front end=frontend, getting
started=onboarding, git history=commit history, git hub=github, go to production=deployment, goes off=alert, going
off=alert, google play=playstore, gpl=license, hex code=color, hot spot=profile, i18n=translation, in
production=production, infra=infrastructure, infrastructure as code=terraform, ipynb=jupyter notebook, is
down=incident, join the team=onboarding, k8s=kubernetes, l10n=translation, language model=llm, little by
little=stepwise, load balancer=network, load test=loadtest, load testing=loadtest, load tests=loadtest, log in=login,
machine learning=machinelearning, merge request=pullrequest, meta tag=metadata, meta tags=metadata, money back=refund,
mr=pullrequest, neural network=machinelearning, new colleague=onboarding, new developer=onboarding, new
employee=onboarding, new hire=onboarding, new hires=onboarding, new joiner=onboarding, new team member=onboarding,
note down=record, now and then=intermittent, npm audit=dependency vulnerability, on fire=incident, one by
one=stepwise, one in ten=intermittent, one time in=intermittent, open source=opensource, out of memory=memory, out the
door=release, passes locally=intermittent, pen test=pentest, per second=throughput, perf=performance, personal
data=personaldata, piece by piece=stepwise, pip install=pypi, play store=playstore, point in time=recovery, power
off=shutdown, power point=powerpoint, pr=pullrequest, prod=production, prs=pullrequest, pull request=pullrequest, pull
requests=pullrequest, rate limit=throttle, rca=postmortem, real time=realtime, repo=repository, right to be
forgotten=gdpr, right to left=translation, root cause=rootcause, root causes=rootcause, s3=bucket, screen
reader=screenreader, screen readers=screenreader, search engine=seo, service level=alert, sign on=login, single sign
on=sso, sit around=idle, sit idle=idle, sits idle=idle, slow query=sql optimize, source code=code, source map=bundle,
spec=specification, sql injection=injection vulnerability, stack trace=crash, stand up=meeting, status
page=statuspage, step by step=stepwise, stress test=loadtest, system prompt=llm prompt, takes ages=slow, takes
forever=slow, takes too long=slow, test flight=testflight, test set=machinelearning, third party notices=license,
third party=thirdparty, time to first byte=performance, time zone=timezone, times the traffic=loadtest, trade
offs=decision, training set=machinelearning, trust boundaries=threatmodel, trust boundary=threatmodel, type
hints=typing, unit test=unittest, unit tests=unittest, user flow=e2e, user interface=ui, user journey=e2e, ux=design,
validation set=machinelearning, version control=git, visual identity=brand, went off=alert, went wrong=postmortem,
what went wrong=postmortem, works locally=intermittent, works on my machine=intermittent
"""

_PHRASAL_VERBS: Final = """
back up=backup, break down=divide, breaks down=fail, bring back=restore, bring down=reduce, bring live=deployment,
check in=commit, clean up=clean, come down=outage, come up=idea, cut down=reduce, draw up=write, figure out=diagnose,
fill in=form, fill out=form, find out=diagnose, get back=restore, get live=release, get rid=remove, go down=outage, go
live=release, go wrong=risk, goes down=outage, gone wrong=incident, hold up=capacity, is down=outage, log in=login,
look into=investigate, look over=review, make sure=verify, note down=record, put up=publish, read over=review, roll
back=rollback, roll forward=rollout, roll out=rollout, scale up=capacity, send out=publish, set up=setup, shut
off=disable, sign in=login, sign off=approve, sign up=signup, sort out=resolve, speed up=optimize, spin up=provision,
sum up=summary, switch off=disable, switch on=enable, take apart=refactor, take down=record, tear down=destroy, tidy
up=clean, took down=outage, track down=debug, turn down=rejected, turn off=disable, turn on=enable, turned
down=rejected, up date=upgrade, was down=outage, went down=outage, went wrong=incident, wipe out=erase, write
down=record, write up=report
"""
"""Two-word verbs, which may have other words between their parts."""

_GROUPS: Final = """
duration slow performance speed, 5xx 500 502 503 504 incident error, abort cancel stop, abuse threat attacker,
accessibility a11y accessible wcag aria blind screenreader keyboard contrast disabled impaired, accounting bookkeeping
ledger book receipt bill vat invoice supplier vendor, adjust tune calibrate balance difficulty, adr decision decide
chose choose choice rejected alternative option, age retention expiry, agenda meeting minutes call standup transcript
retrospective committee attendee sync, agree agreed decision minutes, alarm alert pager oncall page notification
monitor, algorithm complexity, alternatives options adr, analyse analyze analysis explore insight numbers statistic
trend, android playstore apk mobile, anonymize pseudonymize privacy gdpr, any typescript strict type, api endpoint
rest route openapi swagger, apple ios iphone appstore testflight mobile, approve approval signoff review, appstore
playstore store submission submit, arabic hebrew translation rtl, artefact artifact build output, article blog post
medium write, attack attacker exploit vulnerability vulnerable security cve hack hacker injection abuse breach, audit
check inspect verify, authentication auth login signin sign oauth oidc sso, aws azure gcp cloud ec2 s3, backfill
replay reload reprocess historical, background worker job queue async, backup snapshot dump restore recover recovery
disaster, bandwidth network egress, baseline benchmark compare, benchmark load stress throughput capacity concurrent
traffic rps, bill cost spend expensive save waste budget money, board firmware esp32 stm32 arduino embedded
microcontroller flash chip, branch coverage condition, brand branding corporate logo font color colour style, breach
leak incident, broken failing fails failure red fix, browser chrome firefox safari e2e playwright selenium cypress,
bug defect error fault mistake, bump upgrade update outdated, bundle webpack vite javascript asset, business
stakeholder management, button click toggle ui component, cache caching redis memcached ttl stale expire expiry
invalidate invalidation, calculate compute, campaign newsletter marketing email, cancel delete verb, card payment pay
checkout stripe subscription charge refund purchase, changelog releasenotes release, chart plot graph diagram
visualize, chat message conversation, chatbot llm gpt claude prompt assistant, checkout cart order payment, cherry
pick conflict merge, ci pipeline workflow actions jenkins build, class module object file, cleanup stale orphan prune,
cli flag argument subcommand shell terminal completion, client customer buyer consumer, cloud aws azure gcp hosting
server, cluster kubernetes k8s kubectl helm pod, code source module, colleague developer engineer newcomer onboarding
laptop hire, color colour brand palette hex, commit git history, commit squash rebase history wip, compliance legal
law, component widget button ui design, comprehend understand explain, concurrent parallel simultaneous, config
configuration settings, conflict merge rebase marker, connect connection reconnect socket disconnect, consistent
consistency guideline style convention, container docker dockerfile image podman, content copy text article, convert
migrate port translate transform, corporate company house brand, coverage tested untested, cpu hot profile slow
flamegraph, crash panic reboot restart exception, credential secret key password leaked leak token, crop resize, csv
excel spreadsheet xlsx pandas table data, currency price pricing amount, customer client user, dark flag hidden,
dashboard grafana panel, data information record, database db postgres postgresql mysql sqlite sql, dataset training,
dead stale unused obsolete, debug investigate diagnose cause, decode addr2line backtrace, default preset, delay late
lag, deletion erasure erase, dependency library package thirdparty renovate dependabot, deploy deployment rollout ship
install, deployment release rollout, deprecate obsolete remove, design propose layout, detect find discover, dev
developer, device phone tablet mobile, diff change review patch, disable enable flag toggle, disk storage volume, docs
documentation doc document docstring manual guide reference, document describe record write, downtime outage incident
unavailable, dropped deleted lost, easy hard difficult difficulty, email mail newsletter outlook gmail, employee
staff, empty blank missing null, env environment staging production, environment setup install laptop, erase delete
forget remove wipe, etl pipeline airflow dbt dag batch warehouse, evaluate eval measure assess, exclude ignore filter,
exe binary executable, expand extend add, experiment model train classifier predict, explode explosion spike, explore
look discover, export import, extract pull parse scrape, fast speed quick performance slow optimize latency, feature
functionality, feedback review comment, file document, fill form, filter search, finance accounting tax, finish
complete difficulty, flaky intermittent sometimes unstable nondeterministic random rerun, forbid allow permit allowed,
forum community, friend contact, frontend react vue component, function method routine, funnel conversion signup, game
level puzzle stage godot, gateway service deploy, gather collect, gdpr privacy personaldata erasure, google seo
ranking crawl index, gpl license licence copyleft opensource mit, grade score rating, gradual percentage percent
rollout staged, graphql resolver mutation query, guest visitor, guide tutorial howto walkthrough, hallucinate llm
prompt, handover handoff, hang stuck block rollout, hardware sensor i2c spi uart gpio, headline title heading, health
heartbeat status, heavy large size compress, host hosting, hosting cloud cost, hosting server machine instance vm,
html css template markup, i18n l10n translate translation localization localize locale language french german spanish
japanese, identity account user login, illustration diagram picture, incident outage downtime down emergency broken,
incident outage unavailable emergency alert mitigate triage, infrastructure terraform iac vpc bucket iam pulumi
provision, instance machine server idle, integrate integration connect, intern newcomer onboarding, inventory stock,
invite share, issue ticket bug, java jvm spring, job script program worker, js javascript ts typescript node, json
structured schema format, jupyter notebook ipynb cell, keyboard focus tab, keyboard tab focus, kickoff meeting
workshop, killed crashed oom, kpi metric, label tag, lag latency delay, landing homepage page website site, large big
huge size, lawyer legal contract, layer stage, leak leaked exposed, learn training tutorial, legacy old refactor
monolith spaghetti, lesson learned postmortem retrospective, letter reply answer respond response, lighthouse
performance pagespeed, linter lint ci, linux ubuntu debian, list enumerate, live realtime websocket socket push
stream, llm prompt instruction ai, load import ingest, loadtest throughput stress load capacity traffic concurrent
breaking, locked lock locking, log trace span telemetry observability monitoring opentelemetry, loss accuracy
precision recall validation, machine laptop computer, machinelearning model train classifier accuracy validation, mail
email inbox, maintain maintenance, maintainable legacy refactor, malicious attacker abuse, manual guide handbook,
margin spacing, mean average median, measure metric, memory leak heap, memory ram, merge integrate combine join,
metrics observability telemetry, microcontroller mcu firmware embedded board, microservice service, migrate migration
move, migration schema alembic column table alter, milestone roadmap plan, minutes notes summary summarise summarize,
ml machinelearning accuracy model, mlflow experiment model, mock stub fake, modal dialog dropdown tooltip component,
module package library crate, money pay payment refund cost price, monitor watch observe alert, monorepo repository,
months week daily monthly weekly, mount volume, multi several, names naming rename, network vpc subnet, newsletter
email campaign mailing, nightly cron schedule daily weekly batch, noise noisy, notice attribution license,
notification push message, npm pypi registry, oauth sso google microsoft github login, offline cache, open close,
operator commander, optimise optimize fast slow performance, ordering sequence, outage postmortem rca rootcause
incident, owner responsible assignee, package library distribution wheel, page site web website, paginate pagination
cursor page, paper publication, parcel order customer, partition shard, patch fix bump, pay charge price, pdf scan
ocr, pentest vulnerability security xss csrf injection, people person user, permission allow role policy, permission
role access authorization, photo picture image, plugin extension addon, plural placeholder string, postmortem
retrospective writeup, powerpoint pptx deck slide presentation present talk keynote, press publish, problem issue
error, process handle, procure purchase buy, prod production, profile profiling profiler hotspot, promote promotion,
proposal offer document, provision create setup, publish upload release, pullrequest pr branch review, purchase order
invoice, push update notify, python py, query select sql, queue broker kafka, quote estimate, raise increase improve,
random shuffle, rate percentage, reader screen, receive incoming inbox, redesign rework, reduce shrink decrease
smaller small cut, refactor restructure cleanup extract, region country, register signup, regression break breakage,
regulator auditor, release version tag publish ship, remote ssh, remove delete drop strip, rename name, render
rendering paint page, repair fix restore, repeat again rerun retry, replica pod node, replica scale pod deployment,
reply ticket support customer complaint, report findings summary, request ask, reserve book, reset restart, resolve
fix conflict, restrict limit, result outcome, retention churn, revenue sale sold order income, reviewer review,
rollback revert undo, root admin, route path url, row column field record, rule policy, rust cargo crate pyo3, safe
secure security, sales revenue, sample example, scan scanned ocr, screenshot picture, scrub clean tidy, search find
lookup, secret credential leak history, secure safe hardening, sell sold sale, send deliver, seo sitemap metadata
meta, service server, setup install configure environment, shop store checkout, shrink small slim reduce cut, shut
close, simulate virtual, slides deck presentation, slot time, slow sluggish slowly fast speed, soak endurance stress
load, social share, sound audio, spec specification openapi, spec specification test, split divide, squash fixup,
stable reliable deterministic, staff team, staging environment deploy cluster, stakeholder customer, status state,
stepwise gradual incremental, structure layout organize, style css, subscribe subscription, subscription monthly plan,
support helpdesk ticket, survive capacity load, table column schema database, takeover migration, task action todo,
team group, template layout, terminal cli command, test spec suite, third external, threatmodel threat stride risk
boundary, throttle limit, timeline history, timeout slow, toggle flag featureflag switch, tool utility, track
tracking, training train, trash delete, trigger event hook, type typing typed types, typescript type ts, unique
constraint index, unit test, unittest coverage assertion, unreadable illegible, untangle refactor disentangle rewrite,
untested coverage test, unused idle nothing, upload submit, validate validation check, vat tax, vector embedding,
video media, virtual simulated, visitor traffic, visual visualize chart, voiceover nvda screenreader jaws, wait sleep,
webhook callback event, wheel extension native binding, wheel upload package pypi, whitepaper article, wiki
documentation, wireframe mockup, word text, workflow action pipeline ci, xgboost regression classifier model train,
yaml config
"""
"""Groups of words with similar meanings, separated by commas."""


def _by_word() -> dict[str, tuple[str, ...]]:
    found: dict[str, dict[str, None]] = {}
    for group in _GROUPS.split(","):
        words = group.split()
        for word in words:
            found.setdefault(word, {}).update(dict.fromkeys(other for other in words if other != word))
    return {word: tuple(others) for word, others in found.items()}


def _phrases() -> dict[str, list[tuple[tuple[str, ...], tuple[str, ...]]]]:
    found: dict[str, list[tuple[tuple[str, ...], tuple[str, ...]]]] = {}
    for line in _PHRASES.split(","):
        phrase, _, meaning = line.partition("=")
        words = tuple(phrase.split())
        found.setdefault(words[0], []).append((words, tuple(meaning.split())))
    return found


def _phrasal_verbs() -> dict[str, list[tuple[str, tuple[str, ...]]]]:
    found: dict[str, list[tuple[str, tuple[str, ...]]]] = {}
    for line in _PHRASAL_VERBS.split(","):
        verb, _, meaning = line.partition("=")
        first, last = verb.split()
        found.setdefault(first, []).append((last, tuple(meaning.split())))
    return found


RELATED_WORDS: Final = MappingProxyType(_by_word())
"""The related words of each word."""
PHRASES: Final = MappingProxyType(_phrases())
"""Phrases and the words they mean, by the phrase's first word."""
PHRASAL_VERBS: Final = MappingProxyType(_phrasal_verbs())
"""The second words and the meanings of phrasal verbs, by first word."""
