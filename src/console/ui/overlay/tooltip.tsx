import type { ReactElement } from "react";
import { Tooltip as AriaTooltip, TooltipTrigger } from "react-aria-components/Tooltip";

/** A short text beside something that can have the focus, on hover and focus. */
export function Tooltip({ text, children }: { text: string; children: ReactElement }) {
  return (
    <TooltipTrigger delay={400} closeDelay={0}>
      {children}
      <AriaTooltip
        offset={6}
        className="max-w-72 animate-appear rounded-md bg-text px-2 py-1 text-xs text-ground"
      >
        {text}
      </AriaTooltip>
    </TooltipTrigger>
  );
}
