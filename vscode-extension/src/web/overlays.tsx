/** Render the overlays of the page: questions, the folder picker, diffs. */

import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

import { errorText } from "../acp/error_text";
import * as messages from "../messages/web";
import { WORK_PAGE_NAMES } from "../messages/work";
import { post } from "../webview/bridge";
import { Diff } from "../webview/diff";
import type { Model } from "../webview/model";
import { useValue } from "../webview/use_value";
import { WorkView } from "../webview/work/work_view";
import type { WorkPage } from "../work/work";
import { copyText } from "./browser_host";
import type { Overlay } from "./dialogs";
import type { WebEngine } from "./engine";
import { FileView } from "./file_view";

interface Props {
  readonly engine: WebEngine;
  readonly model: Model;
}

export function OverlayView({ engine, model }: Props) {
  const open = useValue(engine.overlays.open);
  if (!open) return null;
  const close = () => engine.overlays.close();
  if (open.type === "folder") return <FolderDialog engine={engine} model={model} onClose={close} />;
  if (open.type === "work") return <WorkDialog key={open.page} engine={engine} page={open.page} onClose={close} />;
  if (open.type === "confirm") return <Confirm overlay={open} onClose={close} />;
  if (open.type === "file") return <FileDialog overlay={open} engine={engine} onClose={close} />;
  return <Changes overlay={open} model={model} onClose={close} />;
}

function WorkDialog({ engine, page, onClose }: { engine: WebEngine; page: WorkPage; onClose: () => void }) {
  const { work, folders } = engine;
  const [shown, setShown] = useState(() => work.shown(page));
  useEffect(() => work.follow(page, () => setShown(work.shown(page))), [work, page]);
  return (
    <Box label={WORK_PAGE_NAMES[page]} onClose={onClose} isWide={page === "board"}>
      <WorkView work={shown} act={(action) => void work.act(action)} folder={folders.current.value} />
    </Box>
  );
}

interface BoxProps {
  readonly label: string;
  readonly onClose: () => void;
  /** Whether it uses most of the window's width, for columns and code. */
  readonly isWide?: boolean;
  readonly children: ComponentChildren;
}

function Box({ label, onClose, isWide = false, children }: BoxProps) {
  const box = useRef<HTMLDialogElement>(null);
  const show = () => {
    const dialog = box.current;
    const before = document.activeElement;
    dialog?.showModal();
    return () => {
      dialog?.close();
      if (before instanceof HTMLElement) before.focus();
    };
  };
  useEffect(show, []);
  return (
    <dialog
      ref={box}
      class={isWide ? "overlay wide" : "overlay"}
      aria-label={label}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
    >
      <div class="overlay-head">
        <h2>{label}</h2>
        <button type="button" class="icon-button" aria-label={messages.CLOSE} title={messages.CLOSE} onClick={onClose}>
          <i class="codicon codicon-close" />
        </button>
      </div>
      {children}
    </dialog>
  );
}

type Of<T extends Overlay["type"]> = Extract<Overlay, { type: T }>;

function Confirm({ overlay, onClose }: { overlay: Of<"confirm">; onClose: () => void }) {
  return (
    <Box label={overlay.word} onClose={onClose}>
      <p class="overlay-words">{overlay.question}</p>
      <div class="overlay-actions">
        <button type="button" class="button primary" onClick={() => overlay.settle(true)}>
          {overlay.word}
        </button>
        <button type="button" class="button quiet" onClick={onClose}>
          {messages.CANCEL}
        </button>
      </div>
    </Box>
  );
}

function FileDialog({ overlay, engine, onClose }: { overlay: Of<"file">; engine: WebEngine; onClose: () => void }) {
  const { path, name } = overlay.file;
  const copyPath = async () => {
    await copyText(path);
    engine.overlays.say(messages.pathCopied(path));
  };
  return (
    <Box label={name} onClose={onClose} isWide>
      <div class="overlay-actions">
        <button type="button" class="button quiet" onClick={() => void copyPath()}>
          {messages.COPY_PATH}
        </button>
      </div>
      <FileView file={overlay.file} />
    </Box>
  );
}

function Changes({ overlay, model, onClose }: { overlay: Of<"diffs">; model: Model; onClose: () => void }) {
  return (
    <Box label={overlay.title} onClose={onClose} isWide>
      <div class="overlay-body">
        {overlay.diffs.map((diff) => (
          <Diff
            key={diff.path}
            diff={diff}
            sessionId=""
            callId=""
            isWhole
            verdicts={[]}
            isMade
            canJudge={false}
            roots={model.shell?.roots ?? []}
          />
        ))}
      </div>
    </Box>
  );
}

function FolderDialog({ engine, model, onClose }: Props & { onClose: () => void }) {
  const [folder, setFolder] = useState(engine.folders.current.value);
  const [problem, setProblem] = useState("");
  useEffect(() => post({ type: "listPast" }), []);
  const known = [...new Set(model.past.map(({ cwd }) => cwd))];
  const begin = async (path: string) => {
    if (!path.startsWith("/")) return setProblem(messages.FOLDER_NOT_ABSOLUTE);
    try {
      await engine.begin(path);
      onClose();
    } catch (error) {
      setProblem(errorText(error));
    }
  };
  return (
    <Box label={messages.NEW_SESSION_IN} onClose={onClose}>
      <form
        class="folder-form"
        onSubmit={(event) => {
          event.preventDefault();
          void begin(folder.trim());
        }}
      >
        <label>
          {messages.FOLDER}
          <input
            type="text"
            autofocus
            autocomplete="off"
            autocapitalize="off"
            spellcheck={false}
            placeholder={messages.FOLDER_EXAMPLE}
            value={folder}
            aria-invalid={problem !== ""}
            aria-describedby={problem ? "folder-problem" : undefined}
            onInput={(event) => setFolder(event.currentTarget.value)}
          />
        </label>
        <button type="submit" class="button primary">
          {messages.START_SESSION}
        </button>
      </form>
      {problem && (
        <p id="folder-problem" class="refusal" role="alert">
          {problem}
        </p>
      )}
      {known.length > 0 && <KnownFolders known={known} onFolder={(path) => void begin(path)} />}
    </Box>
  );
}

function KnownFolders({ known, onFolder }: { known: readonly string[]; onFolder: (path: string) => void }) {
  return (
    <>
      <h3>{messages.KNOWN_FOLDERS}</h3>
      <ul class="folder-list">
        {known.map((path) => (
          <li key={path}>
            <button type="button" class="folder-known" onClick={() => onFolder(path)}>
              {path}
            </button>
          </li>
        ))}
      </ul>
    </>
  );
}
