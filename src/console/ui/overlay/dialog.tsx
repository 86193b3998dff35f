import { X } from "lucide-react";
import type { ReactNode } from "react";
import { Dialog as AriaDialog, Heading } from "react-aria-components/Dialog";
import { Modal, ModalOverlay } from "react-aria-components/Modal";
import { useTranslation } from "react-i18next";
import { IconButton } from "../forms/button.tsx";

export interface DialogProps {
  title: string;
  isOpen: boolean;
  onClose(): void;
  size?: "s" | "m" | "l";
  /** True for a question that needs an answer: pressing outside does not close the dialog. */
  isAlert?: boolean;
  /** True when Escape must not close the dialog. */
  isHeld?: boolean;
  /** Content below the scrolled part. It is always visible. */
  footer?: ReactNode;
  children: ReactNode;
}

const SIZES = { s: "sm:max-w-md", m: "sm:max-w-xl", l: "sm:max-w-4xl" };

/** A modal dialog. On a phone it is a sheet at the lower edge. */
export function Dialog({
  title,
  isOpen,
  onClose,
  size = "m",
  isAlert = false,
  isHeld = false,
  footer,
  children,
}: DialogProps) {
  const { t } = useTranslation();
  return (
    <ModalOverlay
      isOpen={isOpen}
      onOpenChange={(isOpen) => !isOpen && onClose()}
      isDismissable={!isAlert}
      isKeyboardDismissDisabled={isHeld}
      data-dims-page
      className="fixed inset-0 z-40 flex items-end justify-center bg-black/40 sm:items-start sm:p-4 sm:pt-[8vh]"
    >
      <Modal className={`w-full animate-appear ${SIZES[size]}`}>
        <AriaDialog
          role={isAlert ? "alertdialog" : "dialog"}
          className="flex max-h-[92dvh] flex-col rounded-t-xl bg-raised shadow-dialog outline-none sm:max-h-[84dvh] sm:rounded-xl"
        >
          <header className="flex items-start gap-4 px-5 pt-4 pb-2">
            <Heading slot="title" className="flex-1 py-1 text-base font-semibold break-words">
              {title}
            </Heading>
            {!isAlert && <IconButton icon={X} label={t("close")} onPress={onClose} />}
          </header>
          <div className="flex-1 overflow-y-auto px-5 py-2">{children}</div>
          {footer !== undefined && (
            <footer className="flex flex-wrap justify-end gap-2 border-t border-line px-5 py-3">
              {footer}
            </footer>
          )}
        </AriaDialog>
      </Modal>
    </ModalOverlay>
  );
}
