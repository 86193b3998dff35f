import { getCustomMDXComponent as original, Layout as OriginalLayout } from "@rspress/core/theme-original";
import { type ComponentProps, useEffect, useRef } from "react";

export * from "@rspress/core/theme-original";

/** Returns the components of a page. Tables can also be scrolled by keyboard. */
export function getCustomMDXComponent() {
  return { ...original(), table: ScrollingTable };
}

/** The theme's layout. The sidebar gets a name of its own, so that it differs from the outline's name. */
export function Layout(properties: ComponentProps<typeof OriginalLayout>) {
  return <OriginalLayout {...properties} beforeSidebar={<NameOfParent name="Pages" />} />;
}

function NameOfParent({ name }: { name: string }) {
  const mark = useRef<HTMLSpanElement>(null);
  useEffect(() => mark.current?.parentElement?.setAttribute("aria-label", name), [name]);
  return <span hidden ref={mark} />;
}

function ScrollingTable(properties: ComponentProps<"table">) {
  return (
    <div className="rp-table-scroll-container rp-scrollbar" tabIndex={0}>
      <table {...properties} />
    </div>
  );
}
