"""Topics in software work, and the words that people use to write about them."""

from types import MappingProxyType
from typing import Final

_TOPICS: Final = """
artefact bump changelog distribution major minor npm patch publish pypi release semver ship tag twine upload
  version wheel
approve comment critique diff eye feedback finding merge nitpick opinion pullrequest read review reviewer risky
alembic backfill column constraint ddl downgrade field flyway foreign index liquibase migration nullable rename
  revision schema table varchar
canary chart cluster deployment helm ingress k8s kubectl kubernetes manifest namespace node pod replica rollback
  rollout staging
acrobat annotation chapter contract form letter ocr page pdf rotate scan scanned watermark
arabic chinese french german gettext glossary i18n japanese language locale localization plural polish rtl spanish
  string translation
bottleneck cprofile cpu flamegraph hot hotspot loop memory optimize perf profile pyspy slow speed
flaky intermittent isolation nondeterministic order quarantine race random rerun sleep spec timeout
brand color corporate flyer font identity letterhead logo palette style template typography
blameless followup incident lesson loss outage postmortem rca report rootcause timeline
binding cargo crate extension ffi maturin native pyo3 rust wheel
analyze explain index join nested plan planner postgres query scan select slow sort sql statement
accessibility alt aria blind contrast deaf described disabled focus image impaired keyboard label screenreader see
  voiceover wcag
base container distroless docker dockerfile image layer multistage nonroot registry size slim trivy
aws azure bucket cloud drift gcp group iam infrastructure module provision pulumi security state subnet terraform
  vpc
chart column csv dataset distinct duplicate excel explore histogram numbers outlier pandas pivot plot spreadsheet
  statistic
account developer environment getting guide hire install intern laptop macbook newcomer onboarding setup week
api body code delete endpoint error http idempotent openapi pagination path post put resource rest status swagger
  verb versioning
dataloader field fragment graphql mutation query resolver schema subscription type
500 commander down emergency errors everywhere incident mitigate outage pager severity statuspage triage
  unreachable
audit bump dependabot dependency django latest lockfile major outdated package rails react renovate requirements
  spring upgrade version
attacker authorization csrf cve exploit exploitable hole injection leak pentest secret security semgrep ssrf
  upload vulnerability xss
abuse asset attacker boundary dataflow mitigation risk spoofing stride tampering threatmodel
adr alternative architecture chose consequence decide decided decision option record rejected
browser click cypress e2e firefox flow journey locator page playwright scenario selenium trace webkit
assert branch case coverage edge jest module path pytest unittest untested
breaking capacity concurrent jmeter k6 loadtest locust p95 ramp soak spike stress throughput users
alert blind collector dashboard grafana instrument log metric monitor observability opentelemetry prometheus span
  trace
amend cherry commit file filter fixup history large linear rebase remove reword squash
both conflict keep marker merge rebase rerere resolve sides
actions build cache ci github gitlab jenkins job lint matrix pipeline push runner token workflow
email gmail html inline invitation mail mjml newsletter outlook responsive template unsubscribe
backlink canonical crawl description found google keyword metadata rank robots search seo sitemap structured title
bundle cache cls font image javascript lazy lcp lighthouse load page paint script slow vitals
component design dropdown hook library modal picker props react select state story storybook token tooltip ui
android apk appstore fastlane ios ipa mobile playstore rollout screenshot signing store submission testflight
airflow backfill batch bigquery crm dag dbt etl freshness incremental key load nightly snowflake warehouse
accuracy baseline churn classifier confidence feature fraud hyperparameter machinelearning mlflow model overfit
  train validation
assistant chatbot claude evaluation example extraction fewshot gpt hallucinate instruction json llm prompt
  summarisation
cell jupyter kernel markdown notebook output papermill parameter parametrise reproducible
audience board deck keynote pitch powerpoint pptx presentation slides speaker storyline talk
action agenda attendee call decision meeting minutes owner recording responsible retro standup sync transcript
angry answer apology complaint customer friendly refund reply response support ticket tone
accounting amount booking cost datev invoice ledger net purchase receipt supplier vat
agpl apache attribution compliance copyleft gpl lgpl license mit notice opensource ship
anonymize consent copy data demand erase export gdpr personal privacy retention subject
behind enable experiment featureflag flag gradual hidden launchdarkly percentage rollout stale toggle
account callback github google identity login microsoft nonce oauth oidc pkce signin sso token
card charge checkout invoice payment plan price refund renewal stripe subscription tax webhook
broadcast connection fanout heartbeat instantly live presence push realtime reconnect socket typing websocket
cache cdn expiry hit invalidation key memcached redis response stale stampede ttl
break characterization class huge legacy monolith refactor restructure safely seam spaghetti strangler untangle
any convert javascript js jsx migrate null strict ts tsconfig tsx types typescript
argument cli command completion exit flag help option stdout subcommand terminal
article blog draft engineering headline intro introduction medium post reader tighten write
docstring doctest documentation example mkdocs public quickstart reference sphinx tutorial usage
bill budget cheaper cloud cost egress finops idle machines money oversized reservation savings snapshot spend
backup disaster drill dropped dump encrypted offsite recovery region restore rpo rto wal
board boot esp32 firmware flash gpio i2c microcontroller openocd panic sensor serial spi stm32 uart
balance difficulty game godot level mechanic player playtest portal puzzle solver tile unity world
certificate crypto expire hash https key letsencrypt renew rotate signature tls
dns domain nameserver record subdomain
broker consumer deadletter kafka message producer queue rabbitmq retry topic
elasticsearch facet index opensearch relevance search synonym
emulator flutter kotlin mobile reactnative simulator swift
desktop electron installer macos tauri windows
css flexbox grid layout responsive sass tailwind theme
aggregate collection database document mongodb shard
budget burn monitoring sla slo uptime
candidate cv interview job posting recruit resume
clause contract legal nda policy terms
budget finance forecast quarter report revenue
ad audience campaign copy landing marketing slogan
bibliography citation latex literature paper research
audio clip ffmpeg subtitle transcode video
crop icon image photo png resize svg
coordinate geo location map route
appointment calendar reminder schedule
ast compiler grammar parser regex syntax token
equation integral math proof solve
biology chemistry genome protein
bash dotfile script shell zsh
ansible playbook provisioning server ssh
kernel linux package service systemd
firewall network port proxy vpn
editor extension plugin vim vscode
"""
"""One topic per line; an indented line continues the previous one."""


def _by_word() -> dict[str, tuple[str, ...]]:
    found: dict[str, dict[str, None]] = {}
    for topic in _TOPICS.replace("\n ", "").strip().splitlines():
        words = topic.split()
        for word in words:
            found.setdefault(word, {}).update(dict.fromkeys(other for other in words if other != word))
    return {word: tuple(others) for word, others in found.items()}


TOPIC_WORDS: Final = MappingProxyType(_by_word())
"""The words that share a topic with each word."""
