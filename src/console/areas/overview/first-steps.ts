import { useEffect } from "react";
import { useCan } from "../../api/session.ts";
import type { Overview } from "./overview.ts";

/** Heights of the list of first steps in the layouts of one, two and five columns. */
export const CHECKLIST_HEIGHT = "h-[31rem] w-full sm:h-[20.25rem] xl:h-[12rem]";
const STORED = "gateway.checklist.done";

/** True unless all steps were done at the last check in this browser. */
export function useHasChecklist(): boolean {
  const can = useCan();
  return can("admin") && localStorage.getItem(STORED) === null;
}

/** True while steps are left for somebody who may take them. */
export function useIsToDo(steps: Overview["checklist"] | undefined): boolean {
  const can = useCan();
  const isDone = steps && Object.values(steps).every(Boolean);
  useEffect(() => {
    if (isDone === true) localStorage.setItem(STORED, "true");
    if (isDone === false) localStorage.removeItem(STORED);
  }, [isDone]);
  return isDone === false && can("admin");
}
