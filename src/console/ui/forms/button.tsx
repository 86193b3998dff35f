import type { LucideIcon } from "lucide-react";
import type { ReactElement, ReactNode } from "react";
import { Button as AriaButton, type ButtonProps as AriaButtonProps } from "react-aria-components/Button";
import { Tooltip as AriaTooltip, TooltipTrigger } from "react-aria-components/Tooltip";

export type ButtonKind = "primary" | "plain" | "quiet" | "danger";

interface ButtonProps extends Omit<AriaButtonProps, "children" | "className"> {
  kind?: ButtonKind;
  icon?: LucideIcon;
  children: ReactNode;
}

const SHAPE =
  "inline-flex h-8 shrink-0 items-center justify-center gap-2 rounded-md px-3 text-sm font-medium whitespace-nowrap transition-colors max-sm:h-10 data-disabled:cursor-not-allowed data-disabled:opacity-50";

const KINDS: Record<ButtonKind, string> = {
  primary: "bg-accent-solid text-white hover:bg-accent-strong data-pressed:bg-accent-strong",
  plain: "border border-line-strong bg-surface text-text hover:bg-hover data-pressed:bg-sunken",
  quiet: "text-muted hover:bg-hover hover:text-text data-pressed:bg-sunken",
  danger: "bg-bad-solid text-white hover:opacity-90",
};

/** Returns the classes of a button, also for links that look like buttons. */
export function buttonClass(kind: ButtonKind): string {
  return `${SHAPE} ${KINDS[kind]}`;
}

export function Button({ kind = "plain", icon: Icon, children, ...props }: ButtonProps) {
  return (
    <AriaButton {...props} className={buttonClass(kind)}>
      {Icon && <Icon size={16} aria-hidden className={props.isPending ? "animate-pulse" : ""} />}
      {children}
    </AriaButton>
  );
}

/** A button with an icon instead of a text. Its label is its tooltip. */
export function IconButton({
  icon: Icon,
  label,
  ...props
}: Omit<AriaButtonProps, "children" | "className"> & { icon: LucideIcon; label: string }) {
  return (
    <Tooltip text={label}>
      <AriaButton
        {...props}
        aria-label={label}
        className="inline-flex size-8 shrink-0 items-center justify-center rounded-md text-muted transition-colors hover:bg-hover hover:text-text data-disabled:opacity-50 max-sm:size-10"
      >
        <Icon size={16} aria-hidden />
      </AriaButton>
    </Tooltip>
  );
}

/** Shows a short text beside an element on hover and focus. */
function Tooltip({ text, children }: { text: string; children: ReactElement }) {
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
