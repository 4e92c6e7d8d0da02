/** One page of background work. */

import type { WorkAction, WorkShown } from "../../work/work";
import { BoardView } from "./board_view";
import { RunsView } from "./runs_view";
import { SchedulesView } from "./schedules_view";
import { SettingsView } from "./settings_view";
import { UsageView } from "./usage_view";
import "../style/work.css";

interface Props {
  readonly work: WorkShown;
  readonly act: (action: WorkAction) => void;
  /** The most likely folder for new work. */
  readonly folder: string;
}

export function WorkView({ work, act, folder }: Props) {
  switch (work.page) {
    case "board":
      return <BoardView shown={work.shown} folder={folder} act={(action) => act({ page: "board", action })} />;
    case "runs":
      return <RunsView shown={work.shown} act={(action) => act({ page: "runs", action })} />;
    case "schedules":
      return <SchedulesView shown={work.shown} folder={folder} act={(action) => act({ page: "schedules", action })} />;
    case "usage":
      return <UsageView shown={work.shown} act={(action) => act({ page: "usage", action })} />;
    case "settings":
      return <SettingsView shown={work.shown} act={(action) => act({ page: "settings", action })} />;
  }
}
