import { defineConfig } from "@rspress/core";
import { resolve } from "node:path";
import { partsOf, sidebars, topNavigation } from "./navigation.ts";
import { RepositoryLinks } from "./repository-links.ts";

const root = resolve(import.meta.dirname, "../docs");
const base = process.env["SITE_BASE"] ?? "/docs/";
const outDir = process.env["SITE_OUT"] ?? resolve(import.meta.dirname, "../dist/docs");
const links = new RepositoryLinks(base);
const parts = partsOf(root);

export default defineConfig({
  root,
  base,
  outDir,
  title: "Model inference gateway",
  description: "One address, one key and one bill in front of every hosted model.",
  logo: "/icon.svg",
  logoText: "Model inference gateway",
  head: [["link", { rel: "icon", type: "image/svg+xml", href: `${base}icon.svg` }]],
  builderConfig: {
    output: { copy: [{ from: resolve(import.meta.dirname, "../src/console/icon.svg") }] },
  },
  globalStyles: resolve(import.meta.dirname, "styles.css"),
  route: { cleanUrls: true },
  llms: true,
  mediumZoom: false,
  markdown: {
    link: {
      checkDeadLinks: { excludes: (url) => links.isFile(url) },
      checkAnchors: { excludes: (url) => url.endsWith("#reasoning") },
    },
    remarkPlugins: [links.remark],
    rehypePlugins: [() => hideAnchors],
    shiki: { langs: ["nginx"], langAlias: { haproxy: "nginx" }, fallbackLanguage: "text" },
  },
  themeConfig: {
    nav: topNavigation(parts),
    sidebar: sidebars(parts),
    enableScrollToTop: false,
    llmsUI: { viewOptions: false },
  },
  plugins: [{ name: "repository-files", afterBuild: () => links.copy(outDir) }],
});

/** Removes the link symbols beside headings from the tab order. Screen readers do not announce these symbols. */
function hideAnchors(node: Element): void {
  if (node.properties?.["className"]?.includes("rp-header-anchor")) node.properties["tabIndex"] = "-1";
  for (const child of node.children ?? []) hideAnchors(child);
}

interface Element {
  properties?: Record<string, string | string[]>;
  children?: Element[];
}
