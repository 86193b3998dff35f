import en from "../texts/en/shell.json";
import zh from "../texts/zh/shell.json";
import { Mark } from "./mark.tsx";

/** Classes of the frame around the pages. The first paint and the application share them, so that nothing moves. */
export const FRAME = {
  page: "min-h-dvh md:grid md:grid-cols-[15rem_minmax(0,1fr)]",
  side: "sticky top-0 hidden h-dvh border-r border-line md:block",
  sideContent: "flex h-full flex-col gap-3 overflow-y-auto p-3",
  product: "flex h-8 items-center gap-2 px-2.5 font-semibold tracking-tight",
  top: "sticky top-0 z-20 flex h-14 items-center gap-2 border-b border-line bg-ground px-2 md:hidden",
  topProduct: "flex-1 font-semibold",
} as const;

/**
 * The content of the page before its scripts have run: the frame for a browser with a session, and only the product's
 * name for a browser without a session. The server sets the class of the element around it, `signed-in` or
 * `signed-out`.
 */
export function FirstPaint() {
  return (
    <>
      <div className={`${FRAME.page} [.signed-out>&]:hidden`}>
        <aside className={FRAME.side}>
          <div className={FRAME.sideContent}>
            <h1 className={FRAME.product}>
              <Mark />
              <Product />
            </h1>
          </div>
        </aside>
        <header className={FRAME.top}>
          <span className="size-8 shrink-0 max-sm:size-10" />
          <h1 className={FRAME.topProduct}>
            <Product />
          </h1>
        </header>
        <main aria-busy />
      </div>
      <main
        aria-busy
        className="flex min-h-dvh flex-col items-center px-4 pt-[14vh] pb-8 [.signed-in>&]:hidden"
      >
        <h1 className="flex w-full max-w-sm items-center gap-2.5 text-xl font-semibold tracking-tight">
          <Mark />
          <Product />
        </h1>
      </main>
    </>
  );
}

/** The product's name in each language. Only the name in the page's language is shown. */
function Product() {
  return (
    <>
      <span lang="en" className="[:root:lang(zh)_&]:hidden">
        {en.product}
      </span>
      <span lang="zh" className="[:root:lang(en)_&]:hidden">
        {zh.product}
      </span>
    </>
  );
}
