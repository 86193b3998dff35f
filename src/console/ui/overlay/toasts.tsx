import { CircleCheck, OctagonX, X } from "lucide-react";
import { Text } from "react-aria-components/Text";
import {
  UNSTABLE_Toast as AriaToast,
  UNSTABLE_ToastContent as ToastContent,
  UNSTABLE_ToastQueue as ToastQueue,
  UNSTABLE_ToastRegion as ToastRegion,
} from "react-aria-components/Toast";
import { useTranslation } from "react-i18next";
import { IconButton } from "../forms/button.tsx";
import { takeToasts, type ToastText } from "./toast.ts";

const SHOWN_MS = 6_000;
const queue = new ToastQueue<ToastText>({ maxVisibleToasts: 3 });

takeToasts((toast) => queue.add(toast, toast.isProblem ? {} : { timeout: SHOWN_MS }));

/** Shows the toasts over the page, at the lower right. */
export function Toasts() {
  const { t } = useTranslation();
  return (
    <ToastRegion
      queue={queue}
      aria-label={t("toasts")}
      className="fixed right-4 bottom-4 z-50 flex max-w-[calc(100vw-2rem)] flex-col-reverse gap-2"
    >
      {({ toast }) => (
        <AriaToast
          toast={toast}
          className="flex max-w-md animate-appear items-start gap-3 rounded-lg bg-raised p-3 shadow-popover"
        >
          {toast.content.isProblem ? (
            <OctagonX size={18} aria-hidden className="mt-1.5 shrink-0 text-bad" />
          ) : (
            <CircleCheck size={18} aria-hidden className="mt-1.5 shrink-0 text-good" />
          )}
          <ToastContent className="flex-1 py-1.5 break-words">
            <Text slot="title">{toast.content.text}</Text>
          </ToastContent>
          <IconButton slot="close" icon={X} label={t("close")} />
        </AriaToast>
      )}
    </ToastRegion>
  );
}
