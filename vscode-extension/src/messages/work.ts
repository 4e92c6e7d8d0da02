/** Texts for people about background work: runs, schedules and the names of the pages. */

export const WORK_PAGE_NAMES = {
  board: "Board",
  runs: "Runs",
  schedules: "Schedules",
  usage: "Usage",
  settings: "Settings",
} as const;
export const withCount = (name: string, count: number) => (count > 0 ? `${name}: ${waitingCount(count)}` : name);

export const NO_RUNS = "No runs yet. `hermes-acp runs start` starts one on the server's machine.";
export const NOT_DRIVEN = "No process is working on runs. Start `hermes-acp daemon` or `hermes-acp serve`.";
export const ALL_RUNS = "All runs";
export const WAITING = "Waiting for your answer";
export const waitingCount = (count: number) =>
  count === 1
    ? "1 run or session is waiting for your answer"
    : `${count} runs and sessions are waiting for your answer`;
export const RUN_STATES = {
  queued: "queued",
  running: "running",
  input_required: "waiting for your answer",
  done: "done",
  failed: "failed",
  stopped: "stopped",
  parked: "parked",
} as const;
export const WAITING_KINDS = { run: "run", session: "session" } as const;
/** Join facts in one line, leaving out missing ones. */
export const facts = (...all: readonly string[]) => all.filter(Boolean).join(" · ");
export const UNTITLED = "Untitled";
export const OPEN_SESSION = "Open its session";
export const STOP_RUN = "Stop this run";
export const RUN_ANSWER = "Your answer";
export const RUN_COMMENT = "Comment";
export const SEND_ANSWER = "Answer";
export const ALLOW_ONCE = "Allow once";
export const REJECT = "Reject";
export const DISMISS = "Dismiss";

export const NO_SCHEDULES = "No schedules yet.";
export const nextDue = (time: string) => `next ${time}`;
export const PAUSED = "paused";
export const NEVER_AGAIN = "not due again";
export const scheduledIn = (folder: string) => `in ${folder}`;
export const addedBy = (origin: string) => (origin ? `added by ${origin}` : "");
export const PAUSE = "Pause";
export const RESUME = "Resume";
export const RUN_NOW = "Run now";
export const REMOVE = "Remove";
export const HISTORY = "History";
export const named = (action: string, name: string) => `${action}: ${name}`;
export const removeSchedule = (name: string) => `Remove the schedule ${name} and its history? Its runs stay.`;
export const KEEP = "Keep";
export const NO_HISTORY = "It has not been due yet.";
export const FATES = {
  started: "a run was started",
  missed: "missed: it was too late",
  skipped: "skipped: the previous run had not ended",
  paused: "paused",
} as const;
export const occurrence = (due: string, until: string, count: number) =>
  until ? `${count} times from ${due} to ${until}` : due;
export const PROMPT_GONE = "Its prompt is no longer stored.";
export const PROMPT = "Prompt";
export const ADD_SCHEDULE = "Add a schedule";
export const SCHEDULE_NAME = "Name (optional)";
export const FOLDER = "Folder on the server";
export const REPEATS = "Repeats";
export const REPEATS_CRON = "by a cron expression";
export const REPEATS_ONCE = "once";
export const CRON = "Cron expression";
export const CRON_EXAMPLE = "0 7 * * 1-5";
export const CRON_HINT = "Minute, hour, day, month, weekday: 0 7 * * 1-5 is 7:00 from Monday to Friday.";
export const AT = "Time";
export const TIME_ZONE = "Time zone";
export const LATE = "If no process was running when it was due";
export const LATE_CHOICES = { once: "one run later", skip: "no run" } as const;
export const OVERLAP = "If the previous run has not ended";
export const OVERLAP_CHOICES = { skip: "no run", queue: "one after it", cancel: "stop the previous one" } as const;
export const MAX_COST = "Cost limit of each run in US dollars (optional)";
export const CHECK_SCHEDULE = "Check";
export const checkedDue = (when: string, next: string) => (next ? `${when}. First: ${next}.` : `${when}. Never due.`);
export const ADD_THIS = "Add this schedule";
export const CHANGE_IT = "Change it";

export const USAGE_SPAN = "Time";
export const USAGE_SPANS = { "7": "the last 7 days", "30": "the last 30 days", "365": "the last 365 days" } as const;
export const USAGE_BY = "Group by";
export const USAGE_GROUPS = {
  day: "day",
  model: "model",
  workspace: "workspace",
  profile: "profile",
  tool: "tool",
} as const;
export const USAGE_HEADS = {
  day: "Day",
  model: "Model",
  workspace: "Workspace",
  profile: "Profile",
  tool: "Tool",
} as const;
export const USAGE_MEASURE = "Measure";
export const USAGE_MEASURES = {
  cost: "cost",
  tokens: "tokens",
  requests: "requests",
  calls: "calls",
  time: "time",
  results: "tokens of results",
} as const;
export const READING_USAGE = "Reading session records. The first time takes longest.";
export const NO_USAGE = "Nothing was used in this time.";
export const USAGE_CUT = "Only the newest 1,000 sessions are listed. The totals include all of them.";
export const USAGE_BY_SESSION = "By session";
export const RESULTS_ESTIMATED = "Tokens of results are estimates: four bytes count as one token.";
export const usageBy = (group: string) => `By ${group}`;
export const TOTAL = "Total";
export const UNKNOWN_GROUP = "unknown";
export const SESSION = "Session";
export const REQUESTS = "Requests";
export const CALLS = "Calls";
export const FAILED_CALLS = "Failed";
export const CALL_TIME = "Time";
export const RESULT_TOKENS = "Tokens of results";
export const TOKENS_IN = "Tokens in";
export const TOKENS_CACHED = "Cached";
export const TOKENS_OUT = "Tokens out";
export const COST = "Cost";
export const usageChart = (measure: string, first: string, last: string, total: string, most: string, day: string) =>
  `Bar chart: ${measure} by day from ${first} to ${last}, ${total} in all. The maximum is ${most} on ${day}. The table below has all figures.`;
export const usageBar = (name: string, amount: string) => `${name}: ${amount}`;
export const number = (count: number) => count.toLocaleString("en");
export const shortNumber = (count: number) =>
  count.toLocaleString("en", { notation: "compact", maximumFractionDigits: 1 });
export const dollars = (amount: number) => (amount > 0 ? `$${amount.toFixed(amount < 0.1 ? 4 : 2)}` : "");
export const share = (part: number, whole: number) => (whole > 0 ? `${Math.round((100 * part) / whole)}%` : "");
export const duration = (seconds: number) => `${seconds.toLocaleString("en", { maximumFractionDigits: 1 })} s`;

export const SETTINGS_NOTE =
  "Changes apply from the next turn on. Modes, rules, models and keys are changed on the server's machine.";
export const SAVE_SETTING = "Save";
export const savedAs = (title: string) => `Save: ${title}`;
export const useDefault = (fallback: string) => (fallback ? `Use the default: ${fallback}` : "Use the default");
export const defaultFor = (title: string, fallback: string) => `${useDefault(fallback)} (${title})`;
