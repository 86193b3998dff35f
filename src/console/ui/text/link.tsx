import { createLink, type LinkComponent } from "@tanstack/react-router";
import type { AnchorHTMLAttributes, Ref } from "react";
import { useMayRead } from "../../api/page-needs.ts";
import { buttonClass, type ButtonKind } from "../forms/button.tsx";

type AnchorProps = AnchorHTMLAttributes<HTMLAnchorElement> & { ref?: Ref<HTMLAnchorElement> };

function TextAnchor(props: AnchorProps) {
  if (!useMayFollow(props)) return <span className="font-medium">{props.children}</span>;
  return (
    <a {...props} className="rounded-sm font-medium text-accent underline-offset-2 hover:underline">
      {props.children}
    </a>
  );
}

function ButtonAnchor({ kind = "plain", ...props }: AnchorProps & { kind?: ButtonKind }) {
  if (!useMayFollow(props)) return null;
  return (
    <a {...props} className={buttonClass(kind)}>
      {props.children}
    </a>
  );
}

/** False for a link to a page that the signed-in member may not read. */
function useMayFollow({ href = "" }: AnchorProps): boolean {
  const mayRead = useMayRead();
  return mayRead(href.replace(/^\/console/, "").replace(/[?#].*/, ""));
}

/** A link within text or a table. It is plain text when the signed-in member may not read the page. */
export const TextLink: LinkComponent<typeof TextAnchor> = createLink(TextAnchor);

/** A link that looks like a button. It is not shown when the signed-in member may not read the page. */
export const ButtonLink: LinkComponent<typeof ButtonAnchor> = createLink(ButtonAnchor);
