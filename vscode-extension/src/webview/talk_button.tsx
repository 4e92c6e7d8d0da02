/** The button to hold while speaking a prompt; the transcription is put into the prompt, to be checked before it is sent. */

import { useEffect, useRef, useState } from "preact/hooks";

import * as messages from "../messages/panel";
import { post } from "./bridge";
import { Recording } from "./recording";

type Phase = "idle" | "asking" | "recording" | "waiting";

interface Props {
  readonly sessionId: string;
  /** How many recordings have been answered. */
  readonly heard: number;
  /** Say why nothing was recorded; an empty text withdraws the message. */
  readonly onFault: (why: string) => void;
}

const WORDS = {
  idle: messages.SPEAK,
  asking: messages.SPEAK,
  recording: messages.SPEAKING,
  waiting: messages.TRANSCRIBING,
} as const;
const ICONS = { idle: "mic", asking: "mic", recording: "record", waiting: "loading codicon-modifier-spin" } as const;

export function TalkButton(props: Props) {
  const { phase, begin, end } = useRecording(props);
  const isKey = (event: KeyboardEvent) => event.key === " " || event.key === "Enter";
  return (
    <button
      type="button"
      class={`icon-button talk ${phase}`}
      aria-label={WORDS[phase]}
      aria-pressed={phase === "recording"}
      title={WORDS[phase]}
      disabled={phase === "waiting"}
      onPointerDown={(event) => {
        if (event.button !== 0) return;
        event.currentTarget.setPointerCapture(event.pointerId);
        void begin();
      }}
      onPointerUp={() => void end()}
      onPointerCancel={() => void end()}
      onContextMenu={(event) => event.preventDefault()}
      onKeyDown={(event) => {
        if (!isKey(event)) return;
        event.preventDefault();
        if (!event.repeat) void begin();
      }}
      onKeyUp={(event) => {
        if (isKey(event)) void end();
      }}
      onBlur={() => void end()}
    >
      <i class={`codicon codicon-${ICONS[phase]}`} />
    </button>
  );
}

/** Record while the button is held. Return the recording's state, and the functions that start and end it. */
function useRecording({ sessionId, heard, onFault }: Props) {
  const [phase, setPhase] = useState<Phase>("idle");
  const recording = useRef<Recording | undefined>(undefined);
  useEffect(() => setPhase((now) => (now === "waiting" ? "idle" : now)), [heard]);
  const end = async () => {
    const held = recording.current;
    if (!held) return;
    recording.current = undefined;
    setPhase("idle");
    const recorded = await held.end();
    if (!recorded) return onFault(messages.HOLD_TO_SPEAK);
    setPhase("waiting");
    post({ type: "speak", sessionId, ...recorded });
  };
  const begin = async () => {
    if (recording.current || phase === "waiting") return;
    onFault("");
    const held = new Recording(() => void end());
    recording.current = held;
    setPhase("asking");
    const why = await held.begin();
    if (recording.current !== held) return why && onFault(why);
    if (!why) return setPhase("recording");
    recording.current = undefined;
    setPhase("idle");
    onFault(why);
  };
  // A user who leaves the page no longer holds the button.
  useEffect(() => {
    const leave = () => void end();
    addEventListener("blur", leave);
    document.addEventListener("visibilitychange", leave);
    return () => {
      removeEventListener("blur", leave);
      document.removeEventListener("visibilitychange", leave);
      leave();
    };
  }, [sessionId]);
  return { phase, begin, end };
}
