import { useTranslation } from "react-i18next";
import { TOKEN_CATEGORIES, TOKEN_CATEGORY_NAMES } from "../../../domain/usage.ts";

/** Names a line of a cost: a token category, pictures of a size and quality, or a feature. */
export function useLineName(): (line: { what: string; detail: string | null }) => string {
  const { t } = useTranslation(["requests", "money"]);
  return ({ what, detail }) => {
    const category = TOKEN_CATEGORIES.find((each) => TOKEN_CATEGORY_NAMES[each] === what);
    if (category) {
      const name = t(`money:token.${category}`);
      return detail === "long_context" ? `${name}, ${t("token.long")}` : name;
    }
    const name = what === "image" ? t("image.line") : what;
    return detail === null ? name : `${name}, ${detail.replace(":", " ")}`;
  };
}
