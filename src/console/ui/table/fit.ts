import { useLayoutEffect, useState, type RefObject } from "react";

/**
 * Returns whether the columns of a table fit beside each other into what scrolls them. `columns` names the shown ones: with
 * others it is tried again.
 */
export function useFit(scroller: RefObject<HTMLElement | null>, columns: string, isLoaded: boolean): boolean {
  const [needed, setNeeded] = useState({ columns, width: 0 });
  const [room, setRoom] = useState(0);
  const isFitting = needed.columns !== columns || needed.width <= room;
  useLayoutEffect(() => {
    const element = scroller.current;
    if (!element) return undefined;
    const observer = new ResizeObserver(() => setRoom(element.clientWidth));
    observer.observe(element);
    return () => observer.disconnect();
  }, [scroller]);
  useLayoutEffect(() => {
    const element = scroller.current;
    if (!element || !isLoaded || !isFitting || element.scrollWidth <= element.clientWidth) return;
    setRoom(element.clientWidth);
    setNeeded({ columns, width: element.scrollWidth });
  });
  return isFitting;
}
