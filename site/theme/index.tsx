import { getCustomMDXComponent as original } from "@rspress/core/theme-original";
import type { ComponentProps } from "react";

export * from "@rspress/core/theme-original";

/** Returns the components of a page. Tables can be scrolled by keyboard too. */
export function getCustomMDXComponent() {
  return { ...original(), table: ScrollingTable };
}

function ScrollingTable(properties: ComponentProps<"table">) {
  return (
    <div className="rp-table-scroll-container rp-scrollbar" tabIndex={0}>
      <table {...properties} />
    </div>
  );
}
