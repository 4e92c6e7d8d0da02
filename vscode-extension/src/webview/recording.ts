/** Speech, recorded by the browser while a button is held. */

import * as messages from "../messages/panel";

/** Formats that browsers can record and the agent can read, the best first. */
const KINDS: readonly string[] = ["audio/webm;codecs=opus", "audio/ogg;codecs=opus", "audio/mp4"];
const MAX_MS = 300_000;
/** A shorter recording is a click, not speech. */
const MIN_MS = 300;

export interface Recorded {
  readonly mimeType: string;
  readonly data: string;
}

/** One recording. The microphone is on from `begin` to `end`, but no longer than the limit. */
export class Recording {
  private stream: MediaStream | undefined;
  private recorder: MediaRecorder | undefined;
  private readonly pieces: Blob[] = [];
  private began = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private isOver = false;

  /** `onLimit` is called when the recording has reached its maximum length. */
  constructor(private readonly onLimit: () => void) {}

  /** Turn the microphone on; the user may be asked first. Resolves to an error message, or to nothing on success. */
  async begin(): Promise<string> {
    // Only pages that are served securely have devices.
    const devices = navigator.mediaDevices as MediaDevices | undefined;
    if (!devices || typeof MediaRecorder === "undefined") return messages.MICROPHONE_NEEDS_HTTPS;
    try {
      this.stream = await devices.getUserMedia({ audio: true });
    } catch (error) {
      return faultOf(error);
    }
    if (this.isOver) return this.release(messages.HOLD_TO_SPEAK);
    const mimeType = KINDS.find((kind) => MediaRecorder.isTypeSupported(kind));
    this.recorder = new MediaRecorder(this.stream, mimeType ? { mimeType } : {});
    this.recorder.ondataavailable = ({ data }) => void this.pieces.push(data);
    this.recorder.start();
    this.began = performance.now();
    this.timer = setTimeout(this.onLimit, MAX_MS);
    return "";
  }

  /** Turn the microphone off. Resolves to what was recorded; to nothing if that was no more than a click. */
  async end(): Promise<Recorded | undefined> {
    this.isOver = true;
    clearTimeout(this.timer);
    const recorder = this.recorder;
    if (!recorder) return undefined;
    const isClick = performance.now() - this.began < MIN_MS;
    if (recorder.state !== "inactive") {
      const stopped = new Promise((resolve) => (recorder.onstop = resolve));
      recorder.stop();
      await stopped;
    }
    this.release("");
    if (isClick) return undefined;
    const mimeType = recorder.mimeType.replace(/^video\//, "audio/");
    return { mimeType, data: await base64Of(new Blob(this.pieces)) };
  }

  private release(why: string): string {
    this.stream?.getTracks().forEach((track) => track.stop());
    this.stream = undefined;
    return why;
  }
}

function faultOf(error: unknown): string {
  const name = error instanceof DOMException ? error.name : "";
  if (name === "NotAllowedError" || name === "SecurityError") return messages.MICROPHONE_DENIED;
  return name === "NotFoundError" ? messages.MICROPHONE_MISSING : messages.MICROPHONE_BUSY;
}

async function base64Of(blob: Blob): Promise<string> {
  const bytes = new Uint8Array(await blob.arrayBuffer());
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary);
}
