import type { ReactNode } from "react";
import { Dialog as AriaDialog } from "react-aria-components/Dialog";
import { Modal, ModalOverlay } from "react-aria-components/Modal";

/** The navigation on a phone. It covers the left part of the page. */
export function PhoneMenu({
  label,
  onClose,
  children,
}: {
  label: string;
  onClose(): void;
  children: ReactNode;
}) {
  return (
    <ModalOverlay
      isDismissable
      isOpen
      onOpenChange={(isOpen) => !isOpen && onClose()}
      className="fixed inset-0 z-30 bg-black/40 md:hidden"
    >
      <Modal className="h-full w-72 max-w-[85vw] bg-ground shadow-dialog">
        <AriaDialog aria-label={label} className="h-full outline-none">
          {children}
        </AriaDialog>
      </Modal>
    </ModalOverlay>
  );
}
