import { createLink, type LinkComponent } from "@tanstack/react-router";
import type { AnchorHTMLAttributes, Ref } from "react";
import { buttonClass, type ButtonKind } from "../forms/button.tsx";

type AnchorProps = AnchorHTMLAttributes<HTMLAnchorElement> & { ref?: Ref<HTMLAnchorElement> };

function TextAnchor(props: AnchorProps) {
  return (
    <a {...props} className="rounded-sm font-medium text-accent underline-offset-2 hover:underline">
      {props.children}
    </a>
  );
}

function ButtonAnchor({ kind = "plain", ...props }: AnchorProps & { kind?: ButtonKind }) {
  return (
    <a {...props} className={buttonClass(kind)}>
      {props.children}
    </a>
  );
}

/** A link within text or a table. */
export const TextLink: LinkComponent<typeof TextAnchor> = createLink(TextAnchor);

/** A link that looks like a button. */
export const ButtonLink: LinkComponent<typeof ButtonAnchor> = createLink(ButtonAnchor);
